package runs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Post is what the outside runtime of a run appends in one step.
type Post struct {
	RunID   string
	Fence   int64 // the executor's epoch when the run was handed to the outside: a later one shuts it out
	Expect  int64 // the seq that the run's newest row must have, or AnySeq
	Content Content
	Events  []Posted
}

// Posted is one event from outside. Of several with the same key one is stored, however often they are posted.
type Posted struct {
	Payload Payload
	Key     string // "" = none
}

// ErrRunFull is a run so far over its caps that of what comes from outside only its end is still taken.
var ErrRunFull = errors.New("the run is over its caps: only its end is still taken")

// Post appends from outside and returns once it is stored: the seqs of the first and the last row, of those of earlier
// posts too where a key was known already. first is 0 and last the run's newest when nothing of it became a row: no events,
// or such as are left out. Without rows a Post says only that the outside is alive.
//
// Events without keys are stored together or not at all; each one with a key stands for itself. Before anything is stored,
// all of them are known to be well-formed and in order. A Refusal says why the run takes them not (Fenced, Ended, Sealed,
// Stale …), ErrBadPayload what no run takes; after any other error what has a key may be posted again.
func (j *Journal) Post(ctx context.Context, p Post) (first, last int64, err error) {
	rows, err := j.posted(p)
	if err != nil {
		return 0, 0, err
	}
	head, err := j.holdOutside(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	if o := inOrder(head, rows); o != Stored {
		return 0, 0, j.refuse(Answer{Outcome: o, Last: head.Last, Epoch: head.Epoch})
	}
	if rows, err = j.fit(head, rows); err != nil {
		return 0, 0, err
	}
	batches, last := batched(p, rows), head.Last
	for len(batches) > 0 {
		step := batches
		if batches[0].Expect != AnySeq { // what follows must not be stored when this is not
			step = batches[:1]
		}
		batches = batches[len(step):]
		answers, err := j.o.Store.Append(ctx, step)
		if err != nil {
			return 0, 0, fmt.Errorf("post to run %s: %w", p.RunID, err)
		}
		for i, a := range answers {
			if a.Err() != nil {
				return 0, 0, j.refuse(a)
			}
			if a.Outcome == Stored {
				j.stored.Add(int64(len(step[i].Rows)))
				j.Ring(p.RunID)
			}
			if first == 0 {
				first = a.Last - int64(len(step[i].Rows)) + 1
			}
			last = a.Last
		}
	}
	return first, last, nil
}

func (j *Journal) refuse(a Answer) error {
	j.refused.Add(1)
	return a.Err()
}

// posting is a row that is to be, and its key.
type posting struct {
	draft draft
	key   string
}

// posted makes rows of the events that leave one. A secret that is split over neighbouring deltas without keys is found, if
// they come in one Post: between two there is nothing that could wait.
func (j *Journal) posted(p Post) (rows []posting, err error) {
	w := j.writer(p.RunID, p.Fence, cmp.Or(p.Content, Redacted))
	push := func(key string, ds ...draft) {
		for _, d := range ds {
			if d, keep := w.safe(d); keep {
				rows = append(rows, posting{d, key})
			}
		}
	}
	release := func() {
		if w.tail.kind != "" {
			push("", w.tail)
			w.tail = draft{}
		}
	}
	for i, e := range p.Events {
		d, err := draw(e.Payload)
		if err != nil {
			return nil, fmt.Errorf("events[%d]: %w", i, err)
		}
		d.at = stamp(j.now())
		if e.Key != "" {
			release()
			push(e.Key, d)
		} else {
			push("", w.complete(d)...)
		}
	}
	release()
	return rows, nil
}

// holdOutside shows that the run's outside runtime is alive, and that nobody has taken the run over.
func (j *Journal) holdOutside(ctx context.Context, p Post) (Head, error) {
	head, err := j.Head(ctx, p.RunID)
	if err != nil {
		return Head{}, err
	}
	sign := Batch{RunID: p.RunID, Producer: head.Holder, Epoch: p.Fence, Executor: true, At: j.now(), Expect: AnySeq}
	answers, err := j.o.Store.Append(ctx, []Batch{sign})
	if err != nil {
		return Head{}, fmt.Errorf("hold run %s: %w", p.RunID, err)
	}
	switch a := answers[0]; a.Outcome {
	case Unknown:
		return Head{}, ErrUnknownRun
	case Fenced:
		return Head{}, j.refuse(a)
	}
	// A sealed log may still answer for what it has stored already.
	return head, nil
}

// inOrder looks at the rows by themselves: whether they may follow one another, wherever in the run they come to stand.
func inOrder(head Head, rows []posting) Outcome {
	events := make([]Event, len(rows))
	for i, row := range rows {
		events[i] = row.draft.event()
	}
	o := admit(Head{}, events)
	if o == Unended && head.EndSeq != 0 {
		o = admit(Head{EndSeq: head.EndSeq}, events)
	}
	return o
}

// fit leaves out what a run over its caps has no room for. The first time it says so in a row.
func (j *Journal) fit(head Head, rows []posting) ([]posting, error) {
	reason := ""
	switch {
	case head.Rows >= j.o.MaxRunRows:
		reason = "max_rows"
	case head.Bytes >= j.o.MaxRunBytes:
		reason = "max_bytes"
	default:
		return rows, nil
	}
	full := head.Rows >= 2*j.o.MaxRunRows || head.Bytes >= 2*j.o.MaxRunBytes
	var kept []posting
	left := int64(0)
	for _, row := range rows {
		switch {
		case families[row.draft.kind].minor:
			left++
		case full && row.draft.event().Kind() == Normal:
			return nil, ErrRunFull
		default:
			kept = append(kept, row)
		}
	}
	j.dropped.Add(left)
	if left > 0 && head.EndSeq == 0 {
		mark, err := draw(Truncated{reason})
		if err != nil {
			return nil, err
		}
		mark.at = stamp(j.now())
		kept = append([]posting{{mark, truncatedKey}}, kept...)
	}
	return kept, nil
}

// truncatedKey is the key of the row that says that a run is over its caps. No client can send it.
const truncatedKey = "\x00truncated"

// batched makes batches of the rows: one for each that has a key, whose producer is the key itself and so can write one
// row; and one for those between them.
func batched(p Post, rows []posting) []Batch {
	var batches []Batch
	expect := p.Expect
	for i, row := range rows {
		if row.key == "" && i > 0 && rows[i-1].key == "" {
			b := &batches[len(batches)-1]
			b.Rows = append(b.Rows, row.draft.event())
			continue
		}
		producer := "post:" + NewID()
		if row.key != "" {
			sum := sha256.Sum256([]byte(row.key))
			producer = "key:" + hex.EncodeToString(sum[:])
		}
		batches = append(batches, Batch{
			RunID: p.RunID, Producer: producer, Epoch: 1, FirstSeq: 1, At: row.draft.at, Expect: expect, Rows: []Event{row.draft.event()},
		})
		expect = AnySeq
	}
	return batches
}
