package redisshare

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errResting is that Redis is not called now.
var errResting = errors.New("redis is left alone for a moment")

// gate is the breaker that all calls go through.
type gate struct {
	mu      sync.Mutex
	breaker breaker
}

func (g *gate) state() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(g.breaker.stage)
}

func (g *gate) enter(now time.Time) (turn int, trial, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	turn, ok = g.breaker.enter(now)
	return turn, g.breaker.stage == halfOpen, ok
}

func (g *gate) note(turn int, f fault, now time.Time) (from, to stage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	from = g.breaker.stage
	g.breaker.note(turn, f, now)
	return from, g.breaker.stage
}

// run makes calls, unless Redis rests. The first ones after a rest come behind a ping.
func (s *Share) run(ctx context.Context, calls []*call) error {
	if len(calls) == 0 {
		return nil
	}
	turn, trial, ok := s.gate.enter(s.now())
	if !ok {
		return errResting
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	var err error
	if trial {
		err = s.line.ping(ctx)
	}
	if err == nil {
		err = s.line.run(ctx, calls)
	}
	s.turned(turn, err)
	return err
}

// turned is what comes of a call: one line in the log when Redis goes or comes back, and everything told anew when it does.
func (s *Share) turned(turn int, err error) {
	switch from, to := s.gate.note(turn, faultOf(err), s.now()); {
	case from == closed && to == open:
		s.apart.lose()
		s.log.Warn("redis is away: this hub keeps to its share of the accounts' slots", "error", err)
		s.recount()
	case from == halfOpen && to == closed:
		s.log.Info("redis is back")
		for _, b := range []bell{s.counting, s.exchanging, s.bonding} {
			b.ring()
		}
	}
}

// recount serves those who wait for slots that others may have left.
func (s *Share) recount() {
	if r := s.router.Load(); r != nil {
		r.Recount()
	}
}
