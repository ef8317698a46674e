package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// running runs a Prober until the function that it returns is called, which waits for the end.
func running(t *testing.T, p *Prober) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() {
		cancel()
		run.Wait()
	}
}

// hanging never answers.
func hanging(calls *counter) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		calls.add(1)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
}

// byHost gives each host its transport.
type byHost map[string]http.RoundTripper

func (h byHost) RoundTrip(r *http.Request) (*http.Response, error) { return h[r.URL.Host].RoundTrip(r) }

// TestS17HangingProvider (S17): one provider that never answers takes its 30 s of each of its own looks and nothing else's.
func TestS17HangingProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hung, calls counter
		var told reports
		targets := []Target{opencode("good")}
		for i := range 20 {
			targets = append(targets, Target{Profile: fmt.Sprintf("hung-%d", i), Provider: "claude"})
		}
		began := time.Now()
		p := prober(t, byHost{"opencode.ai": openCode(&calls), "api.anthropic.com": hanging(&hung)}, oauth, told.add, targets...)
		end := running(t, p)
		time.Sleep(5 * time.Second)
		if r, _ := p.Last("good"); r.Outcome != Measured || r.At.Sub(began) > time.Second {
			t.Errorf("the good provider: %s", tell(r))
		}
		if n := hung.take(); n != 4 {
			t.Errorf("%d looks at once at one provider, want 4", n)
		}
		told.take()
		time.Sleep(26 * time.Second)
		list := told.take()
		if len(list) != 4 || list[0].Outcome != Failed || list[0].Took != 30*time.Second || !strings.HasSuffix(list[0].Err.Error(), ": timeout") {
			t.Errorf("after 30 s: %v", list)
		}
		time.Sleep(300*time.Second - 31*time.Second)
		if refresh(t, p, "good", true); calls.take() == 0 {
			t.Error("the good provider is not looked at any more")
		}
		end()
	})
}

// TestScheduleIsSpread: five hundred accounts that become known at once are not looked at all at once, now or later.
func TestScheduleIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		perSecond := map[int]int{}
		began := time.Now()
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/usage") {
				mu.Lock()
				perSecond[int(time.Since(began)/time.Second)]++
				mu.Unlock()
			}
			return openCode(new(counter))(r)
		})
		targets := make([]Target, 500)
		for i := range targets {
			targets[i] = opencode(fmt.Sprintf("p%d", i))
		}
		draw := rand.New(rand.NewPCG(1, 2))
		p := prober(t, transport, key, nil)
		p.jitter = draw.Float64
		p.Configure(targets)
		end := running(t, p)
		time.Sleep(700 * time.Second)
		end()
		all := 0
		for second, n := range perSecond {
			all += n
			if n > 40 {
				t.Errorf("%d looks in second %d", n, second)
			}
		}
		if all < 2*500 || all > 3*500 {
			t.Errorf("%d looks in 700 s, want two of each account", all)
		}
	})
}

// TestScheduleDrifts: accounts that were looked at together drift apart.
func TestScheduleDrifts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		p := prober(t, openCode(&calls), key, nil)
		p.jitter = func() float64 { return 0.5 }
		p.Configure([]Target{opencode("a")})
		end := running(t, p)
		time.Sleep(50*time.Millisecond + 315*time.Second - time.Millisecond) // a tenth of TTL, at most
		if n := calls.take(); n != 2 {
			t.Errorf("%d calls before the second look", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := calls.take(); n != 1 {
			t.Errorf("%d calls of the second look", n)
		}
		end()
	})
}

// TestScheduleLooksAgain: values once in TTL, what is not there rarely, models as rarely.
func TestScheduleLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[string]int{}
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			asked[r.URL.Host+r.URL.Path]++
			mu.Unlock()
			if r.URL.Host == "opencode.ai" {
				return openCode(new(counter))(r)
			}
			return answer(404, "not here"), nil
		})
		p := prober(t, transport, key, nil, opencode("a"),
			Target{Profile: "b", Provider: "deepseek", ServiceURL: "https://api.deepseek.com/v1"},
			Target{Profile: "c", Provider: "groq", ServiceURL: "https://api.groq.com/openai/v1"},
			Target{Profile: "d", Provider: "claude"})
		end := running(t, p)
		time.Sleep(2*time.Hour - time.Second)
		end()
		want := map[string]int{
			"opencode.ai/zen/go/v1/usage": 24, "opencode.ai/zen/go/v1/models": 2,
			"api.deepseek.com/user/balance": 2, "api.deepseek.com/v1/models": 2, "api.groq.com/openai/v1/models": 2,
		}
		for path, n := range want {
			if asked[path] != n {
				t.Errorf("%s was asked %d times in two hours, want %d", path, asked[path], n)
			}
		}
		if len(asked) != len(want) {
			t.Errorf("asked %v", asked)
		}
	})
}

// TestRunWaitsForItsLooks: the end of Run is the end of everything it started, and nobody who waits is left.
func TestRunWaitsForItsLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		over := false
		p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			time.Sleep(time.Second) // a transport that takes its time
			over = true
			return nil, r.Context().Err()
		}), key, told.add, opencode("a"))
		end := running(t, p)
		synctest.Wait()
		var waits sync.WaitGroup
		waits.Go(func() {
			if r := refresh(t, p, "a", true); r.Outcome != Failed {
				t.Errorf("who waited got %s", tell(r))
			}
		})
		synctest.Wait()
		if end(); !over {
			t.Error("the end did not wait for the look")
		}
		waits.Wait()
		if list := told.take(); list != nil {
			t.Errorf("told %v of looks that were given up", list)
		}
	})
}

// TestConfigure: accounts that stay keep what is known and their turn; those that change or go lose it, and a look that is
// under way at them tells nothing: in the Python hub it brought deleted accounts back.
func TestConfigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, hung counter
		var told reports
		p := prober(t, byHost{"opencode.ai": openCode(&calls), "slow": hanging(&hung), "api.anthropic.com": hanging(&hung)}, oauth, told.add,
			opencode("stays"), opencode("changes"), Target{Profile: "goes", Provider: "claude"})
		end := running(t, p)
		time.Sleep(time.Second)
		calls.take()
		if list := told.take(); len(list) != 2 {
			t.Fatalf("told %v", list)
		}
		changed := opencode("changes")
		changed.ServiceURL = "http://slow/zen/go/v1"
		p.Configure([]Target{opencode("stays"), changed})
		time.Sleep(time.Second)
		if n := calls.take(); n != 0 {
			t.Errorf("%d calls for an account that stayed", n)
		}
		if _, ok := p.Last("stays"); !ok {
			t.Error("what was known of the account that stayed is gone")
		}
		for _, profile := range []string{"changes", "goes"} {
			if r, ok := p.Last(profile); ok {
				t.Errorf("%s is still known: %s", profile, tell(r))
			}
		}
		if hung.take() != 2 || told.take() != nil {
			t.Error("the account that changed is not looked at anew, or the one that went was told of")
		}
		ending := time.Now()
		if end(); time.Since(ending) > 0 {
			t.Error("the end waited for the look at the account that went")
		}
	})
}

// TestReportsComeInOrder: the newest is told last, and before whoever asked for it has it.
func TestReportsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		p := prober(t, openCode(new(counter)), key, told.add, opencode("a"))
		var at []time.Time
		for range 5 {
			r := refresh(t, p, "a", true)
			list := told.take()
			if len(list) != 1 || !list[0].At.Equal(r.At) {
				t.Fatalf("told %v before %s", list, tell(r))
			}
			at = append(at, r.At)
			time.Sleep(time.Second)
		}
		if !slices.IsSortedFunc(at, time.Time.Compare) {
			t.Errorf("measured at %v", at)
		}
	})
}
