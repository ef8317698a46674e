package redisshare

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// server is a redis-server of a test's own.
type server struct {
	addr string
	args []string
	cmd  *exec.Cmd
}

// serve starts a server that keeps nothing.
func serve(t testing.TB) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		const line = "redis-server is not installed: `make deps` says how to get it"
		if os.Getenv("CI") == "true" {
			t.Fatal(line)
		}
		t.Skip(line)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), args: []string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}}
	s.start(t)
	t.Cleanup(func() { s.kill(t) })
	return s
}

// start starts the server and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, s.addr)
	await(t, "redis-server to answer", func() bool { return c.Ping(t.Context()).Err() == nil })
}

// kill ends the server's process as a crash would, and waits for it.
func (s *server) kill(t testing.TB) {
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Errorf("kill redis-server: %v", err)
	}
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}

func (s *server) signal(t testing.TB, sig syscall.Signal) {
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Errorf("%v to redis-server: %v", sig, err)
	}
}

// do is a command that must succeed.
func (s *server) do(t testing.TB, words ...any) any {
	t.Helper()
	v, err := dial(t, s.addr).Do(t.Context(), words...).Result()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return v
}

// dial is a client with the hub's settings.
func dial(t testing.TB, addr string) *redis.Client {
	c := newClient(addr)
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	return c
}

func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, DialTimeout: 300 * time.Millisecond, ReadTimeout: time.Second, WriteTimeout: time.Second,
		PoolTimeout: time.Second, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// await polls until something has happened that another process or goroutine does.
func await(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !happened(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// double is a client of an in-process double of Redis, which does not know the first line of a script.
func double(t testing.TB, m *miniredis.Miniredis) *redis.Client {
	c := dial(t, m.Addr())
	c.AddHook(firstLines{})
	return c
}

// firstLines takes the first line from scripts.
type firstLines struct{}

func (firstLines) DialHook(next redis.DialHook) redis.DialHook { return next }

func (firstLines) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (firstLines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if cmd.Name() == "eval" {
				_, body, _ := strings.Cut(cmd.Args()[1].(string), "\n")
				cmd.Args()[1] = body
			}
		}
		return next(ctx, cmds)
	}
}

// everywhere runs a test over the double and over a real server (X05).
func everywhere(t *testing.T, f func(t *testing.T, client func() redis.UniversalClient)) {
	t.Run("double", func(t *testing.T) {
		m := miniredis.RunT(t)
		f(t, func() redis.UniversalClient { return double(t, m) })
	})
	t.Run("redis", func(t *testing.T) {
		s := serve(t)
		f(t, func() redis.UniversalClient { return dial(t, s.addr) })
	})
}
