package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a store in memory that fails when told to.
type shelf struct {
	mu    sync.Mutex
	rows  map[string][]byte
	saves int
	drops int
	fails error
}

func (s *shelf) SaveAll(_ context.Context, values map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.fails != nil {
		return s.fails
	}
	for key, value := range values {
		s.rows[key] = slices.Clone(value) // as a file does
	}
	return nil
}

func (s *shelf) All(context.Context) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.rows), s.fails
}

func (s *shelf) DropBelow(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops++
	maps.DeleteFunc(s.rows, func(k string, _ []byte) bool { return k < key })
	return s.fails
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

func (s *shelf) seen() (rows, saves, drops int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows), s.saves, s.drops
}

var errFull = errors.New("disk full")

func newShelf() *shelf { return &shelf{rows: map[string][]byte{}} }

// restarted is a new window over what the old one left.
func restarted(t testing.TB, s *shelf, now func() time.Time) *Window {
	t.Helper()
	w := NewWindow(WindowOptions{Labels: windowLabels(), Store: s, Now: now})
	if skipped, err := w.Restore(t.Context()); err != nil || skipped != 0 {
		t.Fatalf("restore: %d skipped, %v", skipped, err)
	}
	return w
}

func callNow(w *Window) {
	x := asked("coder", "codex-1", time.Second)
	x.Start = time.Now()
	w.Observe(x)
}

func callsOf(w *Window) int64 { return w.Breakdown(time.Now(), Kept, Filter{}).Global.TotalCalls }

// start runs w and returns what ends it.
func start(t *testing.T, w *Window) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return func() error { cancel(); return <-ended }
}

// The window survives a restart: nothing of it is lost when it was stopped, five seconds when it was not, and what was saved
// in the middle of a minute goes on in that minute.
func TestWindowSurvivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		w := restarted(t, s, time.Now)
		stop := start(t, w)
		for range 100 {
			callNow(w)
			time.Sleep(time.Minute)
		}
		callNow(w)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		want := asJSON(t, w.Breakdown(time.Now(), Kept, Filter{}))

		again := restarted(t, s, time.Now)
		if got := asJSON(t, again.Breakdown(time.Now(), Kept, Filter{})); got != want {
			t.Errorf("after a restart:\ngot  %s\nwant %s", got, want)
		}
		stop = start(t, again)
		callNow(again)
		time.Sleep(saveRollupsEvery + time.Second)
		callNow(again) // lost: what follows is a crash
		crashed := restarted(t, s, time.Now)
		if got := callsOf(crashed); got != 102 {
			t.Errorf("after a crash: %d calls, want 102", got)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

// Calls that were counted before the stored ones were read stand beside them.
func TestRestoreAfterTheFirstCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		w := restarted(t, s, time.Now)
		callNow(w)
		_ = w.save(t.Context())
		late := NewWindow(WindowOptions{Labels: windowLabels(), Store: s})
		callNow(late)
		if _, err := late.Restore(t.Context()); err != nil || callsOf(late) != 2 {
			t.Fatalf("%d calls, %v", callsOf(late), err)
		}
		_ = late.save(t.Context())
		if got := callsOf(restarted(t, s, time.Now)); got != 2 {
			t.Errorf("%d calls after another restart", got)
		}
	})
}

// T09: the store forgets with the window.
func TestOldMinutesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		w := restarted(t, s, time.Now)
		stop := start(t, w)
		for range 72 {
			callNow(w)
			time.Sleep(time.Hour)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if rows, hours := len(s.rows), len(w.hours); rows < 24 || rows > 25 || hours != rows || callsOf(w) != int64(rows) {
			t.Errorf("%d rows, %d hours, %d calls of the last day", rows, hours, callsOf(w))
		}
	})
}

// An idle hub writes nothing; one whose store fails goes on, tells it once, and saves what it could not as soon as it can.
func TestSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newShelf()
		w := NewWindow(WindowOptions{Labels: windowLabels(), Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		stop := start(t, w)
		time.Sleep(time.Hour + time.Second) // from here on never at the moment of a save
		if _, saves, drops := s.seen(); saves != 0 || drops > 2 {
			t.Errorf("%d saves of nothing, %d drops in an hour", saves, drops)
		}
		s.fail(errFull)
		for range 3 {
			callNow(w)
			time.Sleep(time.Minute)
		}
		if rows, _, _ := s.seen(); rows != 0 || callsOf(w) != 3 {
			t.Errorf("%d rows, %d calls", rows, callsOf(w))
		}
		s.fail(nil)
		time.Sleep(time.Minute)
		_, before, _ := s.seen()
		time.Sleep(time.Minute)
		if rows, saves, _ := s.seen(); rows != 3 || saves != before || callsOf(restarted(t, s, time.Now)) != 3 {
			t.Errorf("%d rows, %d saves after all was saved", rows, saves-before)
		}
		s.fail(errFull)
		callNow(w)
		if err := stop(); !errors.Is(err, errFull) {
			t.Errorf("the last save: %v", err)
		}
		if text := log.String(); strings.Count(text, "is not saved") != 1 || strings.Count(text, "saved again") != 1 {
			t.Errorf("log:\n%s", text)
		}
	})
}

// Without a store it forgets all the same.
func TestWindowWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWindow(WindowOptions{Labels: windowLabels()})
		if skipped, err := w.Restore(t.Context()); skipped != 0 || err != nil {
			t.Fatal(skipped, err)
		}
		stop := start(t, w)
		callNow(w)
		time.Sleep(26 * time.Hour)
		if err := stop(); err != nil || len(w.hours) != 0 || len(w.changed) != 0 {
			t.Errorf("%d hours, %d to save, %v", len(w.hours), len(w.changed), err)
		}
	})
}

// Rows that cannot be read are left out, counted and told of in one line; the others are there, and the start goes on.
func TestBadRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		w := restarted(t, s, time.Now)
		for range 4 {
			callNow(w)
			time.Sleep(time.Minute)
		}
		_ = w.save(t.Context())
		keys := slices.Sorted(maps.Keys(s.rows))
		s.rows[keys[0]] = []byte("garbage")
		s.rows[keys[1]] = s.rows[keys[1]][:20]
		s.rows[keys[2]] = nil
		s.rows["sk-secret"] = s.rows[keys[3]]
		s.rows["2026-13-45T99:99Z"] = s.rows[keys[3]]
		s.rows["0000-01-01T00:00Z"] = s.rows[keys[3]] // too old, but a row
		s.rows["9999-12-31T23:59Z"] = s.rows[keys[3]]
		var log bytes.Buffer
		again := NewWindow(WindowOptions{Labels: windowLabels(), Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		skipped, err := again.Restore(t.Context())
		if skipped != 5 || err != nil || callsOf(again) != 1 || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "rows=5") {
			t.Errorf("%d skipped, %v, %d calls, log:\n%s", skipped, err, callsOf(again), log.String())
		}
		s.fails = errFull
		if _, err := again.Restore(t.Context()); !errors.Is(err, errFull) || fmt.Sprint(err) != "restore telemetry: disk full" {
			t.Errorf("a store that fails: %v", err)
		}
	})
}
