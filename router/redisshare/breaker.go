package redisshare

import "time"

// When the breaker opens, and for how long.
const (
	failuresIn  = 2 * time.Second
	maxFailures = 5 // in failuresIn
	maxTimeouts = 3 // in a row
	firstRest   = time.Second
	longestRest = 15 * time.Second
)

// breaker decides whether Redis is to be called. It is pure: whoever has it brings the time.
type breaker struct {
	stage    stage
	turn     int         // grows with each change of stage: what was begun in an earlier one tells nothing of this one
	failures []time.Time // the last ones, when closed
	timeouts int
	rest     time.Duration // how long it is open
	until    time.Time     // when open: when it will be tried
}

type stage int

const (
	closed stage = iota
	halfOpen
	open
)

// enter reports whether a call may be made now, and in which turn. In a turn that is half open it is the only one.
func (b *breaker) enter(now time.Time) (turn int, ok bool) {
	if b.stage == open && !now.Before(b.until) {
		b.to(halfOpen)
		return b.turn, true
	}
	return b.turn, b.stage == closed
}

// note takes in how a call went that was made in a turn. It reports whether the stage is another one.
func (b *breaker) note(turn int, f fault, now time.Time) bool {
	switch {
	case turn != b.turn:
		return false
	case b.stage == halfOpen && f == none:
		b.rest = 0
		b.to(closed)
		return true
	case b.stage == halfOpen:
		b.open(now)
		return true
	}
	switch f {
	case none:
		b.timeouts = 0
		return false
	case minor:
		return false
	case slow:
		b.timeouts++
	case grave:
		b.timeouts = 0
	}
	b.failures = append(b.failures, now)
	b.failures = b.failures[max(0, len(b.failures)-maxFailures):]
	if b.timeouts >= maxTimeouts || len(b.failures) == maxFailures && now.Sub(b.failures[0]) <= failuresIn {
		b.open(now)
		return true
	}
	return false
}

func (b *breaker) open(now time.Time) {
	b.rest = min(max(2*b.rest, firstRest), longestRest)
	b.until = now.Add(b.rest)
	b.to(open)
}

func (b *breaker) to(s stage) {
	b.stage, b.failures, b.timeouts = s, nil, 0
	b.turn++
}
