package telemetry

import (
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Kept is how far back a Window remembers; also the window that is told when none is asked for.
const Kept = 24 * time.Hour

// maxLanes bounds a minute: beyond it a call counts for its role and its provider, no longer for its profile.
const maxLanes = 1000

// Window remembers the calls of the last day in minutes, and tells their number, failures, latencies, tokens and cost.
//
// An exchange counts in the minute in which it ended. A minute counts whole when the window reaches into it: up to a minute
// more than was asked for, never less. A minute that lies ahead of now, because the clock was set back, has happened all the
// same and counts.
//
// Memory is bounded by what the configuration knows, not by traffic. Ten million calls a day are 50 MB when ten profiles
// serve five roles, 140 MB when fifty serve ten and each of the 500 pairs is busy in every minute; ten thousand calls are 1 MB.
//
// Its methods may be called by any number of goroutines at once.
type Window struct {
	store Rollups
	log   *slog.Logger
	now   func() time.Time
	known atomic.Pointer[knownNames]

	mu   sync.Mutex // Observe's, for less than a microsecond
	open map[int64]tallies

	// Taken before mu. Who looks or saves takes over what is open; so Observe waits for neither.
	folding sync.Mutex
	hours   map[int64]*hour
	changed map[int64]bool // minutes that differ from what is stored

	dropped int64 // the store has nothing before this minute; Run's
}

// hour is sixty minutes and their sum, in which a window that covers the whole hour finds it.
type hour struct {
	minutes [60]rollup
	pairs   tallies // by role and provider, all that most questions need: a few lanes instead of hundreds
	lanes   tallies
}

func (h *hour) add(l lane, t *tally) {
	h.lanes.merge(l, t)
	h.pairs.merge(lane{role: l.role, provider: l.provider}, t)
}

// WindowOptions is what a Window needs.
type WindowOptions struct {
	Labels Labels
	Store  Rollups          // nil: a restart forgets
	Logger *slog.Logger     // nil: silent
	Now    func() time.Time // nil: the clock
}

// NewWindow returns a window that remembers nothing yet.
func NewWindow(o WindowOptions) *Window {
	w := &Window{
		store: o.Store, log: o.Logger, now: o.Now,
		open: map[int64]tallies{}, hours: map[int64]*hour{}, changed: map[int64]bool{},
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.now == nil {
		w.now = time.Now
	}
	w.Relabel(o.Labels)
	return w
}

// Relabel replaces the names that the configuration knows. What was counted stays under the names it was counted under.
func (w *Window) Relabel(l Labels) { w.known.Store(newKnownNames(l)) }

// Observe counts a finished exchange whose attempts were charged.
func (w *Window) Observe(x *Exchange) {
	failed := failed(x)
	if len(x.Attempts) == 0 && !failed {
		return
	}
	known, minute := w.known.Load(), minuteOf(x.Start.Add(x.Total))

	w.mu.Lock()
	defer w.mu.Unlock()
	ts := w.open[minute]
	if ts == nil {
		ts = tallies{}
		w.open[minute] = ts
	}
	var t *tally
	for i := range x.Attempts {
		a := &x.Attempts[i]
		t = ts.of(ts.room(known.lane(x.Role, a)))
		t.call(a)
		if followed := i < len(x.Attempts)-1; followed {
			t.failOver(triggerOf(a.Outcome), 1)
		}
	}
	if t == nil {
		t = ts.of(lane{role: known.role(x.Role)})
	}
	if failed {
		t.failed++
	}
}

// Breakdown tells the last window of time, or Kept when it is not positive or longer than that.
func (w *Window) Breakdown(now time.Time, window time.Duration, f Filter) Breakdown {
	if window <= 0 || window > Kept {
		window = Kept
	}
	first, last := minuteOf(now.Add(-window)), minuteOf(now.Add(Kept))
	s := newSummary(f)
	w.folding.Lock()
	defer w.folding.Unlock()
	w.fold()
	for number, h := range w.hours {
		switch begin := number * 60; {
		case begin >= first && begin <= last:
			s.addHour(h)
		case begin < first && begin+59 >= first:
			for _, r := range h.minutes[first-begin:] {
				r.each(s.add)
			}
		}
	}
	return s.breakdown(w.known.Load(), window)
}

// fold takes over what was observed since the last time. w.folding is held.
func (w *Window) fold() {
	w.mu.Lock()
	open := w.open
	w.open = make(map[int64]tallies, len(open))
	w.mu.Unlock()
	for minute, ts := range open {
		w.foldMinute(minute, ts)
	}
}

func (w *Window) foldMinute(minute int64, ts tallies) {
	h := w.hour(minute)
	for l, t := range ts {
		h.add(l, t)
	}
	at := &h.minutes[inHour(minute)]
	at.each(ts.merge)
	*at = newRollup(ts)
	w.changed[minute] = true
}

// hour is the hour of a minute, made when there is none.
func (w *Window) hour(minute int64) *hour {
	number := hourOf(minute)
	h := w.hours[number]
	if h == nil {
		h = &hour{pairs: tallies{}, lanes: tallies{}}
		w.hours[number] = h
	}
	return h
}

// forget drops the hours that no window from now on reaches into, and those so far ahead that the clock that dated them
// was wrong. It returns the first minute that is kept. w.folding is held.
func (w *Window) forget(now time.Time) (first int64) {
	oldest, newest := hourOf(minuteOf(now.Add(-Kept))), hourOf(minuteOf(now.Add(Kept)))
	maps.DeleteFunc(w.hours, func(number int64, _ *hour) bool { return number < oldest || number > newest })
	maps.DeleteFunc(w.changed, func(minute int64, _ bool) bool { return w.hours[hourOf(minute)] == nil })
	return oldest * 60
}

func hourOf(minute int64) int64 { return (minute - inHour(minute)) / 60 }

func inHour(minute int64) int64 { return (minute%60 + 60) % 60 }
