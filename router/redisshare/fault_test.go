package redisshare

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// journal is a log that a test reads.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) lines(word string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), word)
}

// hasty are options with the hub's own patience.
func hasty(instance string, instances int, j *journal) Options {
	return Options{Instance: instance, Instances: instances, Logger: slog.New(slog.NewTextHandler(j, nil))}
}

// A real Redis is killed, paused, made read-only and emptied under two hubs with calls all the time: none of them is refused
// for it or waits for long, each trouble is two lines in the log, and in the end the hubs agree about everything.
func TestTroubles(t *testing.T) {
	f := func(name string, trouble, end func(t *testing.T, s *server)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			var j journal
			accounts := []router.Profile{account("strict", 8, router.LeaseStrict), account("loose", 8, "")}
			one := start(t, dial(t, s.addr), hasty("one", 2, &j), accounts...)
			two := start(t, dial(t, s.addr), hasty("two", 2, &j), accounts...)
			together(t, one, two)
			held := append(one.acquires(t, "strict", 2), one.acquires(t, "loose", 2)...)
			await(t, "the other hub to hear", func() bool { return two.sees("strict") == 2 && two.sees("loose") == 2 })

			trouble(t, s)
			// One call at a time of each hub is within every share: it may not be refused.
			for !away(one) || !away(two) {
				for _, h := range []*hub{one, two} {
					for _, id := range []string{"strict", "loose"} {
						began := time.Now()
						l := h.acquire(id)
						if took := time.Since(began); l == nil || took > time.Second {
							t.Fatalf("a call to %s: %v after %v", id, l, took)
						}
						l.Release()
					}
				}
			}
			one.Observe("loose", asked("m"), refusal(quota.QuotaExhausted, time.Now().Add(time.Hour)))
			one.Bind("s", "r", "loose")
			held = append(held, one.acquires(t, "strict", 2)...)
			if one.acquire("strict") != nil {
				t.Error("more than half was lent")
			}

			end(t, s)
			await(t, "the hubs to meet", func() bool { return !away(one) && !away(two) && two.sees("strict") == 4 && two.sees("loose") == 2 })
			two.awaitSays(t, "loose", "quota_exhausted")
			await(t, "the bond", func() bool { return two.bound("s") == "loose" })
			if gone, back := j.lines("redis is away"), j.lines("redis is back"); gone != 2 || back != 2 {
				t.Errorf("the log has %d lines of it going and %d of it coming back", gone, back)
			}
			if n := j.lines(s.addr[strings.IndexByte(s.addr, ':'):]); n > 0 {
				t.Error("the log tells where Redis is")
			}
			release(held)
			await(t, "all to be free", func() bool { return one.sees("strict")+two.sees("strict")+one.sees("loose")+two.sees("loose") == 0 })
		})
	}
	f("killed", func(t *testing.T, s *server) { s.kill(t) }, func(t *testing.T, s *server) { s.start(t) })
	f("paused", func(t *testing.T, s *server) { s.signal(t, syscall.SIGSTOP) }, func(t *testing.T, s *server) { s.signal(t, syscall.SIGCONT) })
	f("read-only", func(t *testing.T, s *server) { s.do(t, "REPLICAOF", "127.0.0.1", "1") }, func(t *testing.T, s *server) { s.do(t, "REPLICAOF", "NO", "ONE") })
	f("full", func(t *testing.T, s *server) { s.do(t, "CONFIG", "SET", "maxmemory", "1") },
		func(t *testing.T, s *server) { s.do(t, "CONFIG", "SET", "maxmemory", "0") })
}

func away(h *hub) bool { return h.share.Breaker() != int(closed) }

// A message that was under way for long is refused: it says what was, not what is.
func TestStale(t *testing.T) {
	s := serve(t)
	one := start(t, dial(t, s.addr), patient("one"), account("a", 4, ""))
	two := start(t, dial(t, s.addr), patient("two"), account("a", 4, ""))
	together(t, one, two)
	held := one.acquires(t, "a", 1)
	await(t, "the other hub to hear", func() bool { return two.sees("a") == 1 })
	late := &call{script: countsScript, keys: []string{"hh:{p:a}:l", "hh:{p:a}:c"}, args: []any{one.share.hub, 1, 4, 0, 0, 15000, "hh:accounts", "x count a"}}
	if err := one.share.line.run(t.Context(), []*call{late}); err != nil || late.counted(nil) == nil || !late.counted(nil).stale {
		t.Errorf("the late message: %v, %+v", err, late)
	}
	held = append(held, one.acquires(t, "a", 1)...)
	await(t, "the other hub to hear", func() bool { return two.sees("a") == 2 })
	release(held)
}

// A key that another program has written is that account's trouble alone: its hubs are on their own.
func TestForeignKey(t *testing.T) {
	s := serve(t)
	s.do(t, "SET", "hh:{p:a}:l", "x")
	one := start(t, dial(t, s.addr), patient("one"), account("a", 2, router.LeaseStrict), account("b", 2, router.LeaseStrict))
	two := start(t, dial(t, s.addr), patient("two"), account("a", 2, router.LeaseStrict), account("b", 2, router.LeaseStrict))
	together(t, one, two)
	held := append(one.acquires(t, "b", 2), one.acquires(t, "a", 1)...)
	if two.acquire("b") != nil {
		t.Error("the other account is not shared any more")
	}
	if two.acquire("a") == nil || one.acquire("a") != nil || away(one) {
		t.Error("each hub should have its share of this account, and Redis")
	}
	release(held)
}

// Redis has forgotten the scripts: they are sent anew.
func TestScriptsForgotten(t *testing.T) {
	s := serve(t)
	one := start(t, dial(t, s.addr), patient("one"), account("a", 2, router.LeaseStrict))
	together(t, one)
	for range 3 {
		s.do(t, "SCRIPT", "FLUSH")
		release(one.acquires(t, "a", 2))
	}
	if n := one.share.Stats().Alone; n != 0 {
		t.Errorf("%d leases were decided alone", n)
	}
}
