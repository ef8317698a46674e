package redisstore_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
)

// rounds is how often a server is killed: HUB_KILL_ROUNDS, or 5 times.
func rounds(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("HUB_KILL_ROUNDS"))
	if err != nil {
		return 5
	}
	return n
}

// A server that is killed amid appends has, when it is back, all that it acknowledged, and what it had not is sent again: the
// ids go on as if nothing had been (I1, I2, I7). Nothing that is appended meanwhile waits.
func TestServerKilled(t *testing.T) {
	server := serve(t, "--appendfsync", "everysec")
	store := store(server.client(t))
	s := begin(t, journal(t, store, "here", nil))
	s.watch(journal(t, store, "there", nil))
	for range rounds(t) {
		for range 20 {
			s.say(25)
			s.sync()
		}
		s.say(500) // some of it is under way now
		server.kill(t)
		s.say(500)
		await(t, "commits to fail", func() bool { return s.j.Stats().Degraded })
		server.start(t)
		s.sync()
	}
	s.end()
	s.want(store, 0, 0)
}

// A server that hangs holds up its own calls for as long as their contexts say, and nobody who appends.
func TestServerPaused(t *testing.T) {
	server := serve(t)
	store := store(server.client(t))
	s := begin(t, journal(t, store, "here", nil))
	s.watch(journal(t, store, "there", nil))
	s.say(100)
	s.sync()
	server.signal(t, syscall.SIGSTOP)
	s.say(3000) // J30: they would wait until the end of this test
	await(t, "commits to fail", func() bool { return s.j.Stats().Degraded })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := store.Read(ctx, "r", 0, 1, 1)
	wantUnavailable(t, err, server.addr, "")
	_, err = store.Append(t.Context(), []runs.Batch{{RunID: "q", Begin: &runs.Origin{}}})
	wantUnavailable(t, err, server.addr, "")
	server.signal(t, syscall.SIGCONT)
	s.sync()
	s.end()
	s.want(store, 0, 0)
}

// wantUnavailable wants an error of that kind, and nothing in it that says where Redis is.
func wantUnavailable(t *testing.T, err error, addr, word string) {
	t.Helper()
	_, port, _ := strings.Cut(addr, ":")
	if !errors.Is(err, redisstore.ErrUnavailable) || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), port) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the error is %v, want it to be of an unavailable Redis, and to say %q", err, word)
	}
}

// A server that refuses to write says why, is still read, and is written to when it lets itself.
func TestServerRefuses(t *testing.T) {
	f := func(name, word string, refuse, permit []any) {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			store := store(server.client(t))
			s := begin(t, journal(t, store, "here", nil))
			s.watch(journal(t, store, "there", nil))
			s.say(100)
			s.sync()
			server.do(t, refuse...)
			s.say(300)
			await(t, "commits to fail", func() bool { return s.j.Stats().Degraded })
			_, err := store.Append(t.Context(), []runs.Batch{{RunID: "q", Begin: &runs.Origin{}}})
			wantUnavailable(t, err, server.addr, word)
			if log := logOf(t, store, "r"); log[0].Type != runs.TypeStarted {
				t.Errorf("what can be read begins with %+v", log[0])
			}
			server.do(t, permit...)
			s.sync()
			s.end()
			s.want(store, 0, 0)
		})
	}
	f("read-only", "READONLY", []any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"})
	f("full", "OOM", []any{"CONFIG", "SET", "maxmemory", "1mb"}, []any{"CONFIG", "SET", "maxmemory", "0"})
}

// Nobody is there at the start: a run begins all the same, and is stored when somebody is.
func TestServerLate(t *testing.T) {
	server := serve(t)
	server.kill(t)
	store := store(server.client(t))
	_, err := store.Read(t.Context(), "r", 0, 1, 1)
	wantUnavailable(t, err, server.addr, "no connection")
	_, err = store.List(t.Context(), runs.Filter{})
	wantUnavailable(t, err, server.addr, "no connection")
	j := journal(t, store, "here", nil)
	w, err := j.Begin("r", runs.Origin{SessionID: "s"}, runs.Redacted, runs.RunStarted{Status: runs.Running})
	if err != nil {
		t.Fatal(err)
	}
	s := &scribe{t: t, j: j, w: w, seen: &notebook{rows: map[string]string{}}}
	s.say(10)
	await(t, "commits to fail", func() bool { return j.Stats().Degraded })
	server.start(t)
	s.end()
	s.want(store, 0, 0)
}

// A script that was forgotten is sent anew, and what was behind it in the same step keeps its order, though another hub should
// have sent the script in the meantime.
func TestScriptForgotten(t *testing.T) {
	f := func(name string, forget func(*server, *redis.Client)) {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			c := server.client(t)
			s := store(c)
			for first := int64(1); first < 20; first += 3 {
				forget(server, c)
				var batches []runs.Batch
				for i := range int64(3) {
					batches = append(batches, runs.Batch{
						RunID: "r", Begin: &runs.Origin{CreatedAt: day}, Producer: "a", Epoch: 1, FirstSeq: first + i, Expect: runs.AnySeq,
						Rows: []runs.Event{{Type: runs.TypeTokenDelta, CreatedAt: day, Payload: []byte(`{}`)}},
					})
				}
				answers, err := s.Append(t.Context(), batches)
				if err != nil {
					t.Fatal(err)
				}
				for i, a := range answers {
					if a.Outcome != runs.Stored || a.Last != first+int64(i) {
						t.Errorf("batch %d is %+v", first+int64(i), a)
					}
				}
			}
		})
	}
	f("by the server", func(server *server, _ *redis.Client) { server.do(t, "SCRIPT", "FLUSH") })
	f("for one batch", func(_ *server, c *redis.Client) { c.AddHook(&misnamed{}) })
}

// misnamed has one script's name wrong, once.
type misnamed struct {
	firstLines
	done bool
}

func (m *misnamed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if cmd.Name() == "evalsha" && !m.done {
				cmd.Args()[1], m.done = "0000000000000000000000000000000000000000", true
			}
		}
		return next(ctx, cmds)
	}
}

// A key that another program has written where a run should be hinders that run alone.
func TestForeignKeys(t *testing.T) {
	server := serve(t)
	s := redisstore.New(server.client(t), redisstore.Options{})
	server.do(t, "SET", "hh:{meta}:m", "x")
	server.do(t, "SET", "hh:{rows}:e", "x")
	var batches []runs.Batch
	for _, run := range []string{"meta", "fine", "rows"} {
		batches = append(batches, runs.Batch{
			RunID: run, Begin: &runs.Origin{CreatedAt: day}, Producer: "a", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq,
			Rows: []runs.Event{{Type: runs.TypeTokenDelta, CreatedAt: day, Payload: []byte(`{}`)}},
		})
	}
	answers, err := s.Append(t.Context(), batches)
	if err != nil || answers[0].Outcome != runs.Unknown || answers[1].Outcome != runs.Stored || answers[2].Outcome != runs.Unknown {
		t.Errorf("append: %+v, %v", answers, err)
	}
	if heads, err := s.List(t.Context(), runs.Filter{}); len(heads) != 1 || err != nil {
		t.Errorf("list: %+v, %v", heads, err)
	}
	if _, err := s.Read(t.Context(), "meta", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("read: %v", err)
	}
	if n, err := s.Expire(t.Context(), day.Add(time.Hour), day.Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("expire: %d, %v", n, err)
	}
	if n, err := s.DeleteSession(t.Context(), "", ""); n != 1 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
}
