package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"hermes-hub/runs/redisstore"
)

// A hub asks the one that executes a run, and gets its answer and no other's. One that is gone is not waited for longer than
// its asker wants.
func TestAsk(t *testing.T) {
	server := miniredis.RunT(t)
	hub := func(instance string) *redisstore.Store {
		c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
		t.Cleanup(func() { c.Close() })
		return redisstore.New(c, redisstore.Options{Instance: instance})
	}
	asker := hub("one")
	ctx, stop := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	for _, name := range []string{"two", "three"} {
		answering.Go(func() {
			hub(name).Answer(ctx, func(_ context.Context, body []byte) []byte { return fmt.Appendf(nil, "%s: %s", name, body) })
		})
	}
	var asking sync.WaitGroup
	for i := range 40 {
		asking.Go(func() {
			name := []string{"two", "three"}[i%2]
			got, err := asker.Ask(t.Context(), name, fmt.Appendf(nil, "%d", i))
			if want := fmt.Sprintf("%s: %d", name, i); err != nil || string(got) != want {
				t.Errorf("asked %s: %q, %v; want %q", name, got, err, want)
			}
		})
	}
	asking.Wait()
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := asker.Ask(brief, "gone", nil); !errors.Is(err, redisstore.ErrNobody) {
		t.Errorf("asked nobody: %v", err)
	}
	server.Close()
	if _, err := asker.Ask(t.Context(), "two", nil); !errors.Is(err, redisstore.ErrUnavailable) {
		t.Errorf("asked without Redis: %v", err)
	}
	stop()
	answering.Wait()
}
