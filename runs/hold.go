package runs

import "context"

// Hold shows that the executors of these runs are alive: it sets their Head.HeldAt, in one commit. A writer whose run
// another has taken over, or that was deleted, is lost afterwards; rows that the store has lost are sent again. Writers with nothing stored yet, and those that may not
// write any more, are passed over.
func (j *Journal) Hold(ctx context.Context, ws ...*Writer) error {
	var held []*Writer
	var batches []Batch
	for _, w := range ws {
		w.mu.Lock()
		if w.begun && w.err == nil && !w.closed {
			b := w.batch(nil)
			b.Expect, b.Heal = AnySeq, false // it says nothing about rows
			held, batches = append(held, w), append(batches, b)
		}
		w.mu.Unlock()
	}
	if len(batches) == 0 {
		return nil
	}
	answers, err := j.o.Store.Append(ctx, batches)
	if err != nil {
		return err
	}
	for i, a := range answers {
		switch {
		case a.Outcome == Fenced || a.Outcome == Unknown:
			j.refused.Add(1)
			held[i].fenced(a.Err())
		case a.Mark.Seq < batches[i].FirstSeq-1:
			held[i].rolledBack(batches[i].FirstSeq, a)
		}
	}
	return nil
}

// rolledBack takes notice that the store has lost rows, unless a commit, which would find out for itself, is under way or was
// since the writer's next row was to be `next`.
func (w *Writer) rolledBack(next int64, a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && len(w.sending)+len(w.again) == 0 && w.next == next && !w.heal {
		w.missing(a)
		if len(w.again) > 0 {
			w.j.enqueue(w, true)
		}
	}
}

// fenced takes notice that the run is another's now.
func (w *Writer) fenced(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.lose(err)
	}
}
