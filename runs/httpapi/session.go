package httpapi

import (
	"context"
	"errors"
	"io"

	"hermes-hub/runs"
)

const (
	controlSnapshot = "session_snapshot"

	mostSnapshotRuns  = 50
	mostSnapshotBytes = 4 << 20 // of their outputs
)

// tour tells one observer a session: run after run, and what begins later.
type tour struct {
	a       *API
	q       *call
	s       *stream
	session string
	watch   *runs.Watch

	legs   []leg
	known  map[string]bool // runs that are told, on their way, or in a snapshot
	idling bool            // it was told that it has everything
}

// sessionEvents serves the rows of a session's runs as one stream, one run after the other. It ends when its observer goes.
func (a *API) sessionEvents(q *call) error {
	leave, ok := a.seats.take(ofSession)
	if !ok {
		return a.seats.crowded()
	}
	defer leave()
	t := &tour{a: a, q: q, session: q.args[0], known: map[string]bool{}}
	t.watch = a.o.Journal.Watch(t.session) // before the first look: what begins after it is heard
	defer t.watch.Close()
	heads, err := t.heads(q.r.Context())
	if err != nil {
		return err
	}
	legs, instead := plan(askedCursor(q.r), heads)
	t.s = a.open(q)
	t.s.retry(comeBackIn)
	t.legs = legs
	t.learn(heads)
	if instead != "" {
		if err := t.snapshot(q.r.Context(), instead); err != nil {
			return nil
		}
	}
	t.run(q.r.Context())
	return nil
}

// heads are those of the session's runs, newest first.
func (t *tour) heads(ctx context.Context) ([]runs.Head, error) {
	heads, _, err := t.a.heads(ctx, t.q.client, runs.Filter{SessionID: t.session}, mostHeads, nil)
	return heads, err
}

// mostHeads is how many runs of a session are looked at: of those that are older nothing is told.
const mostHeads = 10_000

// learn notes runs as known and returns those that were not.
func (t *tour) learn(heads []runs.Head) (news []runs.Head) {
	for _, h := range heads {
		if !t.known[h.RunID] {
			t.known[h.RunID] = true
			news = append(news, h)
		}
	}
	return news
}

// run goes on until the observer is gone.
func (t *tour) run(ctx context.Context) {
	for {
		if len(t.legs) == 0 {
			if t.idle(ctx) != nil {
				return
			}
			continue
		}
		next := t.legs[0]
		t.legs = t.legs[1:]
		if err := t.tell(ctx, next); err != nil {
			return
		}
	}
}

// idle says that everything is told, and waits until there is more.
func (t *tour) idle(ctx context.Context) error {
	var heads []runs.Head
	look := func(ctx context.Context) (err error) {
		heads, err = t.heads(ctx)
		return err
	}
	if !t.idling {
		t.idling = true
		t.s.control(controlCaughtUp, struct {
			SessionID string `json:"session_id"`
		}{t.session})
	}
	if err := t.s.flush(); err != nil {
		return err
	}
	if err := t.a.await(ctx, t.s, look); err != nil {
		return err
	}
	news := t.learn(heads)
	for _, h := range inOrder(news) {
		t.legs = append(t.legs, leg{head: h})
	}
	if len(news) > 0 {
		return nil
	}
	return t.a.await(ctx, t.s, t.watch.Wait)
}

// tell tells one run to its end. A run whose rows have gaps is told by a snapshot instead, with all the others.
func (t *tour) tell(ctx context.Context, l leg) error {
	cursor := runs.Event{RunID: l.head.RunID, Seq: l.after}.ID()
	var sub *runs.Subscription
	var head runs.Head
	err := t.a.await(ctx, t.s, func(ctx context.Context) (err error) {
		sub, head, err = t.a.o.Journal.Subscribe(ctx, l.head.RunID, cursor)
		return err
	})
	if err != nil || sub == nil {
		return over(err)
	}
	defer sub.Close()
	o := &observer{a: t.a, s: t.s, sub: sub}
	err = t.a.await(ctx, t.s, func(ctx context.Context) error {
		run, err := t.a.begun(ctx, head)
		o.words = run.Words
		return err
	})
	for err == nil {
		if err = o.fetch(ctx); err != nil {
			break
		}
		if o.next.Reset != "" || o.next.Gap != (runs.Gap{}) {
			return t.snapshot(ctx, rowsTrimmed)
		}
		err = t.deliver(o)
	}
	return over(err)
}

// deliver sends rows. That there are no more for the moment is worth telling of the last run only.
func (t *tour) deliver(o *observer) error {
	d := &o.next
	if len(d.Rows) > 0 {
		t.idling = false
	}
	d.CaughtUp = d.CaughtUp && len(t.legs) == 0 && d.Head.Active()
	return t.s.deliver(d, o.words)
}

// over is nil when a run is told, or gone: the tour goes on with the next.
func over(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, runs.ErrUnknownRun) {
		return nil
	}
	return err
}

// snapshotFrame is the state of a session, for an observer that cannot be told the rows.
type snapshotFrame struct {
	SessionID string         `json:"session_id"`
	Reason    snapshotReason `json:"reason"`
	Runs      []runObject    `json:"runs"`      // oldest first; the newest of them
	Truncated bool           `json:"truncated"` // there are older ones, or outputs were left out
}

// snapshot sends the state of the session, and goes on from there.
func (t *tour) snapshot(ctx context.Context, why snapshotReason) error {
	frame := snapshotFrame{SessionID: t.session, Reason: why, Runs: []runObject{}}
	var legs []leg
	err := t.a.await(ctx, t.s, func(ctx context.Context) error {
		heads, err := t.heads(ctx)
		if err != nil {
			return err
		}
		t.learn(heads)
		heads = inOrder(heads)
		old := max(0, len(heads)-mostSnapshotRuns)
		legs, frame.Runs, frame.Truncated = nil, frame.Runs[:0], old > 0
		for _, h := range heads[:old] {
			if !h.Closed {
				legs = append(legs, leg{h, h.Last})
			}
		}
		size := 0
		for _, h := range heads[old:] {
			run, err := t.a.run(ctx, h)
			if errors.Is(err, runs.ErrUnknownRun) {
				continue
			}
			if err != nil {
				return err
			}
			if size += len(run.Output); size > mostSnapshotBytes {
				run.Output, frame.Truncated = "", true
			}
			frame.Runs = append(frame.Runs, objectOf(run))
			if _, last, _ := runs.ParseCursor(run.LastEventID); !h.Closed {
				legs = append(legs, leg{h, last})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.legs, t.idling = legs, false
	t.s.control(controlSnapshot, frame)
	return t.s.flush()
}
