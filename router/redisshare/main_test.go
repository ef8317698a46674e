package redisshare

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/router"
)

// Variables of a process that is no test but a child of one: where Redis is, and what the child does.
const (
	childAddr = "REDISSHARE_TEST_ADDR"
	childTask = "REDISSHARE_TEST_TASK"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	if addr := os.Getenv(childAddr); addr != "" {
		if err := child(addr, os.Getenv(childTask)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// silent is the driver's log, of which these tests would make much.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// childTTL is how long a count of a child lasts.
const childTTL = 1500 * time.Millisecond

// child is a hub in a process of its own. It holds all slots of an account until it is killed, or storms one.
func child(addr, task string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	accounts := []router.Profile{account("a", 5, router.LeaseStrict)}
	tab, err := router.NewTable(accounts, []router.Role{{ID: "r", Chain: []router.ChainItem{{Profile: "a"}}}}, router.Settings{
		Failover: true, Protocols: []router.Protocol{router.ProtocolChat},
	})
	if err != nil {
		return err
	}
	c := newClient(addr)
	s := New(c, patient(fmt.Sprint("child-", os.Getpid())))
	s.ttl = childTTL
	h := &hub{Router: router.New(tab, router.Options{Peers: s}), share: s}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, h.Router) }()
	for s.Stats().Hubs < 2 {
		time.Sleep(time.Millisecond)
	}
	if task == "hold" {
		for range 5 {
			if h.acquire("a") == nil {
				return fmt.Errorf("refused")
			}
		}
		fmt.Println("held")
		select {}
	}
	for range 300 {
		l := h.acquire("a")
		if l == nil {
			continue
		}
		// Redis counts who is between these two lines, in whichever process.
		if n := c.Incr(ctx, "running").Val(); n > 5 {
			return fmt.Errorf("%d of 5 slots were held at once", n)
		}
		c.Incr(ctx, "leases")
		c.Decr(ctx, "running")
		l.Release()
	}
	cancel()
	return <-ended
}

// childOf starts a process for a task.
func childOf(t *testing.T, s *server, task string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childAddr+"="+s.addr, childTask+"="+task)
	return cmd
}

// L08: hubs in processes of their own keep to one limit.
func TestProcesses(t *testing.T) {
	s := serve(t)
	var all []*exec.Cmd
	var output [3]strings.Builder
	for i := range output {
		cmd := childOf(t, s, "storm")
		cmd.Stderr = &output[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("hub %d: %v: %s", i, err, output[i].String())
		}
	}
	if n, _ := dial(t, s.addr).Get(t.Context(), "leases").Int(); n < 100 {
		t.Errorf("there were %d leases", n)
	}
}

// L05: a hub's process is killed with all slots held: they are free when its counts are over.
func TestProcessKilled(t *testing.T) {
	s := serve(t)
	share := New(dial(t, s.addr), patient("here"))
	share.ttl = childTTL
	here := startOver(t, share, account("a", 5, router.LeaseStrict))
	cmd := childOf(t, s, "hold")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Errorf("the child says %q, %v", line, err)
	}
	if here.acquire("a") != nil {
		t.Error("a slot is lent twice")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	await(t, "the slots to be free", func() bool { return here.sees("a") == 0 })
	release(here.acquires(t, "a", 5))
}
