package hub

import "context"

// Stamp are the numbers that were given out last in one life of the store.
type Stamp struct {
	Epoch      string // names the store that counts: numbers of two epochs do not compare
	Generation uint64 // of pictures
	Seq        uint64 // of publications and of tickets
	Event      uint64 // of events
}

// Draw is what is to be numbered in one step.
type Draw struct {
	Picture bool // another generation, and another seq
	Ticket  bool // another seq
	Events  int  // so many events
}

// after is the stamp once that was numbered.
func (d Draw) after(s Stamp) Stamp {
	if d.Picture {
		s.Generation++
	}
	if d.Picture || d.Ticket {
		s.Seq++
	}
	s.Event += uint64(d.Events)
	return s
}

// Sequence gives out the numbers. Within one epoch no number is given out twice or below an earlier one, whatever crashed or
// was lost in between, and Seq is never below Generation. An implementation that cannot keep that promise any more goes on
// under another epoch, so drawing does not fail.
//
// Several hubs may share one Sequence. known is the greatest that the caller knows: what is given out is above that too, so
// that a store which forgot is told by those who remember.
type Sequence interface {
	Draw(ctx context.Context, d Draw, known Stamp) Stamp
}
