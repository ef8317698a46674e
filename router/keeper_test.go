package router

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
)

// kept runs a keeper in the test's bubble; stop ends it and waits for it.
func kept(t *testing.T, store StateStore, logger *slog.Logger) (r *Router, stop func() error) {
	t.Helper()
	r = New(table(t, []Profile{account("a", "gpt-1")}, role("r", "a")), Options{Store: store, Logger: logger})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return r, func() error { cancel(); return <-done }
}

// The keeper saves what changed, at most once in two seconds, and once more at the end.
func TestRunSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r, stop := kept(t, store, nil)
		saves := func(want int) {
			t.Helper()
			synctest.Wait()
			if got, _ := store.saved(); got != want {
				t.Errorf("%v: %d saves, want %d", time.Now(), got, want)
			}
		}
		time.Sleep(time.Hour)
		saves(0)
		for range 100 {
			r.Bind("s", "r", "a")
		}
		saves(1)
		for range 10 {
			r.Observe("a", call("gpt-1", time.Now()), refusal(quota.ServerError, quota.ScopeAccount, time.Time{}))
		}
		saves(1)
		time.Sleep(saveEvery)
		saves(2)
		time.Sleep(time.Hour)
		saves(2)
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
		saves(3)
	})
}

// What was learnt in the last moment is saved at the stop, though no save was due yet.
func TestRunSavesAtStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r, stop := kept(t, store, nil)
		r.Bind("first", "r", "a")
		synctest.Wait()
		r.Bind("second", "r", "a")
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
		_, state := store.saved()
		if st, err := decodeState(state); err != nil || len(st.Affinity) != 2 {
			t.Errorf("saved: %s, %v", state, err)
		}
	})
}

// A store that fails is tried again, and told of twice: when it begins and when it ends.
func TestRunSurvivesStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &memory{fail: errors.New("disk full")}
		r, stop := kept(t, store, slog.New(slog.NewTextHandler(&log, nil)))
		r.Bind("s", "r", "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		if saves, _ := store.saved(); saves < 10 {
			t.Errorf("%d saves in a minute", saves)
		}
		store.failWith(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, state := store.saved(); strings.Count(log.String(), "\n") != 2 || state == nil {
			t.Errorf("log:\n%s", log.String())
		}
		store.failWith(errors.New("disk gone"))
		if err := stop(); err == nil || err.Error() != "save router state: disk gone" {
			t.Errorf("stop: %v", err)
		}
	})
}

// Without a store the keeper has nothing to do, and still ends when told.
func TestRunWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := kept(t, nil, nil)
		r.Bind("s", "r", "a")
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}
