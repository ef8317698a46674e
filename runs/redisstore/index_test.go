package redisstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
)

// write appends rows of these types to a run, as its only producer.
func write(t *testing.T, s runs.Store, run string, o runs.Origin, first int64, types ...runs.Type) {
	t.Helper()
	b := runs.Batch{RunID: run, Begin: &o, Producer: "a", Epoch: 1, FirstSeq: first, Expect: runs.AnySeq}
	for _, of := range types {
		b.Rows = append(b.Rows, runs.Event{Type: of, CreatedAt: o.CreatedAt, Terminal: of == runs.TypeDone, Payload: []byte(`{}`)})
	}
	if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
		t.Fatal(a, err)
	}
}

// Lists longer than one look at them are whole and in order, also when many runs began at once.
func TestLongList(t *testing.T) {
	s := store(serve(t).client(t))
	var want []string
	for i := range 900 {
		run := fmt.Sprintf("r%03d", i)
		write(t, s, run, runs.Origin{SessionID: "s", Owner: "me", CreatedAt: day.Add(time.Duration(i/400) * time.Second)}, 1, runs.TypeStarted)
		want = append(want, run)
	}
	slices.Reverse(want)
	f := func(filter runs.Filter) {
		t.Helper()
		heads, err := s.List(t.Context(), filter)
		var got []string
		for _, h := range heads {
			got = append(got, h.RunID)
		}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("list %+v: %d runs, %v: %v", filter, len(got), err, got)
		}
	}
	f(runs.Filter{})
	f(runs.Filter{Active: true})
	f(runs.Filter{Owner: "me"})
	f(runs.Filter{SessionID: "s"})
	f(runs.Filter{Owner: "me", SessionID: "s"})
	var paged []string
	for after := (runs.Head{}); ; {
		heads, err := s.List(t.Context(), runs.Filter{Owner: "me", After: after, Limit: 70})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			paged, after = append(paged, h.RunID), h
		}
		if len(heads) < 70 {
			break
		}
	}
	if !slices.Equal(paged, want) {
		t.Errorf("in pages there are %d runs: %v", len(paged), paged)
	}
	if n, err := s.DeleteSession(t.Context(), "me", "s"); n != 900 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	want = nil
	f(runs.Filter{})
}

// Lists are believed only when the run itself says the same: what a crash left in them, or a caller who named another's run,
// shows nothing and removes nothing.
func TestListsAreVerified(t *testing.T) {
	server := serve(t)
	s := redisstore.New(server.client(t), redisstore.Options{})
	mine := runs.Origin{SessionID: "s", Owner: "me", CreatedAt: day}
	write(t, s, "r", mine, 1, runs.TypeStarted)
	write(t, s, "r", runs.Origin{SessionID: "s", Owner: "you", CreatedAt: day}, 2, runs.TypeTokenDelta)
	server.do(t, "ZADD", "hh:runs:all", fmt.Sprint(day.UnixMicro()), "ghost")
	f := func(filter runs.Filter, want int) {
		t.Helper()
		if heads, err := s.List(t.Context(), filter); len(heads) != want || err != nil {
			t.Errorf("list %+v: %+v, %v", filter, heads, err)
		}
	}
	f(runs.Filter{}, 1)
	f(runs.Filter{Owner: "you"}, 0)
	if n, err := s.DeleteSession(t.Context(), "you", "s"); n != 0 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	f(runs.Filter{Owner: "me"}, 1)

	// Long after, nobody waits for the ghost any more; and a run that lasts is not taken for one.
	if _, err := s.Expire(t.Context(), day.Add(time.Hour), day.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n := server.do(t, "ZCARD", "hh:runs:all"); n != int64(1) {
		t.Errorf("the list holds %d runs, want 1", n)
	}
}

// No key is left when everything has expired and is forgotten.
func TestNothingStays(t *testing.T) {
	server := serve(t)
	s := redisstore.New(server.client(t), redisstore.Options{})
	for i := range 300 {
		write(t, s, fmt.Sprint("r", i), runs.Origin{SessionID: fmt.Sprint("s", i%7), Owner: "me", CreatedAt: day}, 1, runs.TypeStarted, runs.TypeDone, runs.TypeClosed)
	}
	for _, c := range []struct {
		ended, forgotten time.Duration
		want             int
	}{{time.Hour, -time.Hour, 300}, {time.Hour, -time.Hour, 0}, {time.Hour, time.Hour, 0}} {
		if n, err := s.Expire(t.Context(), day.Add(c.ended), day.Add(c.forgotten)); n != c.want || err != nil {
			t.Errorf("expire: %d, %v, want %d", n, err, c.want)
		}
	}
	if keys := server.do(t, "KEYS", "*").([]any); len(keys) != 0 {
		t.Errorf("there stay %v", keys)
	}
}

// Every key expires of itself, should no hub be left that would remove it: a run that has not ended after a while in which
// nobody wrote or held it; one that has, in two steps.
func TestKeysExpire(t *testing.T) {
	server := serve(t)
	s := redisstore.New(server.client(t), redisstore.Options{Live: time.Hour, Retention: 200 * time.Millisecond, Tombstone: time.Minute})
	o := runs.Origin{SessionID: "s", Owner: "me", CreatedAt: day}
	ttl := func(key string, atLeast, atMost time.Duration) {
		t.Helper()
		if ms := time.Duration(server.do(t, "PTTL", key).(int64)) * time.Millisecond; ms <= atLeast || ms > atMost {
			t.Errorf("%s lasts %v, want %v to %v", key, ms, atLeast, atMost)
		}
	}
	write(t, s, "live", o, 1, runs.TypeStarted)
	ttl("hh:{live}:e", 50*time.Minute, time.Hour)
	ttl("hh:{live}:m", 50*time.Minute, time.Hour)
	server.do(t, "PEXPIRE", "hh:{live}:e", "60000")
	hold := runs.Batch{RunID: "live", Producer: "a", Epoch: 1, FirstSeq: 2, Executor: true, Expect: runs.AnySeq}
	if a, err := s.Append(t.Context(), []runs.Batch{hold}); err != nil || a[0].Err() != nil {
		t.Fatal(a, err)
	}
	ttl("hh:{live}:e", 50*time.Minute, time.Hour)

	write(t, s, "ended", o, 1, runs.TypeStarted, runs.TypeDone)
	ttl("hh:{ended}:m", 50*time.Second, time.Minute+200*time.Millisecond)
	await(t, "the rows to expire", func() bool { return server.do(t, "EXISTS", "hh:{ended}:e") == int64(0) })
	if p, err := s.Read(t.Context(), "ended", 0, 10, 1<<20); !p.Head.Expired || len(p.Rows) != 0 || p.Head.End != runs.EndCompleted || p.Head.First != 0 || err != nil {
		t.Errorf("what is left is %+v, %v", p, err)
	}
	if n, err := s.DeleteSession(t.Context(), "me", "s"); n != 2 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	ttl("hh:{live}:m", 50*time.Second, time.Minute) // the marker
}

func TestCheck(t *testing.T) {
	server := serve(t)
	s := redisstore.New(server.client(t), redisstore.Options{})
	f := func(want ...string) {
		t.Helper()
		if got, err := s.Check(t.Context()); !slices.Equal(got, want) || err != nil {
			t.Errorf("check: %q, %v, want %q", got, err, want)
		}
	}
	f()
	server.do(t, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	server.do(t, "CONFIG", "SET", "appendonly", "no")
	f("maxmemory-policy is allkeys-lru; it must be noeviction, or runs may be evicted while they are written",
		"appendonly is no; it must be yes, or runs are lost when Redis stops")
	server.do(t, "ACL", "SETUSER", "default", "-config", "-info")
	f("maxmemory-policy cannot be read; it must be noeviction, or runs may be evicted while they are written",
		"appendonly cannot be read; it must be yes, or runs are lost when Redis stops")
	write(t, s, "r", runs.Origin{CreatedAt: day}, 1, runs.TypeStarted) // without INFO it goes as well
	server.kill(t)
	_, err := s.Check(t.Context())
	wantUnavailable(t, err, server.addr, "")
}
