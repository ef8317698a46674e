package redisshare

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// hub is one of several: a router and what it shares.
type hub struct {
	*router.Router
	share *Share
	stop  func() // and wait until it has
}

// account is an enabled one that lists the model m.
func account(id string, slots int, mode router.LeaseMode) router.Profile {
	return router.Profile{
		ID: id, Enabled: true, Protocol: router.ProtocolChat, PreferredModels: []string{"m"}, MaxConcurrency: slots, LeaseMode: mode,
		BaseURL: "https://" + id + ".test/v1", Credential: router.NewSecret("key of " + id),
	}
}

// tableOf is a configuration with one role over the accounts, in order.
func tableOf(t tb, accounts ...router.Profile) *router.Table {
	t.Helper()
	role := router.Role{ID: "r", Affinity: true}
	for _, p := range accounts {
		role.Chain = append(role.Chain, router.ChainItem{Profile: p.ID})
	}
	tab, err := router.NewTable(accounts, []router.Role{role}, router.Settings{
		Failover: true, AffinityTTL: time.Hour, Protocols: []router.Protocol{router.ProtocolChat},
		Policy: quota.Policy{CooldownBase: 5 * time.Minute, CooldownMax: time.Hour, QuotaCooldown: 30 * time.Minute, RateLimitCooldown: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// patient are options with which a slow machine makes no hub decide alone.
func patient(instance string) Options {
	return Options{Instance: instance, Patience: 10 * time.Second, Timeout: 10 * time.Second}
}

// start is a hub that runs until the test ends, or stop is called.
func start(t testing.TB, c redis.UniversalClient, o Options, accounts ...router.Profile) *hub {
	t.Helper()
	o.Instances = max(1, o.Instances)
	return startOver(t, New(c, o), accounts...)
}

func startOver(t testing.TB, s *Share, accounts ...router.Profile) *hub {
	h := &hub{Router: router.New(tableOf(t, accounts...), router.Options{Peers: s, Instance: s.o.Instance}), share: s}
	h.run(t)
	return h
}

func (h *hub) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := h.share.Run(ctx, h.Router); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	h.stop = func() { cancel(); ended.Wait() }
	t.Cleanup(h.stop)
}

// together waits until the hubs hear of each other.
func together(t testing.TB, hubs ...*hub) {
	t.Helper()
	await(t, "the hubs to meet", func() bool {
		return !slices.ContainsFunc(hubs, func(h *hub) bool { return h.share.Stats().Hubs != len(hubs) || h.share.apart.divisor.Load() != 0 })
	})
}

// node is one of the accounts, in a fresh plan.
func (h *hub) node(id string) *router.Node {
	var p router.Plan
	h.Plan(router.Query{Role: h.Snapshot().Table.Roles[0], Model: "m"}, &p)
	i := slices.IndexFunc(p.Nodes, func(n router.Node) bool { return n.Profile.ID == id })
	return &p.Nodes[i]
}

// acquire is a lease of an account, nil when there is none.
func (h *hub) acquire(id string) *router.Lease {
	l, _ := h.Acquire(h.node(id), router.Holder{})
	return l
}

// acquires are so many leases.
func (h *hub) acquires(t testing.TB, id string, n int) []*router.Lease {
	t.Helper()
	var all []*router.Lease
	for i := range n {
		l := h.acquire(id)
		if l == nil {
			t.Fatalf("lease %d of %s was refused: %s", i+1, id, h.node(id).Reason)
		}
		all = append(all, l)
	}
	return all
}

func release(leases []*router.Lease) {
	for _, l := range leases {
		l.Release()
	}
}

// sees is how many slots the hub takes for held, by all.
func (h *hub) sees(id string) int {
	s := h.Snapshot()
	i, _ := s.Table.ProfileIndex(id)
	return s.Occupancy().Held(i)
}

// storm lets many goroutines of each hub take and give back slots of an account, and tells how many were held at once.
func storm(hubs []*hub, id string, goroutines, rounds int) (most, granted int64) {
	var running, peak, grants atomic.Int64
	var wg sync.WaitGroup
	for _, h := range hubs {
		for range goroutines {
			wg.Go(func() {
				for range rounds {
					l := h.acquire(id)
					if l == nil {
						continue
					}
					grants.Add(1)
					now := running.Add(1)
					for seen := peak.Load(); now > seen && !peak.CompareAndSwap(seen, now); seen = peak.Load() {
					}
					time.Sleep(100 * time.Microsecond)
					running.Add(-1)
					l.Release()
				}
			})
		}
	}
	wg.Wait()
	return peak.Load(), grants.Load()
}

// everybody starts so many hubs over clients of one server.
func everybody(t testing.TB, n int, client func() redis.UniversalClient, accounts ...router.Profile) []*hub {
	t.Helper()
	var hubs []*hub
	for i := range n {
		hubs = append(hubs, start(t, client(), patient(fmt.Sprint("hub-", i+1)), accounts...))
	}
	together(t, hubs...)
	return hubs
}

// tb is what helpers need of a test, also of rapid's.
type tb interface {
	Helper()
	Fatal(args ...any)
}
