// Package redisshare lets the hubs that have one Redis in common use the same accounts as one hub would: together they hold
// no more slots than an account has, what one of them learns of an account all know, and a session keeps its account
// whichever of them it comes to.
//
// Of each profile there are two hashes of one slot. One holds how many slots each hub holds, as an absolute count with an end
// in Redis's own time (counts.lua): nothing is added or taken away, so nothing can leak, and a hub that dies takes its slots
// with it. The other holds what stands against the account (news.lua): of each cause until when, when it was seen, and up to
// when what was seen of it has been disproved, by a call or by an operator. Of two ends the later counts as long as neither is
// disproved, and what was disproved no late word brings back. Times are told as how long ago and how long yet: no hub needs to
// know what time it is elsewhere. The bonds of sessions are one sorted set (bonds.lua), of which every hub has all.
//
// Three loops carry this (counting.go, exchange.go, bonding.go), each woken by what happens here, by the others' bell, or each
// second, since a bell may not be heard. Nothing else ever waits for Redis, but for a call to an account of
// router.LeaseStrict, and that not for long. Nobody is called less for Redis's sake either: while it is away each hub keeps to
// its share of the slots (apart.go), and a breaker spares it and the log (breaker.go).
//
// It needs Redis 7 or newer, or Valkey. Nothing of a key, a session or an address is ever part of an error.
package redisshare

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/router"
)

// Options of a Share. Zero values are the defaults.
type Options struct {
	Instance  string       // names this hub among the others, and in Redis; "" = nothing but the random name that it gets anyway
	Instances int          // how many hubs there are expected to be: what each takes as its share while Redis is away; 1
	Prefix    string       // of every key and channel; "hh:"
	Logger    *slog.Logger // nil = silence

	Patience time.Duration // how long a call waits to be permitted before the hub decides alone; 15 ms
	Timeout  time.Duration // of one call to Redis; 250 ms
}

// How hubs keep each other up to date.
const (
	gap       = 50 * time.Millisecond // what happens meanwhile is told together
	lookEvery = time.Second           // without a bell
	ttl       = 15 * time.Second      // how long a count lasts that is not told again; that is done three times as often
)

// Share is router.Peers over Redis. Its methods may be called from any goroutine.
type Share struct {
	line line
	o    Options
	ttl  time.Duration
	hub  string // unique to this value, so that no count of an earlier life can be taken for ours
	now  func() time.Time
	log  *slog.Logger

	gate   gate // to the line
	apart  apart
	router atomic.Pointer[router.Router] // while Run

	counting, exchanging, bonding bell
	urgent                        bell // counting that somebody waits for

	mu       sync.Mutex
	profiles map[string]*slots
	all      atomic.Pointer[[]*slots] // the same, to be read without the lock
	hubs     *slots                   // one of them for each hub
	version  int64                    // of the last count told; the counting loop's

	bonds bonds

	lost    atomic.Int64
	alone   atomic.Int64
	givenUp atomic.Int64 // calls in a row that were not permitted in time
}

// New is what this hub shares over a client, which should have ContextTimeoutEnabled, or no context ends a call, and no
// retries of its own. Until Run has found Redis, and when Run is over, the hub keeps to its share.
func New(client redis.UniversalClient, o Options) *Share {
	o.Prefix = cmp.Or(o.Prefix, "hh:")
	return newShare(&redisLine{client: client, channel: o.Prefix + "accounts"}, o)
}

func newShare(l line, o Options) *Share {
	o.Instances = max(1, o.Instances)
	o.Prefix = cmp.Or(o.Prefix, "hh:")
	o.Patience = cmp.Or(o.Patience, 15*time.Millisecond)
	o.Timeout = cmp.Or(o.Timeout, 250*time.Millisecond)
	s := &Share{
		line: l, o: o, ttl: ttl, hub: strings.Trim(o.Instance+"."+strings.ToLower(rand.Text()[:8]), "."), now: time.Now,
		log:      cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		counting: newBell(), exchanging: newBell(), bonding: newBell(), urgent: newBell(),
		profiles: make(map[string]*slots),
	}
	s.all.Store(new([]*slots))
	s.apart.start(o.Instances)
	s.hubs = &slots{share: s, key: o.Prefix + "{hubs}:l"}
	return s
}

// Run keeps this hub and the others up to date about r, which was made with s as its Peers, until ctx is done. Then it takes
// leave: what the hub held is free.
func (s *Share) Run(ctx context.Context, r *router.Router) error {
	s.router.Store(r)
	s.hubs.held.Store(1)
	var loops sync.WaitGroup
	loops.Go(func() { s.line.listen(ctx, s.heard) })
	loops.Go(func() { loop(ctx, s.counting, s.urgent, s.countAll) })
	loops.Go(func() { loop(ctx, s.exchanging, nil, s.exchange) })
	loops.Go(func() { loop(ctx, s.bonding, nil, s.bond) })
	loops.Wait()
	s.leave(ctx)
	s.router.Store(nil)
	return nil
}

// Expect changes Options.Instances, as a reload may.
func (s *Share) Expect(instances int) {
	s.apart.expect(max(1, instances))
	s.recount()
}

// Stats are what is worth a metric.
type Stats struct {
	Breaker int   // 0 = closed, 1 = half open, 2 = open: Redis is away
	Hubs    int   // that are heard, this one included
	Lost    int64 // counts that were gone from Redis while they were held, and were told again
	Alone   int64 // leases of LeaseStrict that this hub decided about alone
}

// Stats tells how things are now.
func (s *Share) Stats() Stats {
	return Stats{Breaker: s.Breaker(), Hubs: s.apart.hubs(), Lost: s.lost.Load(), Alone: s.alone.Load()}
}

// Breaker is the state of the breaker before Redis: 0 = closed, 1 = half open, 2 = open.
func (s *Share) Breaker() int { return s.gate.state() }
