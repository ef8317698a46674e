package runs_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/redact"
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

// I12, J28: somebody looked at the list of runs again and again while a model wrote a key letter by letter. Each look had all
// of it stored that there was, and the key stood in the rows in pieces.
func TestFlushCutsNoSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := redact.New(nil)
		j, _, stop := journal(t, func(o *runs.Options) {
			o.Hold, o.Redact = r.Hold, func(_ runs.Type, p json.RawMessage) json.RawMessage { return r.JSON(p) }
		})
		w := begin(t, j, "r")
		for _, letter := range "use sk-abcdefghijklmnopqrst now" {
			add(t, w, delta(string(letter)))
			if err := j.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sync(t, w)
		run, err := j.Look(t.Context(), "r")
		if want := "use [redacted] now"; err != nil || run.Output != want {
			t.Errorf("output %q, %v; want %q", run.Output, err, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
