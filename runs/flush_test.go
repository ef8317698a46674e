package runs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
)

// A client is told the id of a run at once, and asks for it at once: what is on its way into the store is waited for.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) { o.FlushEvery = time.Hour })
		begin(t, j, "first") // the first commit waits for nobody, and neither does the one behind a Sync
		synctest.Wait()
		begin(t, j, "second")
		synctest.Wait()
		if _, err := j.Head(t.Context(), "second"); err == nil {
			t.Fatal("it was stored without waiting for anybody: this shows nothing")
		}
		if err := j.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, s, "second"); got != "1:run.started" {
			t.Errorf("after a flush there is %q", got)
		}
		if err := j.Flush(t.Context()); err != nil {
			t.Errorf("with nothing to do: %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
