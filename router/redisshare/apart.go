package redisshare

import (
	"sync"
	"sync/atomic"
	"time"
)

// apart is whether the hubs hear of each other. While they do not, each keeps to its share of every limit: all of them
// together then hold no more than there is. Redis may come back empty, and the others later than this hub: until as many have
// been heard as there were, or for as long as a count lasts, a hub keeps to both, its share and what the others leave.
type apart struct {
	// How many share: 0 = they hear of each other; n = they begin to; -n = Redis is away.
	divisor atomic.Int64

	mu       sync.Mutex
	expected int       // hubs, by the configuration
	heard    int       // hubs, when they last heard of each other
	since    time.Time // when Redis came back
}

func (a *apart) start(expected int) {
	a.expected, a.heard = expected, 1
	a.lose()
}

// expect is that so many hubs are configured from now on.
func (a *apart) expect(hubs int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expected = hubs
	if a.away() {
		a.divisor.Store(-int64(max(a.expected, a.heard)))
	}
}

// lose is that Redis is away.
func (a *apart) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.away() {
		a.divisor.Store(-int64(max(a.expected, a.heard)))
	}
}

// meet is that so many hubs have been heard now, this one included; a count lasts for ttl.
func (a *apart) meet(hubs int, now time.Time, ttl time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.divisor.Load()
	if d < 0 {
		d, a.since = -d, now
	}
	if d > 0 && (int64(hubs) >= d || now.Sub(a.since) >= ttl) {
		d = 0
	}
	if d == 0 {
		a.heard = hubs
	}
	a.divisor.Store(d)
}

func (a *apart) away() bool { return a.divisor.Load() < 0 }

// left is how many of limit slots this hub may hold when the others hold so many.
func (a *apart) left(limit, others int) int {
	switch d := int(a.divisor.Load()); {
	case d == 0:
		return limit - others
	case d < 0:
		return max(1, limit/-d)
	default:
		return min(limit-others, max(1, limit/d))
	}
}

// share is what a hub may hold of limit slots that cannot ask.
func (a *apart) share(limit int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(1, limit/max(a.expected, a.heard))
}

// hubs is how many hear of each other.
func (a *apart) hubs() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.away() {
		return 1
	}
	return a.heard
}
