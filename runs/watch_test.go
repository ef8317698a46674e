package runs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
)

// Whoever watches a session hears of each run that begins in it, and of none of another session (E06).
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, nil)
		w, other := j.Watch("s"), j.Watch("elsewhere")
		begin(t, j, "before-waiting")
		synctest.Wait()
		time.Sleep(time.Second)
		for _, run := range []string{"", "while-waiting", "created"} {
			time.AfterFunc(time.Minute, func() {
				switch run {
				case "while-waiting":
					begin(t, j, run)
				case "created":
					if _, _, err := j.Create(t.Context(), run, runs.Origin{SessionID: "s"}, runs.Redacted, runs.RunStarted{}); err != nil {
						t.Error(err)
					}
				}
			})
			if err := w.Wait(t.Context()); err != nil {
				t.Fatal(run, err)
			}
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, quiet := range []*runs.Watch{w, other} {
			if err := quiet.Wait(soon); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("heard something: %v", err)
			}
			quiet.Close()
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// In a store that others write to, too, a watch looks again after a while (J22 over two hubs).
func TestWatchPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, func(o *runs.Options) { o.Poll = time.Second })
		w := j.Watch("s")
		defer w.Close()
		began := time.Now()
		if err := w.Wait(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
