package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// desk is a scheduler over a store in a bubble of time, with looks that are told what to do.
type desk struct {
	*stage
	scheduler *Scheduler
	began     time.Time
	looks     []string                               // "seconds profile depth" in the order in which they began
	answers   map[string]func(context.Context) error // by profile; nothing there: at once, without an error
	learn     map[string]func()                      // by profile: what a look that worked finds out
	mu2       sync.Mutex                             // of looks, answers and learn
}

func newDesk(t *testing.T) *desk {
	s := newScene(t, []router.Profile{account("openai-codex", "codex", "gpt-5.5"), account("claude", "claude-1", "claude-opus-4-6"), account("claude", "claude-2", "claude-opus-4-6")},
		role("orchestrator", "codex", "claude-1"))
	s.now = time.Now()
	d := &desk{stage: &stage{scene: s}, began: time.Now(), answers: map[string]func(context.Context) error{}, learn: map[string]func(){}}
	d.store = NewStore(t.Context(), StoreOptions{Sequence: memory("e1"), Collect: d.collect})
	d.follower = d.store.Bus().Subscribe("")
	d.scheduler = NewScheduler(SchedulerOptions{
		Store: d.store, Look: d.look,
		Accounts: func() []Account {
			var all []Account
			for _, p := range d.router.Snapshot().Table.Profiles {
				all = append(all, Account{p.ID, p.Provider.ID})
			}
			return all
		},
	})
	return d
}

func (d *desk) look(ctx context.Context, profile string, depth Depth) error {
	d.mu2.Lock()
	d.looks = append(d.looks, fmt.Sprintf("%.0f %s %d", time.Since(d.began).Seconds(), profile, depth))
	answer, learn := d.answers[profile], d.learn[profile]
	d.mu2.Unlock()
	if answer != nil {
		if err := answer(ctx); err != nil {
			return err
		}
	}
	if learn != nil {
		d.stage.mu.Lock()
		defer d.stage.mu.Unlock()
		learn()
	}
	return nil
}

// seen are the looks at a profile since the last call.
func (d *desk) seen(profile string) string {
	d.mu2.Lock()
	defer d.mu2.Unlock()
	var own, others []string
	for _, l := range d.looks {
		if strings.Contains(l, " "+profile+" ") {
			own = append(own, l)
		} else {
			others = append(others, l)
		}
	}
	d.looks = others
	return strings.Join(own, ", ")
}

func (d *desk) metrics() Metrics { return decoded(d.t, d.store.Current(), time.Now()).Metrics }

func hang(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// S08: "refresh all" works every time; asked for twice at once it is made once, and that is counted.
func TestSchedulerRefreshAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for range 2 {
			if err := d.scheduler.RefreshAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expectEvents(t, d.events()[7:], `
REFRESH_COMPLETED 1/2
REFRESH_STARTED all_accounts:full 1/3
REFRESH_COMPLETED 2/4`)
		release := make(chan struct{})
		d.answers["codex"] = func(context.Context) error { <-release; return nil }
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := d.scheduler.RefreshAll(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		synctest.Wait()
		if err := d.scheduler.RefreshAll(impatient); !errors.Is(err, context.Canceled) {
			t.Errorf("one who leaves: %v", err)
		}
		close(release)
		both.Wait()
		if got := d.seen("codex"); got != "0 codex 2, 0 codex 2, 0 codex 2" || d.metrics().RefreshRunsTotal != 3 || d.metrics().RefreshDeduplicatedTotal != 2 {
			t.Errorf("%s, %+v", got, d.metrics())
		}
	})
}

// S16, S17: the first fresh picture has what the looks found out; a provider that hangs keeps it waiting no longer than it
// may, and is told by an event of its own.
func TestSchedulerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.answers["codex"] = hang
		d.learn["claude-1"] = func() { d.measure("claude-1", quota.SourceProviderAPI, "claude.session=42@60") }
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, run := range []func(context.Context) error{d.scheduler.Run, d.store.Run} {
			running.Go(func() { _ = run(ctx) })
		}
		time.Sleep(10 * time.Second)
		if s := decoded(t, d.store.Current(), time.Now()); !s.IsStale || s.Generation == 0 || s.Quotas["claude-1"].Buckets[0].RemainingPercent.Value != 42 {
			t.Errorf("meanwhile: stale %v, generation %d, %+v", s.IsStale, s.Generation, s.Quotas["claude-1"])
		}
		time.Sleep(11 * time.Second)
		if s := decoded(t, d.store.Current(), time.Now()); s.IsStale || s.Quotas["claude-1"].Buckets[0].RemainingPercent.Value != 42 {
			t.Errorf("then: stale %v, %+v", s.IsStale, s.Quotas["claude-1"])
		}
		if got := strings.Join(d.events(), "\n"); !strings.Contains(got, "REFRESH_FAILED provider:openai-codex context deadline exceeded 1/1\nREFRESH_COMPLETED 2/3") {
			t.Errorf("events:\n%s", got)
		}
		cancel()
		running.Wait()
		if err := d.scheduler.RefreshAll(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// Each provider has its turns: a light look every 120 s, a full one every 600 s, which is also the light one. None waits
// for another's (S17), and a refresh that fails leaves what was known, with the reason.
func TestSchedulerTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = d.scheduler.Run(ctx) })
		time.Sleep(time.Second)
		d.mu2.Lock()
		d.answers["claude-1"], d.answers["claude-2"] = hang, hang
		d.mu2.Unlock()
		time.Sleep(21*time.Minute + 30*time.Second)
		counts := map[string]int{}
		for l := range strings.SplitSeq(d.seen("codex"), ", ") {
			counts[l[strings.LastIndex(l, " ")+1:]]++
		}
		if counts["2"] != 1 || counts["1"] != 2 || counts["0"] < 7 || counts["0"] > 10 {
			t.Errorf("looks at codex: %v", counts)
		}
		if d.store.Current().Stale(time.Now()) {
			t.Error("one provider's trouble makes the picture stale")
		}
		d.mu2.Lock()
		claude := len(d.looks)
		d.mu2.Unlock()
		if claude < 20 {
			t.Errorf("a provider that hangs is looked at %d times", claude)
		}
		cancel()
		running.Wait()
	})
}

// A provider that errs: the previous truth stays, with its age and why there is nothing newer. One account of several that
// answers is enough for a refresh.
func TestSchedulerFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.measure("claude-1", quota.SourceProviderAPI, "claude.session=42@60")
		if err := d.scheduler.RefreshAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.events()
		time.Sleep(time.Minute)
		broken := errors.New("HTTP 500")
		fails := func(profile string) func(context.Context) error {
			return func(context.Context) error {
				d.stage.mu.Lock()
				defer d.stage.mu.Unlock()
				d.Looks[profile] = Look{Outcome: LookFailed, At: time.Now(), UnavailableRU: "Провайдер не вернул данные лимитов"}
				return broken
			}
		}
		d.answers["claude-1"] = fails("claude-1")
		if err := d.scheduler.RefreshProvider(t.Context(), "claude", DepthCurrent); err != nil {
			t.Errorf("one of two: %v", err)
		}
		d.answers["claude-2"] = fails("claude-2")
		if err := d.scheduler.RefreshProvider(t.Context(), "claude", DepthCurrent); !errors.Is(err, broken) {
			t.Errorf("both: %v", err)
		}
		expectEvents(t, d.events(), `
REFRESH_STARTED provider:claude 1/3
QUOTA_UPDATED claude-1 2/4
REFRESH_COMPLETED 2/4
REFRESH_STARTED provider:claude 2/5
REFRESH_FAILED provider:claude HTTP 500 (and 1 more accounts) 2/5
QUOTA_UPDATED claude-2 3/6`)
		q := decoded(t, d.store.Current(), time.Now()).Quotas["claude-1"]
		if q.Buckets[0].RemainingPercent != Known(42.0) || time.Since(q.FetchedAt) != time.Minute || q.UnavailableReason.Value != "Провайдер не вернул данные лимитов" {
			t.Errorf("%+v", q)
		}
		if err := d.scheduler.RefreshAccount(t.Context(), "codex"); err != nil || d.seen("codex") == "" {
			t.Errorf("one account: %v", err)
		}
	})
}

// S02 through the scheduler: a slow provider that is overtaken by a refresh of everything is late. What it found out is
// published all the same.
func TestSchedulerLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		release := make(chan struct{})
		d.answers["codex"] = func(context.Context) error { <-release; return nil }
		slow := make(chan error)
		go func() { slow <- d.scheduler.RefreshProvider(t.Context(), "openai-codex", DepthCurrent) }()
		synctest.Wait()
		d.mu2.Lock()
		d.answers["codex"] = nil
		d.learn["codex"] = func() { d.measure("codex", quota.SourceProviderAPI, "codex.session=7@60") }
		d.mu2.Unlock()
		if err := d.scheduler.RefreshAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.stage.mu.Lock()
		d.measure("codex", quota.SourceProviderAPI, "codex.session=6@60")
		d.stage.mu.Unlock()
		close(release)
		if err := <-slow; err != nil {
			t.Error(err)
		}
		s := decoded(t, d.store.Current(), time.Now())
		if s.Quotas["codex"].Buckets[0].RemainingPercent.Value != 6 || s.Metrics.RefreshSkippedTotal != 1 {
			t.Errorf("%+v, %+v", s.Quotas["codex"].Buckets[0], s.Metrics)
		}
	})
}

// S19: what changes is published and asks nobody for anything: a token that was saved for a look leads to no other look.
func TestTouchLooksAtNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = d.store.Run(ctx) })
		d.learn["codex"] = func() {
			d.Identities["codex"] = Identity{State: Authenticated, Email: "new@example.org"}
			d.store.Touch()
		}
		if err := d.scheduler.RefreshAccount(t.Context(), "codex"); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			d.store.Touch()
		}
		time.Sleep(time.Minute)
		if got := d.seen("codex"); got != "0 codex 2" {
			t.Errorf("looks: %s", got)
		}
		cancel()
		running.Wait()
	})
}
