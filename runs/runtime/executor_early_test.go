package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// A client came back right after a restart, before the new hub had taken over the runs of the old one, and pressed Stop. It
// was told that another hub executes the run. It is waited for now.
func TestControlBeforeRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, run := crashed(t, follows(waits), ask("s"))
		h := open(t, store, &stage{resume: func(context.Context, runs.Run) (runtime.Execution, error) {
			return &act{name: "up1", follow: waits}, nil
		}}, nil)
		var after runs.Run
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			after, err = h.Control(t.Context(), run, runtime.Control{Verb: runtime.Cancel})
		}()
		time.Sleep(time.Second)
		recovers(t, h)
		<-done
		if err != nil || after.Status != runs.Cancelling && after.Status != runs.Canceled {
			t.Errorf("stopped right after the restart: %s, %v", after.Status, err)
		}
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A run that began while the runs of the last start were being looked for is nobody's leftover.
func TestRecoverLeavesWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, _ := crashed(t, follows(waits), ask("s"))
		h := open(t, store, &stage{}, nil)
		time.Sleep(time.Millisecond)
		w, _, err := h.j.Create(t.Context(), "run_call", runs.Origin{}, runs.Redacted, runs.RunStarted{Runtime: "call"})
		if err != nil {
			t.Fatal(err)
		}
		recovers(t, h)
		if err := w.Append(runs.RunDone{}); err != nil {
			t.Errorf("the call's own end: %v", err)
		}
		if _, err := w.Sync(t.Context()); err != nil {
			t.Errorf("the call's run was taken from it: %v", err)
		}
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}
