package runs

import "fmt"

// Outcome is what became of a batch. Closed: metric label and log attribute.
type Outcome string

// The outcomes, in the order in which they are looked for.
const (
	Unknown   Outcome = "unknown_run" // no such run and no Begin, or only its tombstone
	Fenced    Outcome = "fenced"      // another took the run, or the producer, over: stop working
	Duplicate Outcome = "duplicate"   // all of it was stored before: a success
	Overlap   Outcome = "overlap"     // its first rows were: send those after Answer.Mark.Seq
	Missing   Outcome = "missing"     // rows before it, acknowledged once, are lost: send from Answer.Mark.Seq+1, or Heal
	Sealed    Outcome = "sealed"      // the log has its closing row
	Ended     Outcome = "ended"       // the run has its terminal row, and not only rows that may follow it were sent
	Unended   Outcome = "unended"     // a closing row before the terminal one
	Stale     Outcome = "stale"       // the newest row is another than Expect
	Stored    Outcome = "stored"
)

// Answer is what a store says to a batch.
type Answer struct {
	Outcome Outcome
	First   int64 // seq of the batch's first row when Stored, 0 when it had none
	Last    int64 // seq of its last row when Stored; of the producer's newest row when Duplicate; else of the run's newest
	Epoch   int64 // the run's
	Mark    Mark  // the producer's, as it is after the batch
}

// Err is the Refusal of a batch that was not stored, nil for Stored and Duplicate.
func (a Answer) Err() error {
	if a.Outcome == Stored || a.Outcome == Duplicate {
		return nil
	}
	return &Refusal{a}
}

// Refusal is an Answer that stored nothing.
type Refusal struct{ Answer }

func (r *Refusal) Error() string {
	return fmt.Sprintf("append refused: %s (the run's last seq is %d)", r.Outcome, r.Last)
}

// Verdict is an Answer and, when it is Stored, what the store now has to write in one step.
type Verdict struct {
	Answer
	Head Head
	Rows []Event
}

// epochStep is what a new epoch's first seq is rounded up to, so that no seq that was ever given is given again: a run has
// far fewer rows.
const epochStep = 1 << 20

// Decide judges a batch. head and mark are what the store has of the run and the producer, known is false when there is no
// run. Every store decides so; one that decides elsewhere (in a script) must come to the same.
func Decide(head Head, known bool, mark Mark, b Batch) Verdict {
	if !known && b.Begin != nil {
		head, known = Head{RunID: b.RunID, SessionID: b.Begin.SessionID, Owner: b.Begin.Owner, CreatedAt: b.Begin.CreatedAt}, true
	}
	refuse := func(o Outcome) Verdict {
		return Verdict{Answer: Answer{Outcome: o, Last: head.Last, Epoch: head.Epoch, Mark: mark}}
	}
	if !known || head.Expired {
		return refuse(Unknown)
	}
	if b.Epoch < mark.Epoch || b.Executor && (b.Epoch < head.Fence || b.Epoch == head.Fence && head.Holder != b.Producer) {
		return refuse(Fenced)
	}
	if b.Epoch > mark.Epoch {
		mark = Mark{Epoch: b.Epoch}
	}
	if n := int64(len(b.Rows)); n > 0 {
		switch last := b.FirstSeq + n - 1; {
		case last <= mark.Seq:
			v := refuse(Duplicate)
			v.Last = mark.Last
			return v
		case b.FirstSeq <= mark.Seq:
			return refuse(Overlap)
		case b.FirstSeq > mark.Seq+1 && !b.Heal:
			return refuse(Missing)
		}
	}
	if o := admit(head, b.Rows); o != Stored {
		return refuse(o)
	}
	if b.Expect != AnySeq && b.Expect != head.Last {
		if !b.Heal {
			return refuse(Stale)
		}
		head.JumpFrom, head.JumpTo = head.Last, (max(head.Last, b.Expect)/epochStep+1)*epochStep
		head.Last, head.Epoch = head.JumpTo, head.Epoch+1
	}
	return store(head, mark, b)
}

// admit reports whether the rows may follow the run's, one after the other: Stored, or why not.
func admit(h Head, rows []Event) Outcome {
	ended, closed := h.EndSeq != 0, h.Closed
	if closed {
		return Sealed
	}
	for _, row := range rows {
		kind := row.Kind()
		switch {
		case closed:
			return Sealed
		case ended && (kind == Normal || kind == Terminal):
			return Ended
		case !ended && kind == Closing:
			return Unended
		}
		ended, closed = ended || kind == Terminal, kind == Closing
	}
	return Stored
}

// store numbers the rows and moves head and mark behind them.
func store(head Head, mark Mark, b Batch) Verdict {
	v := Verdict{Answer: Answer{Outcome: Stored}}
	if b.Executor {
		head.Fence, head.Holder, head.HeldAt = b.Epoch, b.Producer, stamp(b.At)
	}
	for _, row := range b.Rows {
		head.Last++
		row.RunID, row.SessionID, row.Seq, row.Epoch = head.RunID, head.SessionID, head.Last, head.Epoch
		v.Rows = append(v.Rows, row)
		head.Rows, head.Bytes = head.Rows+1, head.Bytes+int64(len(row.Payload))
		if row.Terminal {
			head.EndSeq, head.End, head.EndedAt = row.Seq, row.EndState(), row.CreatedAt
		}
		head.Closed = head.Closed || row.Kind() == Closing
	}
	if n := int64(len(b.Rows)); n > 0 {
		v.First = v.Rows[0].Seq
		if head.First == 0 {
			head.First = v.First
		}
		mark.Seq, mark.Last = b.FirstSeq+n-1, head.Last
	}
	v.Last, v.Epoch, v.Mark, v.Head = head.Last, head.Epoch, mark, head
	return v
}
