package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
)

// hear has a hub listen, until the test ends, to what it is told of.
func hear(t *testing.T, s *redisstore.Store, ring func(string)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Listen(ctx, ring); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

// listening waits until so many connections listen.
func listening(t *testing.T, s *server, n int) {
	t.Helper()
	await(t, "who listens", func() bool {
		return strings.Count(s.do(t, "CLIENT", "LIST", "TYPE", "pubsub").(string), "\n") == n
	})
}

// A hub hears of what another appends without ever looking, and of its own it needs no bell. J08.
func TestBells(t *testing.T) {
	server := serve(t)
	open := func(name string) *redisstore.Store {
		return redisstore.New(server.client(t), redisstore.Options{Instance: name})
	}
	here, there := open("here"), open("there")
	never := func(o *runs.Options) { o.Poll = 0 }
	j, other := journal(t, here, "here", never), journal(t, there, "there", never)
	hear(t, here, func(run string) { t.Errorf("its own bell of %s", run) })
	hear(t, there, other.Ring)
	listening(t, server, 2)
	s := begin(t, j)
	ended := make(chan error, 1)
	go func() { ended <- s.seen.observe(t.Context(), other) }()
	for range 50 {
		s.say(10)
		s.sync()
	}
	s.end()
	<-ended // it would wait for ever
	if log := s.want(here, 0, 0); len(s.seen.rows) != len(log) {
		t.Errorf("%d rows were seen of %d", len(s.seen.rows), len(log))
	}
}

// Whoever listens goes on when the connection was lost, or Redis with it.
func TestBellsAgain(t *testing.T) {
	server := serve(t)
	store := redisstore.New(server.client(t), redisstore.Options{Instance: "here"})
	rung := make(chan string, 100)
	hear(t, redisstore.New(server.client(t), redisstore.Options{Instance: "there"}), func(run string) { rung <- run })
	id, next := "r", int64(1)
	ring := func() {
		t.Helper()
		b := runs.Batch{
			RunID: id, Begin: &runs.Origin{CreatedAt: day}, Producer: "a", Epoch: 1, FirstSeq: next, Expect: runs.AnySeq,
			Rows: []runs.Event{{Type: runs.TypeTokenDelta, CreatedAt: day, Payload: []byte(`{}`)}},
		}
		if a, err := store.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
			t.Fatal(a, err)
		}
		next++
		if run := <-rung; run != id {
			t.Errorf("the bell of %s", run)
		}
	}
	listening(t, server, 1)
	ring()
	server.do(t, "CLIENT", "KILL", "TYPE", "pubsub")
	listening(t, server, 1)
	ring()
	server.kill(t)
	server.start(t)
	listening(t, server, 1)
	id, next = "another", 1 // for the killed server may have lost the last row, which an fsync that was under way held up
	await(t, "connections", func() bool {
		_, err := store.Read(t.Context(), id, 0, 0, 0)
		return errors.Is(err, runs.ErrUnknownRun)
	})
	ring()
}
