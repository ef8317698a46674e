package runs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
)

// emptied is a store that can tell a run that it has lost from one that never was.
type emptied struct{ runs.Store }

func (s *emptied) Append(ctx context.Context, bs []runs.Batch) ([]runs.Answer, error) {
	answers, err := s.Store.Append(ctx, bs)
	for i := range answers {
		if answers[i].Outcome == runs.Unknown && bs[i].FirstSeq > 1 {
			answers[i].Outcome = runs.Missing
		}
	}
	return answers, err
}

// replayed is a store that took only some rows of a log.
func replayed(t *testing.T, log []runs.Event, producers map[int64]string) runs.Store {
	t.Helper()
	s, numbers := new(memstore.Store), map[string]int64{}
	for _, e := range log {
		p := producers[e.Seq]
		if p == "" {
			p = "here"
		}
		numbers[p]++
		b := runs.Batch{
			RunID: "r", Begin: &runs.Origin{SessionID: "s", Owner: "me"}, Producer: p, Epoch: 1, FirstSeq: numbers[p], Executor: p == "here",
			Expect: runs.AnySeq, Rows: []runs.Event{e},
		}
		if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
			t.Fatal(a, err)
		}
	}
	return &emptied{s}
}

// texts is a log in a line: seqs and what the deltas say.
func texts(rows []runs.Event) string {
	var words []string
	for _, e := range rows {
		word := string(e.Type)
		if _, text, ok := strings.Cut(string(e.Payload), `"delta":"`); ok {
			word, _, _ = strings.Cut(text, `"`)
		}
		words = append(words, fmt.Sprintf("%d:%s", e.Seq, word))
	}
	return strings.Join(words, " ")
}

// Rows that a store had acknowledged and has not got any more are sent again, under the ids that observers know them by (I2,
// I3); if they cannot be, a row says so and the rest has new ids.
func TestResend(t *testing.T) {
	other := runs.Batch{RunID: "r", Producer: "other", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq, Rows: []runs.Event{{Type: runs.TypeTitleUpdated, Payload: []byte(`{}`)}}}
	f := func(name string, lose func(*testing.T, *faulty, []runs.Event), want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, stop := journal(t, func(o *runs.Options) { o.Resend = true })
				w := begin(t, j, "r")
				for i := range 5 { // 2 to 6, and 4 is another's
					if i == 2 {
						if a, err := s.Append(t.Context(), []runs.Batch{other}); err != nil || a[0].Err() != nil {
							t.Fatal(a, err)
						}
						continue
					}
					add(t, w, delta(string(rune('a'+i))))
					sync(t, w)
				}
				lose(t, s, rows(t, s, "r"))
				add(t, w, delta("new"))
				sync(t, w)
				add(t, w, runs.RunDone{}, runs.RunClosed{})
				sync(t, w)
				if got := texts(rows(t, s, "r")); got != want {
					t.Errorf("log is %s, want %s", got, want)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	by := map[int64]string{4: "other"}
	first := func(n int) func(*testing.T, *faulty, []runs.Event) {
		return func(t *testing.T, s *faulty, log []runs.Event) { s.become(replayed(t, log[:n], by)) }
	}
	f("nothing lost", first(6), "1:run.started 2:a 3:b 4:title.updated 5:d 6:e 7:new 8:done 9:run.closed")
	f("the newest row", first(5), "1:run.started 2:a 3:b 4:title.updated 5:d 6:e 7:new 8:done 9:run.closed")
	f("all behind the other's", first(4), "1:run.started 2:a 3:b 4:title.updated 5:d 6:e 7:new 8:done 9:run.closed")
	f("the other's too", first(3), "1:run.started 2:a 3:b 1048577:journal.gap 1048578:d 1048579:e 1048580:new 1048581:done 1048582:run.closed")
	f("before the other's", first(2), "1:run.started 2:a 3:b 1048577:d 1048578:e 1048579:new 1048580:done 1048581:run.closed")
	f("everything", first(0), "1:run.started 2:a 3:b 1048577:d 1048578:e 1048579:new 1048580:done 1048581:run.closed")
	f("others went on where it was cut", func(t *testing.T, s *faulty, log []runs.Event) {
		first(3)(t, s, log)
		late := other
		late.Rows = make([]runs.Event, 4)
		for i := range late.Rows {
			late.Rows[i] = other.Rows[0]
		}
		if a, err := s.Append(t.Context(), []runs.Batch{late}); err != nil || a[0].Err() != nil {
			t.Fatal(a, err)
		}
	}, "1:run.started 2:a 3:b 4:title.updated 5:title.updated 6:title.updated 7:title.updated "+
		"1048577:journal.gap 1048578:d 1048579:e 1048580:new 1048581:done 1048582:run.closed")
	f("how far the producers had come", func(t *testing.T, s *faulty, log []runs.Event) {
		unknown := map[int64]string{}
		for seq := range int64(7) {
			unknown[seq] = "somebody"
		}
		s.become(replayed(t, log, unknown))
	}, "1:run.started 2:a 3:b 4:title.updated 5:d 6:e 7:new 8:done 9:run.closed")
}

// A takeover remembers no rows of the executor before, so their loss shows.
func TestResendAfterTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) { o.Resend = true })
		add(t, begin(t, j, "r"), delta("before"))
		synctest.Wait()
		time.Sleep(time.Second)
		w, err := j.Take(t.Context(), "r", runs.Redacted)
		if err != nil {
			t.Fatal(err)
		}
		add(t, w, delta("mine"))
		sync(t, w)
		s.become(&emptied{new(memstore.Store)})
		add(t, w, delta("new"))
		sync(t, w)
		p, err := s.Read(t.Context(), "r", 0, 10, 1<<20)
		if got, want := texts(p.Rows), "1048577:journal.gap 1048578:mine 1048579:new"; got != want || err != nil {
			t.Errorf("log is %s (%v), want %s", got, err, want)
		}
		if p.Head.SessionID != "s" || p.Head.Owner != "me" || p.Head.Fence != 2 {
			t.Errorf("the run begun anew is %+v", p.Head)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A run that only waits has lost rows too when the store has, and whoever holds it finds out.
func TestHoldFindsLoss(t *testing.T) {
	f := func(name string, resend bool, want string) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, stop := journal(t, func(o *runs.Options) { o.Resend = resend })
				w := begin(t, j, "r")
				add(t, w, delta("a"), delta("b"))
				sync(t, w)
				s.become(replayed(t, rows(t, s, "r")[:1], nil))
				for range 3 {
					if err := j.Hold(t.Context(), w); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					time.Sleep(time.Second)
				}
				if got := texts(rows(t, s, "r")); got != want {
					t.Errorf("log is %s, want %s", got, want)
				}
				if n := j.Stats().Resent; resend != (n == 2) {
					t.Errorf("%d rows were sent again", n)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	f("with what was lost", true, "1:run.started 2:a 3:b")
	f("without", false, "1:run.started 1048577:journal.gap")
}

// Of a long run only the newest rows are kept, and none that is younger than a minute is forgotten. What is lost beyond them
// shows.
func TestResendIsBounded(t *testing.T) {
	f := func(pause time.Duration, sixth string, behind int) {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, s, stop := journal(t, func(o *runs.Options) { o.Resend = true })
				w := begin(t, j, "r")
				big := strings.Repeat("x", 200<<10)
				for range 30 {
					add(t, w, delta(big))
					sync(t, w)
					time.Sleep(pause)
				}
				s.become(replayed(t, rows(t, s, "r")[:5], nil))
				add(t, w, delta("new"))
				sync(t, w)
				log := rows(t, s, "r")
				if got := line(log[5:6]); got != sixth || len(log)-5 != behind {
					t.Errorf("behind the 5 rows that are left came %d, the first of them %s; want %d and %s", len(log)-5, got, behind, sixth)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	f(10*time.Second, "1048577:journal.gap", 1+20+1)
	f(time.Second, "6:token.delta", 26+1)
}
