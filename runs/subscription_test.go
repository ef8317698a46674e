package runs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
)

// observe reads a run from a cursor to its end and tells what was delivered, word by word.
func observe(ctx context.Context, j *runs.Journal, run, cursor string) (string, error) {
	s, head, err := j.Subscribe(ctx, run, cursor)
	if err != nil || head.Expired {
		return "", err
	}
	defer s.Close()
	var words []string
	for {
		d, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return strings.Join(append(words, "EOF"), " "), nil
		}
		if err != nil {
			return strings.Join(words, " "), err
		}
		if d.Reset != "" {
			words = append(words, "reset:"+string(d.Reset))
		}
		if d.Gap != (runs.Gap{}) {
			words = append(words, fmt.Sprintf("gap:%d-%d:%s", d.Gap.From, d.Gap.To, d.Gap.Reason))
		}
		for _, e := range d.Rows {
			words = append(words, fmt.Sprint(e.Seq))
		}
		if d.CaughtUp {
			words = append(words, "caught-up")
		}
	}
}

// upTo is the seqs of from..to in a line.
func upTo(from, to int) string {
	var words []string
	for ; from <= to; from++ {
		words = append(words, fmt.Sprint(from))
	}
	return strings.Join(words, " ")
}

// J04, J08 to J12: whoever comes to a run that has ended gets what is after its cursor, once, and the end.
// Story: a hub kept its newest seq in memory, and after a restart replayed nothing until the first append; here another
// journal, which never wrote anything, serves the run. Another hub's replay stopped after 1,000 rows.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		for range 2500 {
			add(t, w, runs.Progress{})
		}
		add(t, w, runs.RunDone{}, runs.RunClosed{})
		last := int(sync(t, w))
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		restarted := runs.New(runs.Options{Store: s.store(), Instance: "later"})
		f := func(cursor, want string) {
			t.Helper()
			if got, err := observe(t.Context(), restarted, "r", cursor); got != want || err != nil {
				t.Errorf("from %q: %.200s, %v, want %.200s", cursor, got, err, want)
			}
		}
		all := upTo(1, last) + " caught-up EOF"
		f("", all)
		f("r:2", upTo(3, last)+" caught-up EOF")
		f("2400", upTo(2401, last)+" caught-up EOF")
		f(fmt.Sprint("r:", last), "caught-up EOF") // J09
		f("99999", "reset:cursor_ahead "+all)
		f("other:5", "reset:cursor_foreign "+all)
		f("abc", "reset:cursor_malformed "+all)
		if n := restarted.Stats().Subscribers; n != 0 {
			t.Errorf("%d subscribers are left", n)
		}
	})
}

// J05, J08, E04, E10, I4: observers that come, go and come back while a run is written get every row once, in order, and only
// committed ones, however slowly they read.
func TestObserversWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		const total = 3000
		var finished atomic.Int64
		for n := range 20 {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			go func() {
				cursor, seen := "", int64(0)
				for ended := false; !ended; {
					sub, _, err := j.Subscribe(t.Context(), "r", cursor)
					for err == nil && random.IntN(10) > 0 && !ended { // now and then it leaves
						var d runs.Delivery
						d, err = sub.Next(t.Context())
						if ended = errors.Is(err, io.EOF); ended {
							break
						}
						if d.Reset != "" || d.Gap != (runs.Gap{}) {
							t.Errorf("observer %d was told %+v", n, d)
						}
						for _, e := range d.Rows {
							if seen++; e.Seq != seen || e.Seq > d.Head.Last {
								t.Errorf("observer %d got %d, want %d of %d", n, e.Seq, seen, d.Head.Last)
							}
							cursor = e.ID()
						}
						time.Sleep(time.Duration(random.IntN(1+n*n)) * time.Millisecond)
					}
					if sub != nil {
						sub.Close()
					}
					if err != nil && !ended && !errors.Is(err, runs.ErrUnknownRun) { // not begun yet
						t.Errorf("observer %d: %v", n, err)
						return
					}
					time.Sleep(time.Millisecond)
				}
				if seen == total+3 {
					finished.Add(1)
				}
			}()
		}
		for range total {
			add(t, w, runs.Progress{})
			time.Sleep(time.Millisecond)
		}
		add(t, w, runs.RunDone{}, runs.RunClosed{})
		time.Sleep(time.Hour)
		if finished.Load() != 20 || j.Stats().Subscribers != 0 {
			t.Errorf("%d observers have everything, %d are left", finished.Load(), j.Stats().Subscribers)
		}
		if n := s.reads.Load(); n > 20_000 {
			t.Errorf("%d reads", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Thousands of observers of one run cost one read a bell.
func TestOneReadPerBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		var got atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		for range 2000 {
			go func() {
				sub, _, err := j.Subscribe(ctx, "r", "1")
				if err != nil {
					t.Error(err)
					return
				}
				defer sub.Close()
				for err == nil {
					var d runs.Delivery
					d, err = sub.Next(ctx)
					got.Add(int64(len(d.Rows)))
				}
			}()
		}
		synctest.Wait()
		before := s.reads.Load()
		for range 10 {
			add(t, w, delta("x"))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if reads := s.reads.Load() - before; reads > 10 || got.Load() != 20_000 {
			t.Errorf("%d reads for 10 bells, %d rows delivered", reads, got.Load())
		}
		if n := j.Stats().Subscribers; n != 2000 {
			t.Errorf("%d subscribers", n)
		}
		cancel()
		synctest.Wait()
		if n := j.Stats().Subscribers; n != 0 { // E03
			t.Errorf("%d subscribers are left", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// J17, J18: the stream ends after the closing row, or two seconds after a terminal row that none follows.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, nil)
		closed, open := begin(t, j, "closed"), begin(t, j, "open")
		sync(t, closed)
		sync(t, open)
		type end struct {
			words string
			after time.Duration
		}
		ends := map[string]chan end{"closed": make(chan end, 1), "open": make(chan end, 1)}
		start := time.Now()
		for run, c := range ends {
			go func() {
				words, err := observe(t.Context(), j, run, "")
				if err != nil {
					t.Error(err)
				}
				c <- end{words, time.Since(start)}
			}()
		}
		time.Sleep(time.Minute)
		add(t, closed, runs.RunDone{})
		add(t, open, runs.RunDone{})
		time.Sleep(time.Second)
		add(t, closed, runs.TitleUpdated{}, runs.RunClosed{})
		if got := <-ends["closed"]; got.words != "1 caught-up 2 3 4 EOF" || got.after > time.Minute+time.Second+10*time.Millisecond {
			t.Errorf("with a closing row: %+v", got)
		}
		if got := <-ends["open"]; got.words != "1 caught-up 2 EOF" || got.after > time.Minute+2*time.Second+10*time.Millisecond || got.after < time.Minute+2*time.Second {
			t.Errorf("without a closing row: %+v", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Rows that are lost, expired or deleted under an observer are told, never skipped.
func TestLogChangesUnderObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		f := func(run string, change func(*runs.Writer), want string, wantErr error) {
			t.Helper()
			w := begin(t, j, run)
			add(t, w, delta("1"))
			sync(t, w)
			type end struct {
				words string
				err   error
			}
			ended := make(chan end, 1)
			go func() {
				words, err := observe(t.Context(), j, run, "")
				ended <- end{words, err}
			}()
			synctest.Wait()
			change(w)
			if got := <-ended; got.words != want || !errors.Is(got.err, wantErr) {
				t.Errorf("%s: %s, %v, want %s, %v", run, got.words, got.err, want, wantErr)
			}
		}
		f("deleted", func(*runs.Writer) {
			if _, err := j.DeleteSession(t.Context(), "me", "s"); err != nil {
				t.Error(err)
			}
			j.Ring("deleted")
		}, "1 2 caught-up", runs.ErrUnknownRun)
		f("lost", func(w *runs.Writer) {
			kept := s.store()
			s.become(&forgetful{Store: kept})
			add(t, w, delta("lost"))
			sync(t, w)
			s.become(kept)
			add(t, w, runs.RunDone{}, runs.RunClosed{})
		}, "1 2 caught-up 1048577 1048578 1048579 EOF", nil)
		f("rolled-back", func(w *runs.Writer) {
			add(t, w, delta("seen, then lost"))
			sync(t, w)
			synctest.Wait()
			s.become(rolledBack(t, s.store(), "rolled-back", 2))
			add(t, w, runs.RunDone{}, runs.RunClosed{})
		}, "1 2 caught-up 3 reset:epoch_changed 1 2 1048577 1048578 1048579 caught-up EOF", nil)
		f("expired", func(w *runs.Writer) {
			add(t, w, runs.RunDone{})
			time.Sleep(time.Second)
			if n, err := j.Expire(t.Context(), 0); n == 0 || err != nil {
				t.Errorf("expired %d, %v", n, err)
			}
			j.Ring("expired")
		}, "1 2 caught-up 3 EOF", nil)
		if sub, head, err := j.Subscribe(t.Context(), "expired", ""); sub != nil || !head.Expired || err != nil {
			t.Errorf("subscribing to a tombstone: %v, %+v, %v", sub, head, err)
		}
		if _, _, err := j.Subscribe(t.Context(), "nobody", ""); !errors.Is(err, runs.ErrUnknownRun) {
			t.Errorf("subscribing to no run: %v", err)
		}
		if n := j.Stats().Subscribers; n != 0 {
			t.Errorf("%d subscribers are left", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// What another process commits is seen when somebody rings for it, or at the next poll.
func TestOthersRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		polling := runs.New(runs.Options{Store: s, Instance: "there", Poll: time.Second})
		deaf := runs.New(runs.Options{Store: s, Instance: "elsewhere"})
		var polled, heard atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		for other, n := range map[*runs.Journal]*atomic.Int64{polling: &polled, deaf: &heard} {
			sub, _, err := other.Subscribe(ctx, "r", "1")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer sub.Close()
				for err == nil {
					var d runs.Delivery
					d, err = sub.Next(ctx)
					n.Add(int64(len(d.Rows)))
				}
			}()
		}
		synctest.Wait()
		add(t, w, delta("x"))
		time.Sleep(1100 * time.Millisecond)
		if polled.Load() != 1 || heard.Load() != 0 {
			t.Errorf("after a poll: %d and %d rows", polled.Load(), heard.Load())
		}
		deaf.Ring("r")
		deaf.Ring("nobody")
		synctest.Wait()
		if heard.Load() != 1 {
			t.Errorf("after the bell: %d rows", heard.Load())
		}
		cancel()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
