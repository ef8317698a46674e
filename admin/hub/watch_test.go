package hub

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
)

// A burst of changes is one picture, soon after its first; the end of a cool-down, which nobody tells, is seen within a
// second; and where nothing changes there are no pictures.
func TestStoreRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.refresh()
		d.events()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = d.store.Run(ctx) })
		change := func(calls int) {
			d.stage.mu.Lock()
			defer d.stage.mu.Unlock()
			d.ActiveCalls["codex"] = calls
			d.store.Touch()
		}
		synctest.Wait()
		change(1)
		synctest.Wait()
		expectEvents(t, d.events(), `ACCOUNT_UPDATED codex 2/3`)
		for calls := range 50 {
			change(calls + 2)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		expectEvents(t, d.events(), `ACCOUNT_UPDATED codex 3/4`)
		d.stage.mu.Lock()
		d.now = time.Now()
		d.refuse("codex", "gpt-5.5", quota.Reading{Class: quota.RateLimited, RetryAfter: 3 * time.Second})
		d.stage.mu.Unlock()
		time.Sleep(1100 * time.Millisecond)
		if got := d.events(); len(got) != 4 || got[0] != "ACCOUNT_UPDATED codex 4/5" {
			t.Errorf("the cool-down: %q", got)
		}
		time.Sleep(3 * time.Second)
		if got := d.events(); len(got) != 4 || got[0] != "ACCOUNT_UPDATED codex 5/6" {
			t.Errorf("its end: %q", got)
		}
		time.Sleep(time.Minute)
		expectEvents(t, d.events(), ``)
		cancel()
		running.Wait()
	})
}
