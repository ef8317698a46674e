package runs

import (
	"context"
	"io"
	"time"
)

// closingIn is how long a subscription waits for the closing row when the run has ended.
const closingIn = 2 * time.Second

// Delivery is what an observer gets next, in the order of its fields.
type Delivery struct {
	Reset    ResetReason // forget what you have: what follows is from the start
	Gap      Gap         // you will not get these
	Rows     []Event     // shared: not to be changed
	CaughtUp bool        // with these rows you have all that was committed; said once
	Head     Head
}

// Subscription is one observer of one run. It keeps no rows, but a cursor: one that reads slowly holds nobody up and costs
// nothing, and gets everything. It belongs to one goroutine.
type Subscription struct {
	j     *Journal
	runID string
	room  *room
	first *Delivery // the next: what Resume had to say, or what Wait has found

	seen     int64
	caughtUp bool
	endSeen  time.Time // when it saw that the run has ended and only the closing row is missing
}

// Subscribe begins to observe a run at a cursor, as Resume places it. ErrUnknownRun when there is no such run; of a
// tombstone the head comes back, Expired, and no subscription. Close must be called.
func (j *Journal) Subscribe(ctx context.Context, runID, cursor string) (*Subscription, Head, error) {
	// First the room, then the look: what is committed after the look rings in the room.
	s := &Subscription{j: j, runID: runID, room: j.rooms.enter(runID)}
	head, err := j.Head(ctx, runID)
	if err != nil || head.Expired {
		s.Close()
		return nil, head, err
	}
	s.room.open(head)
	at := Resume(cursor, head)
	s.seen = at.After
	if at.Reset != "" || at.Gap != (Gap{}) {
		s.first = &Delivery{Reset: at.Reset, Gap: at.Gap, Head: head}
	}
	return s, head, nil
}

// Close ends the subscription.
func (s *Subscription) Close() {
	if s.room != nil {
		s.j.rooms.leave(s.runID)
		s.room = nil
	}
}

// Next waits for something to deliver. It returns io.EOF when there will be nothing more: after the closing row, or a
// while after the terminal row when no closing row comes; ErrUnknownRun when the run was deleted.
func (s *Subscription) Next(ctx context.Context) (Delivery, error) {
	if err := s.Wait(ctx); err != nil {
		return Delivery{}, err
	}
	d := s.first
	s.first = nil
	return *d, nil
}

// Wait waits until Next has something to deliver at once, with Next's errors. It holds hardly anything meanwhile: many
// thousands of observers wait here.
func (s *Subscription) Wait(ctx context.Context) error {
	for s.first == nil {
		d, o, err := s.look(ctx)
		switch {
		case err != nil:
			return err
		case d != nil:
			s.first = d
			continue
		case o.more:
			continue
		case o.over:
			return io.EOF
		}
		if err := s.wait(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// outlook is what may come when there is nothing to deliver now.
type outlook struct {
	more  bool            // look again
	over  bool            // nothing will come
	ended bool            // at most the rows after the terminal one will
	heard <-chan struct{} // closed when there may be something
}

// wait waits until there may be more.
func (s *Subscription) wait(ctx context.Context, o outlook) error {
	var poll, closing <-chan time.Time
	if s.j.o.Poll > 0 {
		timer := time.NewTimer(s.j.o.Poll)
		defer timer.Stop()
		poll = timer.C
	}
	if o.ended {
		if s.endSeen.IsZero() {
			s.endSeen = s.j.now()
		}
		timer := time.NewTimer(closingIn - s.j.now().Sub(s.endSeen))
		defer timer.Stop()
		closing = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closing:
		return io.EOF
	case <-poll:
		s.room.look(s.j.now(), s.j.o.Poll)
	case <-o.heard:
	}
	return nil
}

// look delivers what is there after the cursor; nil when there is nothing.
func (s *Subscription) look(ctx context.Context) (*Delivery, outlook, error) {
	if err := s.j.refresh(ctx, s.runID, s.room); err != nil {
		return nil, outlook{}, err
	}
	v := s.room.after(s.seen)
	if !v.reached { // far behind: by pages of its own
		var err error
		if v.Page, err = s.j.o.Store.Read(ctx, s.runID, s.seen, pageRows, pageBytes); err != nil {
			return nil, outlook{}, err
		}
		v.more = false
	}
	d := s.deliver(v)
	if d.Reset != "" || d.Gap != (Gap{}) || len(d.Rows) > 0 || d.CaughtUp {
		return &d, outlook{}, nil
	}
	return nil, outlook{v.more, d.Head.Closed || d.Head.Expired, d.Head.EndSeq != 0, v.heard}, nil
}

// deliver moves the cursor over what the view shows.
func (s *Subscription) deliver(v view) Delivery {
	d := Delivery{Head: v.Head}
	if at := resumeAt(s.seen, v.Head); at.After != s.seen || at.Reset != "" {
		// The log is not what it was: rows were lost, or have expired.
		s.seen, s.caughtUp, d.Reset, d.Gap = at.After, false, at.Reset, at.Gap
		return d
	}
	d.Rows = v.Rows[:unbroken(v.Rows)]
	switch last := v.Head.Last; {
	case len(d.Rows) > 0:
		if first := d.Rows[0].Seq; first > s.seen+1 && !opensEpoch(first) {
			d.Gap = Gap{s.seen + 1, first - 1, "lost"}
		}
		s.seen = d.Rows[len(d.Rows)-1].Seq
	case last > s.seen && !v.more: // no rows is not "caught up" while the head says that there are some
		d.Gap, s.seen = Gap{s.seen + 1, last, "lost"}, last
	}
	if s.seen >= v.Head.Last && !s.caughtUp {
		s.caughtUp, d.CaughtUp = true, true
	}
	return d
}

// unbroken is how many of the rows follow one another without a hole.
func unbroken(rows []Event) int {
	for i := 1; i < len(rows); i++ {
		if rows[i].Seq != rows[i-1].Seq+1 && !opensEpoch(rows[i].Seq) {
			return i
		}
	}
	return len(rows)
}

// opensEpoch reports whether the seq is the first after a jump: what is before it is no hole.
func opensEpoch(seq int64) bool { return seq%epochStep == 1 && seq > epochStep }
