package router

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/quota"
)

// memory is a StateStore in memory that can be told to fail.
type memory struct {
	mu    sync.Mutex
	state []byte
	saves int
	fail  error
}

func (m *memory) LoadState(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.fail
}

func (m *memory) SaveState(_ context.Context, state []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	if m.fail == nil {
		m.state = state
	}
	return m.fail
}

func (m *memory) saved() (saves int, state []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saves, m.state
}

func (m *memory) failWith(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// restart is the state of r, restored into a new router over tab at a time.
func restart(t *testing.T, r *Router, tab *Table, when time.Time) *scene {
	t.Helper()
	data, err := encodeState(r.Snapshot(), r.affinity.all(), r.now())
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{when}
	next := New(tab, Options{Now: c.now, Store: &memory{state: data}})
	if err := next.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &scene{next, t, c}
}

// What was learnt outlives the process while it is true: a block until its time, a refused credential (P07) until the
// credential or the address changes, a bond while it is young.
func TestStateRestart(t *testing.T) {
	s := newScene(t)
	tab := s.Snapshot().Table
	s.answered("12:00", "a", "gpt-1", refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	s.answered("12:00", "b", "gpt-1", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	s.Bind("old", "r", "b")
	s.c.t = at(t, "12:20")
	s.Bind("young", "r", "a")

	next := restart(t, s.Router, tab, at(t, "12:40"))
	next.plan("12:40", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 quota_exhausted until 13:00`)
	if got := boundTo(t, next.Router, "young", "r"); got != "a" || next.SessionRole("young") != "r" {
		t.Errorf("the young session is bound to %q, in role %q", got, next.SessionRole("young"))
	}
	if len(next.affinity.bonds) != 1 {
		t.Errorf("%d bonds, the old one is too old", len(next.affinity.bonds))
	}

	next = restart(t, s.Router, tab, at(t, "13:00"))
	next.plan("13:00", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 usable`)

	renewed, moved := account("a", "gpt-1"), account("b", "gpt-1")
	renewed.Credential, moved.BaseURL = NewSecret("another key"), "https://elsewhere.test/v1"
	next = restart(t, s.Router, table(t, []Profile{renewed, moved}, role("r", "a", "b")), at(t, "12:40"))
	next.plan("12:40", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}

// A measured bucket is kept, and neither a credential nor a session id reaches the blob.
func TestStateHoldsNoSecrets(t *testing.T) {
	s := newScene(t)
	measured := ok()
	measured.Buckets = []quota.Bucket{{ID: "a.day", UsedPercent: quota.Known(40), RemainingPercent: quota.Known(60)}}
	measured.Source = quota.SourceProviderAPI
	s.answered("12:00", "a", "gpt-1", measured)
	s.Bind("me@example.org", "r", "a")
	data, err := encodeState(s.Snapshot(), s.affinity.all(), s.c.t)
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"key of a", "me@example.org"} {
		if strings.Contains(string(data), canary) {
			t.Errorf("%q is in %s", canary, data)
		}
	}
	next := restart(t, s.Router, s.Snapshot().Table, noon)
	if got := next.Snapshot().Standings[0].Buckets(); len(got) != 1 || got[0].RemainingPercent != quota.Known(60) {
		t.Errorf("buckets: %+v", got)
	}
}

// What does not hold any more at the restart is not taken over: a window that was reset meanwhile. A bond that seems to
// come from the future, because the clock was set back, ends as if it were made now.
func TestStateDropsWhatPassed(t *testing.T) {
	s := newScene(t)
	measured := ok()
	measured.Source = quota.SourceProviderAPI
	measured.Buckets = []quota.Bucket{
		{ID: "a.day", Remaining: quota.Known(5), ResetAt: at(t, "18:00")},
		{ID: "a.hour", Remaining: quota.Known(0), ResetAt: at(t, "13:00")},
	}
	s.answered("12:50", "a", "gpt-1", measured)
	next := restart(t, s.Router, s.Snapshot().Table, at(t, "13:30"))
	if got := next.Snapshot().Standings[0].Buckets(); len(got) != 1 || got[0].ID != "a.day" {
		t.Errorf("buckets: %+v", got)
	}

	s.Bind("s", "r", "b")
	next = restart(t, s.Router, s.Snapshot().Table, at(t, "10:00"))
	for _, c := range []struct{ clock, want string }{{"10:29", "b"}, {"10:30", ""}} {
		next.c.t = at(t, c.clock)
		if got := boundTo(t, next.Router, "s", "r"); got != c.want {
			t.Errorf("%s: bound to %q, want %q", c.clock, got, c.want)
		}
	}
}

// A state that cannot be used is reported, and the router serves as if there were none.
func TestRestoreRefuses(t *testing.T) {
	f := func(state string, fail error, want string) {
		t.Helper()
		r := New(table(t, []Profile{account("a", "gpt-1")}, role("r", "a")), Options{Store: &memory{state: []byte(state), fail: fail}})
		err := r.Restore(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %s", state, err, want)
		}
		if n := plannedGPT(r); n.Reason != Usable {
			t.Errorf("%q: %s", state, n.Reason)
		}
	}
	f("", nil, "")
	f(`{"version":1,"profiles":{"a":{"standing":{}},"gone":{}},"affinity":[{"session":"zz"},{"session":"00"}]}`, nil, "")
	f(`{"version":2}`, nil, "restore router state: decode router state: version is 2, this program reads 1")
	f(`{"vers`, nil, "unexpected end of JSON input")
	f(``, errors.New("disk on fire"), "restore router state: disk on fire")
	if err := New(table(t, []Profile{account("a")}, role("r", "a")), Options{}).Restore(t.Context()); err != nil {
		t.Errorf("no store: %v", err)
	}
}

// Whatever a file holds, reading it does not panic, and what it yields can be restored.
func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"version":1,"profiles":{"a":{"base_url":"https://a.test/v1","credential":"","standing":{}}},"affinity":[{"session":"00112233445566778899aabbccddeeff","role":"r","profile":"a","at":"2026-03-01T12:00:00Z"}]}`))
	f.Add([]byte(`{"version":1,"profiles":{"a":null},"affinity":[null]}`))
	tab := table(f, []Profile{account("a", "gpt-1")}, role("r", "a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := decodeState(data)
		if err != nil {
			return
		}
		s := NewSnapshot(tab).restored(st, noon)
		var p Plan
		Choose(s, Query{Role: tab.Roles[0], Model: "gpt-1"}, -1, Vacant{}, noon, &p)
		if _, err := encodeState(s, st.bonds(time.Minute, noon), noon); err != nil && !strings.Contains(err.Error(), "year outside") {
			t.Fatal(err)
		}
	})
}
