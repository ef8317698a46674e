package runs

import (
	"slices"
	"time"
)

// A writer over a store that may lose what it has acknowledged keeps its stored rows, to send them again: all of a run while
// they are few, else those of the last while.
const (
	keptBytes = 4 << 20
	keptFor   = time.Minute
)

// keep remembers rows that the store has acknowledged, the newest of them as `last`. Their producer's numbers, and those of
// what is kept already, follow one another up to w.next-1.
func (w *Writer) keep(ds []draft, last int64) {
	if !w.j.o.Resend {
		return
	}
	for i, d := range ds {
		seq := last - int64(len(ds)-1-i)
		if i == 0 && d.seq != 0 && d.seq != seq {
			forgetSeqs(w.again) // a new epoch has begun: these belong into it, too
		}
		d.seq = seq
		w.kept, w.keptSize = append(w.kept, d), w.keptSize+len(d.payload)
	}
	old := 0
	for w.keptSize > keptBytes && w.j.now().Sub(w.kept[old].at) > keptFor {
		w.keptSize -= len(w.kept[old].payload)
		old++
	}
	clear(w.kept[:old])
	if w.kept = w.kept[old:]; w.closed && len(w.again)+len(w.waiting) == 0 {
		w.kept, w.keptSize = nil, 0 // nothing follows that would show a loss
	}
}

// missing takes notice that acknowledged rows are gone: of those that are kept, the ones behind what the store has left are
// sent again, under the ids that they had when nothing else is lost before them. Else what was lost had ids that observers may
// know: a row says so, and it and what follows get ids of a new epoch.
func (w *Writer) missing(a Answer) {
	w.unsend()
	lost := w.takeLost(a)
	w.j.resent.Add(int64(len(lost)))
	w.again = append(lost, w.again...)
	w.next, w.done = w.next-int64(len(lost)), w.done-int64(len(lost))
	if a.Last == 0 {
		w.begun = false // there is no run to append to
	}
	switch {
	case len(lost) > 0 && lost[0].seq == a.Last+1:
	case len(lost) == 0 && a.Last == w.last: // only how far this producer had come is lost
		w.heal = true
	default:
		gap := w.own(GapMarked{Reason: "lost"}, draft{at: stamp(w.j.now())})
		forgetSeqs(w.again)
		w.again = append([]draft{gap}, w.again...)
		w.done--
		w.next = max(w.next-1, a.Mark.Seq+1) // the number of a lost row, if there is one
		w.heal = true
	}
}

// unsend puts back what had no answer: behind the lost rows when it was new, among them when it was one of them.
func (w *Writer) unsend() {
	if w.resending {
		w.again = append(w.sending, w.again...)
	} else {
		w.waiting = append(w.sending, w.waiting...)
	}
	w.sending, w.resending = nil, false
}

// takeLost takes from the kept rows those that the store has lost.
func (w *Writer) takeLost(a Answer) []draft {
	from := len(w.kept)
	switch oldest := w.next - int64(len(w.kept)); {
	case a.Last < w.last: // a log is cut at its end
		from = slices.IndexFunc(w.kept, func(d draft) bool { return d.seq > a.Last })
	case a.Last > w.last && a.Mark.Seq > 0: // others went on where it was cut
		from = int(max(a.Mark.Seq+1-oldest, 0))
	}
	if from < 0 || from >= len(w.kept) {
		return nil
	}
	lost := slices.Clone(w.kept[from:])
	w.kept = w.kept[:from]
	for _, d := range lost {
		w.keptSize -= len(d.payload)
	}
	return lost
}

// together is how many of the drafts can go as one batch: their ids, if they had any, follow one another.
func together(ds []draft) int {
	n := min(len(ds), mostSent)
	for i := 1; i < n; i++ {
		if ds[i].seq != 0 && ds[i].seq != ds[i-1].seq+1 {
			return i
		}
	}
	return n
}

func forgetSeqs(ds []draft) {
	for i := range ds {
		ds[i].seq = 0
	}
}
