package probe

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestQ21OneCallWithinTTL (Q21): a look of the last 300 s stands; then the next one who asks makes another.
func TestQ21OneCallWithinTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		p := prober(t, openCode(&calls), key, nil, opencode("a"))
		first := refresh(t, p, "a", false)
		if n := calls.take(); n != 2 || first.Outcome != Measured { // models and usage
			t.Fatalf("%d calls, %s", n, tell(first))
		}
		time.Sleep(299 * time.Second)
		if again := refresh(t, p, "a", false); calls.take() != 0 || !again.At.Equal(first.At) {
			t.Errorf("a read within the time made a call: %s", tell(again))
		}
		time.Sleep(time.Second)
		if again := refresh(t, p, "a", false); calls.take() != 1 || !again.At.Equal(first.At.Add(300*time.Second)) {
			t.Errorf("a read after the time: %s", tell(again)) // usage alone: models keep for longer
		}
		if again := refresh(t, p, "a", true); calls.take() != 2 || again.Outcome != Measured {
			t.Errorf("a forced read: %s", tell(again))
		}
	})
}

// TestQ21OneCallForAll (Q21): a hundred who ask at once make one call, forced or not, and all have its answer.
func TestQ21OneCallForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		open := make(chan struct{})
		p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			<-open
			return openCode(&calls)(r)
		}), key, nil, opencode("a"))
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if r := refresh(t, p, "a", i%2 == 0); r.Outcome != Measured {
					t.Errorf("%s", tell(r))
				}
			})
		}
		synctest.Wait()
		close(open)
		all.Wait()
		if n := calls.take(); n != 2 {
			t.Errorf("%d calls, want those of one look", n)
		}
	})
}

// TestCancelledCallerLeavesAlone: the Python hub's key of a look that was given up stayed in flight for ever, so that
// "refresh all" worked once in a process. Here a caller who leaves cancels nothing for the others.
func TestCancelledCallerLeavesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		open := make(chan struct{})
		p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			select {
			case <-open:
				return openCode(&calls)(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}), key, nil, opencode("a"))
		ctx, cancel := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := p.Refresh(ctx, "a", true); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		both.Go(func() {
			if r := refresh(t, p, "a", true); r.Outcome != Measured {
				t.Errorf("who stayed got %s", tell(r))
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(open)
		both.Wait()
		calls.take()
		if refresh(t, p, "a", true); calls.take() != 2 {
			t.Error("the next look was not made")
		}
	})
}

// TestThrottledProbeIsLeftAlone: the usage endpoint of Claude answers 429 with a wait of 48 minutes, and 0. What it is asked
// next waits that long, at least TTL, even where somebody insists; of the account it says nothing.
func TestThrottledProbeIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		header string
		wait   time.Duration
	}{
		{"Retry-After: 2895", 2895 * time.Second},
		{"Retry-After: 0", 300 * time.Second},
		{"X-None: 1", 300 * time.Second},
		{"Retry-After: 604800", 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls counter
			const body = `{"type":"error","error":{"type":"rate_limit_error","message":"Rate limited. Please try again later."}}`
			p := prober(t, answering(&calls, 429, body, c.header), oauth, nil, Target{Profile: "a", Provider: "claude"})
			if r := refresh(t, p, "a", false); r.Outcome != Failed || r.Readings != nil || calls.take() != 1 {
				t.Fatalf("%s: %s", c.header, tell(r))
			}
			time.Sleep(c.wait - time.Second)
			if refresh(t, p, "a", true); calls.take() != 0 {
				t.Errorf("%s: asked again too early", c.header)
			}
			time.Sleep(time.Second)
			if refresh(t, p, "a", false); calls.take() != 1 {
				t.Errorf("%s: not asked again", c.header)
			}
		})
	}
}

// TestTwinsShareOneLook: two profiles of one account are one look, and both are told. Where the first one's credential is
// no use, the second one's is tried, and what it finds is true of both pools but not of the first one's credential.
func TestTwinsShareOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		var told reports
		a, b := opencode("a"), opencode("b")
		a.Group, b.Group = "opencode-go/acc-1", "opencode-go/acc-1"
		credentials := &wallet{now: map[string]string{"a": "good", "b": "good"}}
		p := prober(t, credentials.transport(&calls), credentials, told.add, a, b)
		refresh(t, p, "b", false)
		refresh(t, p, "a", false)
		if n := calls.take(); n != 2 {
			t.Errorf("%d calls, want those of one look", n)
		}
		if list := told.take(); len(list) != 2 || list[0].Profile != "a" || list[1].Profile != "b" || !list[0].At.Equal(list[1].At) {
			t.Errorf("told %v", list)
		}
		credentials.now["a"] = "bad"
		refresh(t, p, "a", true)
		first, _ := p.Last("a")
		second, _ := p.Last("b")
		if first.Outcome != Auth || second.Outcome != Measured {
			t.Errorf("a: %s\nb: %s", tell(first), tell(second))
		}
	})
}

// TestRefreshOfNobody: what cannot be looked at is an error that can be told apart.
func TestRefreshOfNobody(t *testing.T) {
	p := prober(t, nil, key, nil)
	if _, err := p.Refresh(t.Context(), "x", true); !errors.Is(err, ErrUnknownProfile) {
		t.Errorf("unknown: %v", err)
	}
	if _, ok := p.Last("x"); ok {
		t.Error("something is known of nobody")
	}
	p.Configure([]Target{opencode("a")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Refresh(t.Context(), "a", true); !errors.Is(err, ErrStopped) {
		t.Errorf("after the end: %v", err)
	}
}
