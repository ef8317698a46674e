package runs_test

import (
	"errors"
	"fmt"
	stdsync "sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
)

// A run that Create has answered for is stored, and its writer goes on behind the first row.
func TestCreateStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		origin := runs.Origin{SessionID: "s", Owner: "me"}
		w, created, err := j.Create(t.Context(), "r", origin, runs.Redacted, runs.RunStarted{Status: runs.Queued, RequestHash: "h", Content: runs.Redacted})
		if err != nil || !created {
			t.Fatal(created, err)
		}
		if got := stored(t, s, "r"); got != "1:run.started" {
			t.Errorf("stored at once: %s", got)
		}
		add(t, w, delta("a"), runs.RunDone{}, runs.RunClosed{})
		if last := sync(t, w); last != 4 {
			t.Errorf("last seq %d", last)
		}
		if got := stored(t, s, "r"); got != "1:run.started 2:token.delta 3:done 4:run.closed" {
			t.Errorf("stored %s", got)
		}
		if run, _ := j.Look(t.Context(), "r"); run.RequestHash != "h" || run.Content != runs.Redacted || run.Output != "a" {
			t.Errorf("run %+v", run)
		}
		if _, created, err := j.Create(t.Context(), "r", origin, runs.Redacted, runs.RunStarted{}); created || err != nil {
			t.Errorf("created again: %v %v", created, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Of many that create one run, here and in another process, one is its executor.
func TestCreateOnce(t *testing.T) {
	store := new(memstore.Store)
	var won atomic.Int32
	var wg stdsync.WaitGroup
	for i := range 20 {
		j := runs.New(runs.Options{Store: store, Instance: fmt.Sprint("hub", i%4)})
		wg.Go(func() {
			w, created, err := j.Create(t.Context(), "r", runs.Origin{}, runs.Redacted, runs.RunStarted{})
			if err != nil || created != (w != nil) {
				t.Error(created, err)
			}
			if created {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d created it", won.Load())
	}
}

func TestCreateRefuses(t *testing.T) {
	j := runs.New(runs.Options{Store: new(memstore.Store)})
	f := func(id string, c runs.Content, want error) {
		t.Helper()
		if w, created, err := j.Create(t.Context(), id, runs.Origin{}, c, runs.RunStarted{}); w != nil || created || !errors.Is(err, want) {
			t.Errorf("%q %s: %v %v", id, c, created, err)
		}
	}
	f("../x", runs.Redacted, runs.ErrBadID)
	f("r", runs.NoStore, runs.ErrNothingKept)
}

// Hold is the executor's sign of life. It changes no row, and tells a writer that its run is another's.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, nil)
		w, _, err := j.Create(t.Context(), "r", runs.Origin{}, runs.Redacted, runs.RunStarted{})
		if err != nil {
			t.Fatal(err)
		}
		fresh := begin(t, j, "not-stored-yet")
		time.Sleep(time.Minute)
		if err := j.Hold(t.Context(), w, fresh); err != nil {
			t.Fatal(err)
		}
		head, err := j.Head(t.Context(), "r")
		if err != nil || !head.HeldAt.Equal(time.Now().Truncate(time.Microsecond)) || head.Last != 1 {
			t.Errorf("%+v %v", head, err)
		}
		add(t, w, delta("a"))
		if last := sync(t, w); last != 2 {
			t.Errorf("a row after it has seq %d", last)
		}
		if _, err := j.Take(t.Context(), "r", runs.Redacted); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := j.Hold(t.Context(), w); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-w.Lost():
		default:
			t.Error("the writer does not know")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A run that is being cancelled is not made running again by what its runtime still says (C05).
func TestCancellingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, nil)
		w := begin(t, j, "r")
		add(t, w, runs.StatusChanged{Status: runs.Cancelling}, runs.StatusChanged{Status: runs.Running, UpstreamRunID: "u"}, runs.ApprovalRequested{ApprovalID: "a"})
		sync(t, w)
		if run, _ := j.Look(t.Context(), "r"); run.Status != runs.Cancelling || run.UpstreamRunID != "u" {
			t.Errorf("%+v", run)
		}
		if approvals, clarifies, err := j.Pending(t.Context(), "r"); fmt.Sprint(approvals, clarifies, err) != "[a] [] <nil>" {
			t.Error(approvals, clarifies, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
