package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// Writer appends to one run as its executor. Its methods may be called from many goroutines, and none but Sync waits for
// the store.
type Writer struct {
	j       *Journal
	runID   string
	epoch   int64
	content Content

	mu      sync.Mutex
	begin   *Origin       // until the run is stored
	begun   bool          // the store has the run
	waiting []draft       // not handed to the store yet: they may still be merged
	sending []draft       // handed to it; sent again as they are until it answers
	next    int64         // the producer's number of sending[0], or of waiting[0] when nothing is being sent
	heal    bool          // rows that were acknowledged are lost: a new epoch, unless `last` is the run's newest row
	queued  bool          // in the journal's list
	flush   bool          // somebody waits for all of it
	settled chan struct{} // closed and replaced whenever the store answered

	kept      []draft // stored, with their seqs; see keep
	keptSize  int     // of their payloads
	again     []draft // were stored and are lost: sent before what waits, under their seqs if they have any
	resending bool    // sending is of those

	accepted, done int64 // rows taken in, and rows that the store has answered for
	last           int64 // seq of the newest row known
	rows, bytes    int64 // of the run, with what waits: for its caps
	left           int64 // events left out under pressure since the last row
	tail           draft // the end of the newest delta, which may be the beginning of a secret; see complete
	over           bool  // the run is over a cap, and says so
	ended, closed  bool  // the terminal and the closing row were taken in, or are stored
	err            error // why nothing can be stored any more
	lost           chan struct{}
}

func (j *Journal) writer(runID string, epoch int64, c Content) *Writer {
	return &Writer{j: j, runID: runID, epoch: epoch, content: c, next: 1, settled: make(chan struct{}), lost: make(chan struct{})}
}

// Errors of Writer.Append. What the store says comes back from Sync, as a Refusal.
var (
	ErrEnded  = errors.New("the run has ended")
	ErrSealed = errors.New("the run is sealed")
	ErrOpen   = errors.New("the run has not ended: it cannot be sealed")
)

// Append takes an event in. The first terminal event wins: every later one gets ErrEnded. An event that is left out because
// the run is over its caps, or because the store does not keep up, is no error: the journal says so in a row. The last word
// of a delta may wait for what follows it: see Options.Hold.
func (w *Writer) Append(p Payload) error {
	d, err := draw(p)
	if err != nil {
		return err
	}
	d.at = stamp(w.j.now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.admit(d.event().Kind()); err != nil {
		return err
	}
	for _, d := range w.complete(d) {
		w.takeIn(d)
	}
	if w.tail.kind != "" {
		w.j.park(w) // so that the last commit finds it
	}
	return nil
}

// takeIn takes what is to be kept of a draft. With w.mu held.
func (w *Writer) takeIn(d draft) {
	if d, keep := w.safe(d); keep {
		w.take(d)
	}
}

// draft is the payload as it is kept: without secrets, bounded, stamped. keep is false when nothing of it is.
func (w *Writer) draft(p Payload) (d draft, keep bool, err error) {
	if d, err = draw(p); err != nil {
		return d, false, err
	}
	d.at = stamp(w.j.now())
	d, keep = w.safe(d)
	return d, keep, nil
}

// safe is a draft as it may be stored; keep is false when nothing of it may.
func (w *Writer) safe(d draft) (_ draft, keep bool) {
	if redact := w.j.o.Redact; redact != nil {
		d.payload = redact(d.kind, d.payload)
	}
	d = d.bounded(w.j.o.MaxEventBytes)
	if w.content == Metadata {
		return d.bare()
	}
	return d, w.content != NoStore
}

// admit is the run's order, before the store has its say: what this process already knows to be late is late here.
func (w *Writer) admit(kind Kind) error {
	switch {
	case w.closed:
		return ErrSealed
	case w.ended && (kind == Normal || kind == Terminal):
		return ErrEnded
	case !w.ended && kind == Closing:
		return ErrOpen
	}
	w.ended, w.closed = w.ended || kind == Terminal, kind == Closing
	return nil
}

// take puts a draft behind those that wait, unless it is left out. Under pressure, deltas grow instead of becoming more.
func (w *Writer) take(d draft) {
	pressed := len(w.waiting) >= w.j.o.FlushRows
	if pressed || w.thrifty() {
		if one, ok := merged(w.newest(), d); ok {
			w.bytes += int64(len(one.payload) - len(w.waiting[len(w.waiting)-1].payload))
			w.waiting[len(w.waiting)-1] = one
			w.wake(d)
			return
		}
	}
	minor := families[d.kind].minor
	if reason := w.overCap(d); reason != "" && minor {
		if !w.over {
			w.over = true
			w.push(w.own(Truncated{reason}, d))
		}
		w.j.dropped.Add(1)
		return
	}
	if len(w.waiting) >= w.j.o.MaxWaiting && minor {
		w.left++
		w.j.dropped.Add(1)
		return
	}
	if w.left > 0 {
		w.push(w.own(GapMarked{"overload", w.left}, d))
		w.left = 0
	}
	w.push(d)
	w.wake(d)
}

// own is a row of the journal itself, made beside another.
func (w *Writer) own(p Payload, beside draft) draft {
	payload, _ := json.Marshal(p) // these structs cannot fail
	return draft{kind: p.Type(), payload: payload, at: beside.at}
}

func (w *Writer) push(d draft) {
	w.waiting = append(w.waiting, d)
	w.accepted++
	w.rows++
	w.bytes += int64(len(d.payload))
}

// newest is the newest draft that can still be changed, the zero draft when there is none.
func (w *Writer) newest() draft {
	if len(w.waiting) == 0 {
		return draft{}
	}
	return w.waiting[len(w.waiting)-1]
}

// thrifty reports whether the run nears its caps: its deltas are then stored in rows of about thriftyBytes.
func (w *Writer) thrifty() bool {
	return w.rows >= w.j.o.MaxRunRows/4*3 || w.bytes >= w.j.o.MaxRunBytes/4*3
}

const thriftyBytes = 1 << 10

// overCap is the cap that the run would be over with d, "" when it would not.
func (w *Writer) overCap(d draft) string {
	switch {
	case w.rows >= w.j.o.MaxRunRows:
		return "max_rows"
	case w.bytes+int64(len(d.payload)) > w.j.o.MaxRunBytes:
		return "max_bytes"
	}
	return ""
}

// wake tells the committer. A terminal row, and what follows it, does not wait for company.
func (w *Writer) wake(d draft) {
	w.j.enqueue(w, w.ended || d.event().Kind() == Terminal)
}

// Sync waits until everything that was appended before is stored, and returns the seq of the newest row known. A Refusal,
// when the store has refused a part of it, stays the answer from then on.
func (w *Writer) Sync(ctx context.Context) (int64, error) {
	w.mu.Lock()
	w.release()
	w.mu.Unlock()
	return w.drain(ctx)
}

// drain is Sync for what may be stored by now: the end of a delta goes on waiting for what follows it.
func (w *Writer) drain(ctx context.Context) (int64, error) {
	w.mu.Lock()
	target := w.accepted
	for w.done < target && w.err == nil {
		settled := w.settled
		w.flush = true
		w.j.enqueue(w, true)
		w.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	return w.last, w.err
}

// Lost is closed when this writer may not write any more: another took the run over, or it was deleted. Its executor should
// stop working.
func (w *Writer) Lost() <-chan struct{} { return w.lost }

// Ended reports whether the run's terminal event was appended, here or, as far as is known, elsewhere.
func (w *Writer) Ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// batch is what to send. With w.mu held, but for Take's, which nobody else has yet.
func (w *Writer) batch(ds []draft) Batch {
	b := Batch{
		RunID: w.runID, Producer: w.j.o.Instance, Epoch: w.epoch, FirstSeq: w.next, Executor: true, At: w.j.now(), Expect: AnySeq, Heal: w.heal,
		Rows: make([]Event, len(ds)),
	}
	if !w.begun {
		b.Begin = w.begin
	}
	if w.heal {
		b.Expect = w.last
	}
	if len(ds) > 0 && ds[0].seq != 0 {
		b.Expect, b.Heal = ds[0].seq-1, true
	}
	for i, d := range ds {
		b.Rows[i] = d.event()
	}
	return b
}

// mostSent is how many rows of one run go into one commit, so that no run keeps the others waiting.
const mostSent = 256

// send is the batch to commit now: the one that had no answer, else what waits. ok is false when there is none; held says
// that something waits all the same, for its delta may still grow.
func (w *Writer) send(all bool) (b Batch, ok, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = false
	if w.err != nil {
		return Batch{}, false, false
	}
	if all {
		w.release()
	}
	if len(w.sending) == 0 && len(w.again) > 0 {
		n := together(w.again)
		w.sending, w.again, w.resending = w.again[:n:n], w.again[n:], true
	}
	if len(w.sending) == 0 {
		n := min(len(w.waiting), mostSent)
		if n == len(w.waiting) && !all && !w.flush && !w.ended && w.thrifty() && w.growing() {
			n--
		}
		w.sending, w.waiting = slices.Clone(w.waiting[:n]), slices.Delete(w.waiting, 0, n)
		w.flush = w.flush && len(w.waiting) > 0
	}
	held = len(w.waiting) > 0 || w.tail.kind != ""
	if len(w.sending) == 0 {
		return Batch{}, false, held
	}
	return w.batch(w.sending), true, held
}

// growing reports whether the newest draft is a delta that is not worth a row of its own yet.
func (w *Writer) growing() bool {
	d := w.newest()
	return (d.kind == TypeTokenDelta || d.kind == TypeReasoningDelta) && len(d.payload) < thriftyBytes
}

// settle takes the store's answer to what was sent.
func (w *Writer) settle(a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil { // the run was lost while this was under way
		return
	}
	switch a.Outcome {
	case Stored, Duplicate:
		n := int64(len(w.sending))
		w.next, w.done = w.next+n, w.done+n
		w.keep(w.sending, a.Last)
		w.sending, w.resending = nil, false
		w.begun, w.heal, w.last = true, false, a.Last
	case Missing:
		w.missing(a)
	case Ended: // somebody else was first
		w.ended = true
		w.sending, w.again, w.waiting = w.after(w.sending), w.after(w.again), w.after(w.waiting)
		w.tail = draft{}
	default:
		w.lose(a.Err())
		return
	}
	w.tell()
	if len(w.sending)+len(w.again)+len(w.waiting) > 0 {
		w.j.enqueue(w, w.ended || len(w.again) > 0)
	} else if w.tail.kind != "" {
		w.j.park(w)
	}
}

// lose ends a writer that the store does not take anything from any more. With w.mu held.
func (w *Writer) lose(err error) {
	w.err = err
	w.done, w.sending, w.again, w.waiting, w.kept = w.accepted, nil, nil, nil, nil
	close(w.lost)
	w.tell()
}

// tell wakes everybody who waits for the store's answer. With w.mu held.
func (w *Writer) tell() {
	close(w.settled)
	w.settled = make(chan struct{})
}

// after keeps of the drafts those that may follow a terminal row.
func (w *Writer) after(ds []draft) []draft {
	kept := slices.DeleteFunc(ds, func(d draft) bool { k := d.event().Kind(); return k == Normal || k == Terminal })
	w.done += int64(len(ds) - len(kept))
	w.j.dropped.Add(int64(len(ds) - len(kept)))
	return kept
}
