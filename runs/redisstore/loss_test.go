package redisstore_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
)

// A Redis that was emptied under a run gets all of it again, under the same ids; or a row that says what is lost.
func TestFlushed(t *testing.T) {
	f := func(name string, resend, hold bool, gaps int, epoch int64) {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			store := store(server.client(t))
			j := journal(t, store, "here", func(o *runs.Options) { o.Resend = resend })
			s := begin(t, j)
			s.watch(journal(t, store, "there", nil))
			s.say(100)
			s.sync()
			last := headOf(t, store).Last
			server.do(t, "FLUSHALL")
			if hold {
				if err := j.Hold(t.Context(), s.w); err != nil {
					t.Fatal(err)
				}
				await(t, "the lost rows", func() bool { p, err := store.Read(t.Context(), "r", 0, 0, 0); return err == nil && p.Head.Last == last })
			}
			s.say(10)
			s.sync()
			for _, filter := range []runs.Filter{{}, {Active: true}, {Owner: "me"}, {Owner: "me", SessionID: "s"}} {
				if heads, err := store.List(t.Context(), filter); len(heads) != 1 || err != nil {
					t.Errorf("list %+v: %+v, %v", filter, heads, err)
				}
			}
			s.end()
			log := s.want(store, gaps, epoch)
			if resend && log[0].Seq != 1 {
				t.Errorf("the log begins with %+v", log[0])
			}
		})
	}
	f("while it writes", true, false, 0, 0)
	f("while it waits", true, true, 0, 0)
	f("and nothing was kept", false, false, 1, 1)
}

// A run that was deleted is not lost: its writer stops, and it does not come back.
func TestDeletedIsNotLost(t *testing.T) {
	store := store(serve(t).client(t))
	f := func(name string, go_on func(*scribe)) {
		t.Run(name, func(t *testing.T) {
			s := begin(t, journal(t, store, "here", nil))
			s.say(10)
			s.sync()
			if n, err := store.DeleteSession(t.Context(), "me", "s"); n != 1 || err != nil {
				t.Fatalf("delete: %d, %v", n, err)
			}
			go_on(s)
			<-s.w.Lost()
			if _, err := store.Read(t.Context(), "r", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
				t.Errorf("read: %v", err)
			}
		})
	}
	f("while it writes", func(s *scribe) { s.say(1) })
	f("while it waits", func(s *scribe) {
		if err := s.j.Hold(s.t.Context(), s.w); err != nil {
			s.t.Error(err)
		}
	})
}

// Of a run either key may be lost without the other. What is left of it is told, and the log goes on behind it.
func TestHalfLost(t *testing.T) {
	begun := func(t *testing.T) (*server, *redisstore.Store, *scribe) {
		server := serve(t)
		store := redisstore.New(server.client(t), redisstore.Options{})
		s := begin(t, journal(t, store, "here", nil))
		s.watch(journal(t, store, "there", nil))
		s.say(10)
		s.sync()
		return server, store, s
	}
	t.Run("meta, found by its writer", func(t *testing.T) {
		server, store, s := begun(t)
		before := headOf(t, store)
		server.do(t, "DEL", "hh:{r}:m")
		after := headOf(t, store)
		before.Fence, before.Holder, before.HeldAt, before.Bytes = after.Fence, after.Holder, after.HeldAt, after.Bytes
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the head made of the rows: %s", diff)
		}
		s.say(10)
		s.end()
		s.want(store, 0, 0)
	})
	t.Run("meta, found by another", func(t *testing.T) {
		server, store, s := begun(t)
		server.do(t, "DEL", "hh:{r}:m")
		if err := journal(t, store, "other", nil).Interrupt(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if log := s.want(store, 0, 1); log[len(log)-2].Seq != 1<<20+1 || headOf(t, store).End != runs.EndInterruptedByCrash {
			t.Errorf("the log ends with %+v", log[len(log)-2:])
		}
	})
	t.Run("an old meta", func(t *testing.T) {
		server, store, s := begun(t)
		old := server.do(t, "DUMP", "hh:{r}:m")
		s.say(10)
		s.sync()
		server.do(t, "RESTORE", "hh:{r}:m", "0", old, "REPLACE")
		if h := headOf(t, store); h.Last <= 11 {
			t.Errorf("the head is %+v", h)
		}
		s.say(10)
		s.end()
		s.want(store, 0, 0)
	})
	t.Run("rows", func(t *testing.T) {
		server, store, s := begun(t)
		server.do(t, "DEL", "hh:{r}:e")
		p, err := store.Read(t.Context(), "r", 0, 10, 1<<20)
		if h := p.Head; len(p.Rows) != 0 || h.First != 0 || h.Last != 11 || h.Expired || err != nil {
			t.Errorf("what is left is %+v, %v", p, err)
		}
		s.say(1)
		s.sync()
		sub, _, err := s.j.Subscribe(t.Context(), "r", "2")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if d, err := sub.Next(t.Context()); d.Gap.From != 3 || d.Gap.To != 11 || err != nil {
			t.Errorf("an observer behind row 2 gets %+v, %v", d, err)
		}
		s.end()
		if log := logOf(t, store, "r"); log[0].Seq != 12 || len(log) != 3 {
			t.Errorf("the log is %+v", log)
		}
	})
}

func headOf(t *testing.T, s runs.Store) runs.Head {
	t.Helper()
	p, err := s.Read(t.Context(), "r", 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p.Head
}

// A head that is made of rows tells all that they tell: of jumps, of the end, and of the rows that may follow it.
func TestHeadOfRows(t *testing.T) {
	server := serve(t)
	f := func(name string, types ...runs.Type) {
		t.Run(name, func(t *testing.T) {
			server.do(t, "FLUSHALL")
			s, next := redisstore.New(server.client(t), redisstore.Options{}), int64(1)
			for _, of := range types {
				b := runs.Batch{RunID: "r", Begin: &runs.Origin{SessionID: "s", Owner: "me", CreatedAt: day}, Producer: "a", Epoch: 1, FirstSeq: next, Expect: runs.AnySeq}
				if of == runs.TypeGap {
					b.Heal, b.Expect = true, next+1
				}
				b.Rows = []runs.Event{{Type: of, CreatedAt: day, Terminal: of == runs.TypeDone, Payload: []byte(`{"terminal_state":"tool_limit_reached"}`)}}
				if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
					t.Fatal(a, err)
				}
				next++
			}
			want := headOf(t, s)
			server.do(t, "DEL", "hh:{r}:m")
			got := headOf(t, s)
			want.Bytes = 0
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	f("one row", runs.TypeStarted)
	f("jumps", runs.TypeStarted, runs.TypeTokenDelta, runs.TypeGap, runs.TypeGap, runs.TypeTokenDelta)
	f("title before the end", runs.TypeStarted, runs.TypeTitleUpdated)
	f("ended", runs.TypeStarted, runs.TypeTitleUpdated, runs.TypeDone)
	f("and more", runs.TypeStarted, runs.TypeDone, runs.TypeTitleUpdated, runs.TypeUsageFinal)
	f("closed", runs.TypeStarted, runs.TypeGap, runs.TypeDone, runs.TypeTitleUpdated, runs.TypeClosed)
	many := []runs.Type{runs.TypeStarted, runs.TypeDone}
	for range 200 {
		many = append(many, runs.TypeTitleUpdated)
	}
	f("long after the end", append(many, runs.TypeClosed)...)
}
