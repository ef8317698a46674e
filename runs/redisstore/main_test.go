package redisstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
	"hermes-hub/runs/storetest"
)

// Variables of a process that is no test but a child of one.
const (
	childAddr     = "REDISSTORE_TEST_ADDR"
	childRound    = "REDISSTORE_TEST_ROUND"    // of storetest.Kill
	childProducer = "REDISSTORE_TEST_PRODUCER" // else: writes as this one
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	if addr := os.Getenv(childAddr); addr != "" {
		if err := child(addr); err != nil {
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

// child writes until it is killed, or its share of J03.
func child(addr string) error {
	ctx := context.Background()
	s := redisstore.New(newClient(addr), redisstore.Options{})
	if p := os.Getenv(childProducer); p != "" {
		return share(ctx, s, p)
	}
	round, err := strconv.Atoi(os.Getenv(childRound))
	if err != nil {
		return err
	}
	return storetest.Write(ctx, s, round, os.Stdout)
}

// each is how many rows each of two racing producers appends.
const each = 1000

// share appends one producer's rows, every third of them twice.
func share(ctx context.Context, s runs.Store, producer string) error {
	for i := range int64(each) {
		b := runs.Batch{
			RunID: "r", Begin: &runs.Origin{CreatedAt: day}, Producer: producer, Epoch: 1, FirstSeq: i + 1, Expect: runs.AnySeq,
			Rows: []runs.Event{{Type: runs.TypeTokenDelta, CreatedAt: day, Payload: fmt.Appendf(nil, `{"delta":"%s.%d"}`, producer, i)}},
		}
		for range 1 + max(0, i%3-1) {
			answers, err := s.Append(ctx, []runs.Batch{b})
			if err == nil {
				err = answers[0].Err()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// childOf is this test program as a child that writes to the server.
func childOf(addr string, variable ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), childAddr+"="+addr), variable...)
	c.Stderr = os.Stderr
	return c
}

// J03: two processes append to one run, and neither knows of the other.
func TestTwoProcesses(t *testing.T) {
	server := serve(t)
	children := []*exec.Cmd{childOf(server.addr, childProducer+"=a"), childOf(server.addr, childProducer+"=b")}
	for _, c := range children {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	log := logOf(t, redisstore.New(server.client(t), redisstore.Options{}), "r")
	if len(log) != 2*each {
		t.Fatalf("%d rows, want %d", len(log), 2*each)
	}
	next := map[string]int{}
	for i, e := range log {
		p, n, _ := strings.Cut(said(e), ".")
		if e.Seq != int64(i+1) || n != strconv.Itoa(next[p]) {
			t.Fatalf("row %d is %s of producer %s, under the seq %d", i+1, n, p, e.Seq)
		}
		next[p]++
	}
}

// X03. HUB_KILL_ROUNDS says how often. The server lives on; TestServerKilled is about those that do not.
func TestKill(t *testing.T) {
	server := serve(t)
	storetest.Kill(t, os.Getenv("HUB_KILL_ROUNDS"),
		func(_ testing.TB, round int) *exec.Cmd {
			return childOf(server.addr, fmt.Sprint(childRound, "=", round))
		},
		func(t testing.TB) runs.Store { // hundreds of rounds make one page of tens of thousands of rows
			return redisstore.New(patient(t, server.addr), redisstore.Options{Timeout: time.Minute})
		})
}
