package redisshare

import (
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/router"
)

// slots are those of one profile, or the hubs themselves, as if each held one of theirs.
type slots struct {
	share   *Share
	profile string // "" = the hubs
	key     string

	held   atomic.Int64 // by this hub
	others atomic.Int64 // by all others together
	look   atomic.Bool  // another hub has told something new

	mu   sync.Mutex
	asks []*ask

	// The counting loop's.
	told   int64     // what Redis has been told; unknown = it may have been anything
	toldAt time.Time // when

	ledger ledger
}

const unknown = -1

// Slots is router.Peers'.
func (s *Share) Slots(profile string) router.PeerSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.profiles[profile]
	if !ok {
		a = &slots{share: s, profile: profile, key: s.o.Prefix + "{p:" + profile + "}:l"}
		s.profiles[profile] = a
		all := append(append([]*slots(nil), *s.all.Load()...), a)
		s.all.Store(&all)
	}
	return a
}

// known is a profile's slots, nil when this hub has none of that name.
func (s *Share) known(profile string) *slots {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profiles[profile]
}

// Held is router.PeerSlots'. It is two atomic loads.
func (a *slots) Held() int {
	if a.share.apart.away() {
		return 0
	}
	return int(a.others.Load())
}

// Left is router.PeerSlots'. It is two atomic loads.
func (a *slots) Left(limit int) int { return a.share.apart.left(limit, int(a.others.Load())) }

// Changed is router.PeerSlots'.
func (a *slots) Changed(n int) {
	if a.held.Swap(int64(n)) != int64(n) {
		a.share.counting.ring()
	}
}

// trust is how many calls in a row may wait in vain for a permit before none waits until Redis has answered again.
const trust = 3

// Permit is router.PeerSlots'. What is asked for together is asked in one call. While Redis is away, or does not answer in
// time, the hub decides alone, by its share.
func (a *slots) Permit(limit int, granted func()) bool {
	s := a.share
	if s.apart.away() || s.givenUp.Load() >= trust {
		return a.decideAlone(limit, granted)
	}
	k := &ask{limit: limit, granted: granted, over: make(chan struct{})}
	a.mu.Lock()
	a.asks = append(a.asks, k)
	a.mu.Unlock()
	s.urgent.ring()
	timer := time.NewTimer(s.o.Patience)
	defer timer.Stop()
	select {
	case <-k.over:
	case <-timer.C:
		if k.answer(nobody) {
			s.givenUp.Add(1)
		}
		<-k.over
	}
	if k.by == nobody {
		return a.decideAlone(limit, granted)
	}
	return k.by == permitted
}

// decideAlone permits what is within this hub's share.
func (a *slots) decideAlone(limit int, granted func()) bool {
	a.share.alone.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if int(a.held.Load()) >= a.share.apart.share(limit) {
		return false
	}
	granted()
	return true
}

// ask is a call that waits to be permitted.
type ask struct {
	limit   int
	granted func()
	taken   atomic.Bool // somebody answers it
	by      answer      // once over is closed
	over    chan struct{}
}

type answer int

const (
	nobody answer = iota // the hub has to decide alone
	permitted
	refused
)

// answer is the first one's to give; it reports whether it was. A permit counts before the one who asked hears of it.
func (k *ask) answer(by answer) bool {
	if !k.taken.CompareAndSwap(false, true) {
		return false
	}
	if by == permitted {
		k.granted()
	}
	k.by = by
	close(k.over)
	return true
}

// asked takes those who wait.
func (a *slots) asked() []*ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	asks := a.asks
	a.asks = nil
	return asks
}
