package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
)

// J01, J17: events become rows in their order, the first terminal wins (C02, C03), and the closing row seals.
func TestJournalStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		if _, err := j.Begin("../r", runs.Origin{}, runs.Redacted, runs.RunStarted{}); !errors.Is(err, runs.ErrBadID) {
			t.Errorf("a hostile id: %v", err)
		}
		w := begin(t, j, "r")
		if err := w.Append(runs.RunClosed{}); !errors.Is(err, runs.ErrOpen) {
			t.Errorf("sealing a live run: %v", err)
		}
		add(t, w, delta("a"), runs.RunCancelled{})
		if err := w.Append(runs.RunDone{}); !errors.Is(err, runs.ErrEnded) {
			t.Errorf("a second terminal: %v", err)
		}
		if err := w.Append(delta("late")); !errors.Is(err, runs.ErrEnded) {
			t.Errorf("a delta after the end: %v", err)
		}
		add(t, w, runs.TitleUpdated{}, runs.UsageFinal{}, runs.RunClosed{})
		if err := w.Append(runs.TitleUpdated{}); !errors.Is(err, runs.ErrSealed) {
			t.Errorf("a title after the closing row: %v", err)
		}
		if last := sync(t, w); last != 6 {
			t.Errorf("the last seq is %d", last)
		}
		if got, want := stored(t, s, "r"), "1:run.started 2:token.delta 3:cancelled 4:title.updated 5:usage.final 6:run.closed"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
		run, err := j.Look(t.Context(), "r")
		if got := state(run); got != `cancelled interrupted-by-user "a" a= c= []` || err != nil {
			t.Errorf("run is %s, %v", got, err)
		}
		if st := j.Stats(); st != (runs.Stats{Stored: 6}) {
			t.Errorf("stats are %+v", st)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Commits begin at most every 5 ms, however many events come; 64 rows and a terminal row do not wait. Many runs share one.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		first, second := begin(t, j, "r"), begin(t, j, "q")
		synctest.Wait()
		if n := s.appends.Load(); n != 1 {
			t.Errorf("%d commits for the first rows of two runs", n)
		}
		for range 10 {
			add(t, first, delta("x"))
			add(t, second, delta("x"))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if n := s.appends.Load(); n > 4 {
			t.Errorf("%d commits in 10 ms", n)
		}
		time.Sleep(time.Minute)
		f := func(what string, w *runs.Writer, ps ...runs.Payload) {
			t.Helper()
			add(t, w, delta("takes the free moment"))
			synctest.Wait()
			before, now := s.appends.Load(), time.Now()
			add(t, w, ps...)
			synctest.Wait()
			if s.appends.Load() == before || time.Since(now) != 0 {
				t.Errorf("%s waits for a commit", what)
			}
		}
		var many []runs.Payload
		for range 64 {
			many = append(many, runs.Progress{})
		}
		f("a row of 64", first, many...)
		time.Sleep(time.Minute)
		f("a terminal row", first, runs.RunDone{})
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// I7, X03: whether a failed commit was done or not, its rows are stored once; what was taken in before the end is stored.
func TestCommitFails(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("stored %v", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, stop := journal(t, nil)
				w := begin(t, j, "r")
				sync(t, w)
				s.fail.Store(&fault{after})
				add(t, w, delta("1"))
				time.Sleep(10 * time.Second)
				if !j.Stats().Degraded {
					t.Error("the journal does not say that it is degraded")
				}
				if n := s.appends.Load(); n > 20 {
					t.Errorf("%d commits tried in 10 s", n)
				}
				add(t, w, runs.ToolStarted{Name: "ls"})
				s.fail.Store(nil)
				sync(t, w)
				if j.Stats().Degraded {
					t.Error("the journal says that it is degraded")
				}
				add(t, w, runs.Progress{})
				if err := stop(); err != nil {
					t.Error(err)
				}
				if got, want := stored(t, s, "r"), "1:run.started 2:token.delta 3:tool.started 4:progress"; got != want {
					t.Errorf("log is %s, want %s", got, want)
				}
			})
		})
	}
}

// A store that lost acknowledged rows gets what comes next under ids that no row had, behind a row that says so (I3).
func TestLostRowsShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		kept := s.store()
		s.become(&forgetful{Store: kept})
		add(t, w, delta("lost"))
		sync(t, w)
		s.become(kept)
		add(t, w, delta("next"), runs.RunDone{}, runs.RunClosed{})
		sync(t, w)
		if got, want := stored(t, s, "r"), "1:run.started 1048577:journal.gap 1048578:token.delta 1048579:done 1048580:run.closed"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// J20, J21, I6: a run whose executor is gone is taken over and gets one terminal row; the former executor hears of it.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		paused := begin(t, j, "r")
		add(t, paused, delta("part"))
		sync(t, paused)
		for range 2 { // the second finds nothing to do
			if err := j.Interrupt(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
		add(t, paused, delta("late"))
		_, err := paused.Sync(t.Context())
		if r, ok := errors.AsType[*runs.Refusal](err); !ok || r.Outcome != runs.Fenced {
			t.Errorf("the former executor hears %v", err)
		}
		<-paused.Lost()
		if err := paused.Append(delta("later")); err == nil {
			t.Error("the former executor may go on")
		}
		if got, want := stored(t, s, "r"), "1:run.started 2:token.delta 3:error 4:run.closed"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
		run, _ := j.Look(t.Context(), "r")
		if got := state(run); got != `failed interrupted-by-crash "part" a= c= []` {
			t.Errorf("run is %s", got)
		}

		ended := begin(t, j, "q")
		add(t, ended, runs.RunDone{})
		sync(t, ended)
		if err := j.Interrupt(t.Context(), "q"); err != nil {
			t.Fatal(err)
		}
		if got, want := stored(t, s, "q"), "1:run.started 2:done 3:run.closed"; got != want {
			t.Errorf("log of a run that had ended is %s, want %s", got, want)
		}
		if err := j.Interrupt(t.Context(), "nobody"); !errors.Is(err, runs.ErrUnknownRun) {
			t.Errorf("interrupting no run: %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// C03 across instances: somebody else stored the terminal row first. Ours is dropped; the title and the seal are not.
func TestEndedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		cancel := runs.Batch{
			RunID: "r", Producer: "there", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq,
			Rows: []runs.Event{{Type: runs.TypeCancelled, Terminal: true, Payload: json.RawMessage("{}")}},
		}
		if a, err := s.Append(t.Context(), []runs.Batch{cancel}); err != nil || a[0].Err() != nil {
			t.Fatal(a, err)
		}
		add(t, w, delta("late"), runs.RunDone{}, runs.TitleUpdated{Title: "T"}, runs.RunClosed{})
		sync(t, w)
		if got, want := stored(t, s, "r"), "1:run.started 2:cancelled 3:title.updated 4:run.closed"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
		if st := j.Stats(); st.Dropped != 2 || st.Refused != 1 || !w.Ended() {
			t.Errorf("stats are %+v", st)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// J26, J27: rows expire and leave a tombstone; a deleted session's writers learn that there is nothing to write to.
func TestJournalForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, nil)
		ended, live := begin(t, j, "ended"), begin(t, j, "live")
		add(t, ended, runs.RunDone{}, runs.RunClosed{})
		sync(t, ended)
		sync(t, live)
		time.Sleep(2 * time.Hour)
		if n, err := j.Expire(t.Context(), time.Hour); n != 1 || err != nil {
			t.Errorf("expired %d, %v", n, err)
		}
		if run, err := j.Look(t.Context(), "ended"); run.Status != runs.Expired || run.TerminalState != runs.EndCompleted || err != nil {
			t.Errorf("tombstone is %+v, %v", run, err)
		}
		time.Sleep(7 * 24 * time.Hour)
		if _, err := j.Expire(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		if _, err := j.Look(t.Context(), "ended"); !errors.Is(err, runs.ErrUnknownRun) {
			t.Errorf("a week later: %v", err)
		}
		if heads, err := j.List(t.Context(), runs.Filter{SessionID: "s", Active: true}); len(heads) != 1 || err != nil {
			t.Errorf("active are %v, %v", heads, err)
		}
		if n, err := j.DeleteSession(t.Context(), "me", "s"); n != 1 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		add(t, live, delta("late"))
		_, err := live.Sync(t.Context())
		if r, ok := errors.AsType[*runs.Refusal](err); !ok || r.Outcome != runs.Unknown || !strings.Contains(err.Error(), "unknown_run") {
			t.Errorf("the writer of a deleted run hears %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
