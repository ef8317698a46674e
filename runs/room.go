package runs

import (
	"context"
	"sort"
	"sync"
	"time"
)

const (
	pageRows  = 256 // of one read, and of one delivery
	pageBytes = 1 << 20
	tailRows  = 512 // that a room keeps for those who are nearly at the end
)

// rooms are where the observers of a run meet, so that one read of the store serves all of them.
type rooms struct {
	mu    sync.Mutex
	byRun map[string]*room
	count int

	arrivals arrivals
}

// room is one run's.
type room struct {
	observers int // guarded by rooms.mu

	mu      sync.Mutex
	rung    bool          // there may be more than what was read
	reading bool          // somebody is finding out
	heard   chan struct{} // closed and replaced when rung or after a read
	readAt  time.Time
	head    Head
	tail    []Event // the newest rows: all those after the seq `before`
	before  int64
	size    int  // of the tail's payloads
	known   bool // head is set
}

func (rs *rooms) enter(runID string) *room {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.byRun[runID]
	if r == nil {
		r = &room{heard: make(chan struct{})}
		rs.byRun[runID] = r
	}
	r.observers++
	rs.count++
	return r
}

func (rs *rooms) leave(runID string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.count--
	if r := rs.byRun[runID]; r.observers > 1 {
		r.observers--
	} else {
		delete(rs.byRun, runID)
	}
}

func (rs *rooms) subscribers() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.count
}

// Ring says that a run may have new rows. The journal rings for what it commits itself; whoever hears that another process
// has committed rings for that. Ringing too often costs one read.
func (j *Journal) Ring(runID string) {
	j.rooms.mu.Lock()
	r := j.rooms.byRun[runID]
	j.rooms.mu.Unlock()
	if r != nil {
		r.ring()
	}
}

func (r *room) ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rung = true
	r.tell()
}

// tell wakes everybody. With r.mu held.
func (r *room) tell() {
	close(r.heard)
	r.heard = make(chan struct{})
}

// open places a new room's tail at the run's end. In a room that is there already, what is new will be read.
func (r *room) open(h Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.head, r.before, r.known = h, h.Last, true
	}
	r.rung = true
}

// refresh reads what is new when the bell has rung since the last read, or is the first to do so: of many observers one
// reads, and the others wait for it.
func (j *Journal) refresh(ctx context.Context, runID string, r *room) error {
	r.mu.Lock()
	for r.reading {
		heard := r.heard
		r.mu.Unlock()
		select {
		case <-heard:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	if !r.rung {
		return nil
	}
	r.reading, r.rung, r.readAt = true, false, j.now()
	after := r.end()
	r.mu.Unlock()
	page, err := j.o.Store.Read(ctx, runID, after, pageRows, pageBytes)
	r.mu.Lock()
	r.reading = false
	if err != nil {
		r.rung = true // another's turn: this reader may just have gone
	} else {
		r.add(page)
	}
	r.tell()
	return err
}

// end is the seq of the newest row read.
func (r *room) end() int64 {
	if n := len(r.tail); n > 0 {
		return r.tail[n-1].Seq
	}
	return r.before
}

// add puts a page behind the tail. The tail stays short in rows and bytes.
func (r *room) add(p Page) {
	switch { // rows were lost: what was read before is no tail of the log
	case r.head.Epoch != p.Head.Epoch:
		r.tail, r.size, r.before = nil, 0, p.Head.JumpTo
	case p.Head.Last < r.end():
		r.tail, r.size, r.before = nil, 0, p.Head.Last
	}
	r.head = p.Head
	r.tail = append(r.tail, p.Rows...)
	for _, e := range p.Rows {
		r.size += len(e.Payload)
	}
	cutAt := max(0, len(r.tail)-tailRows)
	for i, e := range r.tail {
		if i >= cutAt && (r.size <= pageBytes || i == len(r.tail)-1) {
			cutAt = i
			break
		}
		r.size, r.before = r.size-len(e.Payload), e.Seq
	}
	r.tail = r.tail[cutAt:]
	r.rung = r.rung || len(p.Rows) > 0 && r.end() < p.Head.Last
}

// view is the tail as one observer sees it.
type view struct {
	Page
	reached bool            // the tail begins no later than the observer's cursor, and ends no sooner
	more    bool            // there may be more: refresh again
	heard   <-chan struct{} // closed when there may be
}

// after is the view from a seq: at most a page of the rows after it.
func (r *room) after(seq int64) view {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := sort.Search(len(r.tail), func(i int) bool { return r.tail[i].Seq > seq })
	rows := r.tail[from:]
	// An observer that read by itself may have seen what this room has not heard of yet.
	reached := seq >= r.before && seq <= r.head.Last
	return view{Page{r.head, rows[:min(len(rows), pageRows)]}, reached, r.rung, r.heard}
}

// look makes the next refresh read when none has for so long.
func (r *room) look(now time.Time, poll time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rung = r.rung || now.Sub(r.readAt) >= poll
}
