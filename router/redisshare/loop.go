package redisshare

import (
	"context"
	"strings"
	"time"
)

// bell wakes a loop. It holds one ring: however often it is rung, the loop looks once.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// loop calls do, with round, at once and each second, and without it when it is rung for: by urgent at once, by b a gap after
// the last time.
func loop(ctx context.Context, b, urgent bell, do func(ctx context.Context, round bool)) {
	rounds := time.NewTicker(lookEvery)
	defer rounds.Stop()
	rest := time.NewTimer(gap)
	defer rest.Stop()
	do(ctx, true)
	rung := bell(nil)
	for {
		round := false
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
			rung = b
			continue
		case <-rounds.C:
			round = true
		case <-rung:
		case <-urgent:
		}
		do(ctx, round)
		rung = nil
		rest.Reset(gap)
	}
}

// What is said in the channel is who rings, what for and about which profile; none is the hubs themselves.
const (
	ringCount = "count"
	ringNews  = "news"
	ringBond  = "bond"
)

func (s *Share) message(what, profile string) string { return s.hub + " " + what + " " + profile }

// heard wakes the loop that a message of another hub is for.
func (s *Share) heard(message string) {
	hub, rest, _ := strings.Cut(message, " ")
	what, profile, _ := strings.Cut(rest, " ")
	if hub == s.hub {
		return
	}
	a := s.hubs
	if profile != "" {
		a = s.known(profile)
	}
	switch {
	case what == ringBond:
		s.bonding.ring()
	case a == nil:
	case what == ringCount:
		a.look.Store(true)
		s.counting.ring()
	case what == ringNews:
		a.ledger.stale.Store(true)
		s.exchanging.ring()
	}
}
