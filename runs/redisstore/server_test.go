package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"hermes-hub/runs/redisstore"
)

// server is a redis-server of a test's own.
type server struct {
	addr, dir string
	args      []string
	cmd       *exec.Cmd
}

// serve starts a server that writes all it does to its file.
func serve(t testing.TB, args ...string) *server {
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
	s := &server{addr: l.Addr().String(), dir: tempDir(t)}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "yes", "--repl-diskless-sync-delay", "0"}, args...)
	s.start(t)
	t.Cleanup(func() { s.kill(t) })
	return s
}

// tempDir is a folder in which a process may still be writing that a killed server has forked.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "redisstore")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { await(t, "the last to write", func() bool { return os.RemoveAll(dir) == nil }) })
	return dir
}

// start starts the server and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := s.client(t)
	await(t, "redis-server to answer", func() bool { return c.Ping(t.Context()).Err() == nil })
}

// kill ends the server's process as a crash would, and waits for it.
func (s *server) kill(t testing.TB) {
	if s.cmd == nil {
		return
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL); err != nil { // with what it has forked
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

// client is one with the hub's settings.
func (s *server) client(t testing.TB) *redis.Client { return client(t, s.addr) }

func client(t testing.TB, addr string) *redis.Client {
	c := newClient(addr)
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	return c
}

// patient is a client that waits for answers of any size.
func patient(t testing.TB, addr string) *redis.Client {
	c := newClient(addr)
	c.Options().ReadTimeout = time.Minute
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, DialTimeout: 300 * time.Millisecond, ReadTimeout: time.Second, WriteTimeout: time.Second,
		PoolTimeout: time.Second, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// do is a command that must succeed.
func (s *server) do(t testing.TB, words ...any) any {
	t.Helper()
	v, err := s.client(t).Do(t.Context(), words...).Result()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return v
}

// await polls until something has happened that another process does.
func await(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !happened(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// double is a client of an in-process double of Redis, which does not know the first line of a script.
func double(t testing.TB) *redis.Client {
	c := patient(t, miniredis.RunT(t).Addr()) // it is no quick one under the race detector
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

var prefixes atomic.Int64

func nextPrefix() string { return fmt.Sprintf("hh%d:", prefixes.Add(1)) }

// store is an empty one: it has keys of its own.
// unhurried is a store that is tried for what it does, and not for how fast the machine is.
func unhurried(c redis.UniversalClient) *redisstore.Store {
	return redisstore.New(c, redisstore.Options{Prefix: nextPrefix(), Timeout: time.Minute})
}

func store(c redis.UniversalClient) *redisstore.Store {
	return redisstore.New(c, redisstore.Options{Prefix: nextPrefix()})
}
