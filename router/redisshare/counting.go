package redisshare

import (
	"context"
	"time"

	"hermes-hub/router"
)

// count is one profile's part of a round: what is told of it and asked, and what came of it.
type count struct {
	a    *slots
	held int64 // unknown = nothing is told
	asks []*ask
	call
}

// countAll tells the others what this hub holds where that has changed, asks for what calls wait for, and looks what the
// others hold: in a round of every profile, else of those of which there is news.
func (s *Share) countAll(ctx context.Context, round bool) {
	r, now := s.router.Load(), s.now()
	table := r.Snapshot().Table
	var due []*count
	for _, a := range *s.all.Load() {
		_, current := table.ProfileIndex(a.profile)
		if c := a.due(round && current, now); c != nil {
			due = append(due, c)
		}
	}
	if c := s.hubs.due(round, now); c != nil {
		due = append(due, c)
	}
	if s.tell(ctx, due) {
		r.Recount()
	}
}

// due is what there is to do about a profile, nil for nothing.
func (a *slots) due(round bool, now time.Time) *count {
	c := &count{a: a, held: a.held.Load(), asks: a.asked()}
	looking := a.look.Swap(false) || round
	switch {
	case len(c.asks) > 0, c.held != a.told, c.held > 0 && now.Sub(a.toldAt) >= a.share.ttl/3:
	case looking:
		c.held = unknown
	default:
		return nil
	}
	return c
}

// tell carries counts to Redis and back. It reports whether the others may leave more than before.
func (s *Share) tell(ctx context.Context, due []*count) (more bool) {
	if len(due) == 0 {
		return false
	}
	calls := make([]*call, len(due))
	for i, c := range due {
		calls[i] = s.telling(c)
	}
	began, lost := s.now(), s.lost.Load()
	err := s.run(ctx, calls)
	for _, c := range due {
		more = c.settle(c.counted(err), began) || more
	}
	if n := s.lost.Load() - lost; n > 0 {
		s.log.Info("counts were gone from redis, and are told again", "profiles", n)
	}
	if err == nil {
		s.givenUp.Store(0)
		before := s.apart.divisor.Load()
		s.apart.meet(1+int(s.hubs.others.Load()), s.now(), s.ttl)
		more = more || s.apart.divisor.Load() != before
	}
	return more
}

// telling is the call for a count.
func (s *Share) telling(c *count) *call {
	held, limit := any(c.held), 0
	if c.held == unknown {
		held = ""
	}
	for i, k := range c.asks {
		if i == 0 || k.limit < limit {
			limit = k.limit
		}
	}
	s.version++
	c.script, c.keys = countsScript, []string{c.a.key, c.a.ledger.keyOr(c.a.key)}
	c.args = []any{s.hub, s.version, held, len(c.asks), limit, s.ttl.Milliseconds(), s.o.Prefix + "accounts", s.message(ringCount, c.a.profile)}
	return &c.call
}

// counted is what the script said, nil when it said nothing.
type counted struct {
	granted, others, before int64
	stale                   bool
	stamp                   string
}

func (c *call) counted(err error) *counted {
	if err != nil || c.err != nil || len(c.reply) != 5 {
		return nil
	}
	var n [4]int64
	for i := range n {
		v, ok := c.reply[i].(int64)
		if !ok {
			return nil
		}
		n[i] = v
	}
	stamp, _ := c.reply[4].(string)
	return &counted{n[0], n[1], n[2], n[3] != 0, stamp}
}

// settle keeps what was learnt and answers those who asked. It reports whether the others hold less than before.
func (c *count) settle(got *counted, at time.Time) (less bool) {
	a, s := c.a, c.a.share
	if got == nil {
		a.told = unknown
		for _, k := range c.asks {
			k.answer(nobody)
		}
		return false
	}
	less = got.others < a.others.Swap(got.others) // before the answers: who is refused has to see why
	if a.told > 0 && got.before < 0 {
		s.lost.Add(1)
	}
	switch {
	case got.stale, c.held == unknown && a.told != unknown && max(0, got.before) != a.told:
		a.told = unknown
	case c.held != unknown:
		a.told, a.toldAt = c.held+got.granted, at
	}
	for i, k := range c.asks {
		by := refused
		switch {
		case got.stale:
			by = nobody
		case int64(i) < got.granted:
			by = permitted
		}
		k.answer(by)
	}
	if a.held.Load() != a.told { // also when one was permitted that had given up
		s.counting.ring()
	}
	if a.ledger.stamped(got.stamp) {
		s.exchanging.ring()
	}
	return less
}

// leave takes this hub out of all counts.
func (s *Share) leave(ctx context.Context) {
	s.apart.lose()
	var calls []*call
	for _, a := range append([]*slots{s.hubs}, *s.all.Load()...) {
		for _, k := range a.asked() {
			k.answer(nobody)
		}
		if a.told != 0 {
			calls = append(calls, s.telling(&count{a: a}))
		}
	}
	if err := s.run(context.WithoutCancel(ctx), calls); err != nil {
		s.log.Debug("this hub's counts stay in redis until their time is over", "error", err)
	}
}

var _ router.Peers = (*Share)(nil)
