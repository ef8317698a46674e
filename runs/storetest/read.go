package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/runs"
)

func testPages(t *testing.T, s runs.Store) {
	if _, err := s.Read(t.Context(), "r", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("read of no run: %v", err)
	}
	must(t, s, batch("r", "a", 1, rows("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")...))
	must(t, s, batch("other", "a", 1, rows("no")...))
	size := len(`{"delta":"1"}`)
	for _, c := range []struct {
		after         int64
		limit, budget int
		want          string
	}{
		{7, 100, 1 << 20, "8=8 9=9 10=10"},
		{0, 2, 1 << 20, "1=1 2=2"},
		{9, 1, 1 << 20, "10=10"},
		{10, 5, 1 << 20, ""},
		{1 << 60, 5, 1 << 20, ""},
		{0, 0, 1 << 20, ""},
		{0, 5, 2 * size, "1=1 2=2"},
		{3, 5, 1, "4=4"},
	} {
		p, err := s.Read(t.Context(), "r", c.after, c.limit, c.budget)
		if got := text(p.Rows); got != c.want || err != nil {
			t.Errorf("after %d, at most %d rows of %d bytes: %q (%v), want %q", c.after, c.limit, c.budget, got, err, c.want)
		}
		if p.Head.Last != 10 {
			t.Errorf("after %d the head's last is %d", c.after, p.Head.Last)
		}
	}
}

// Readers page through a run while it is written: whatever they piece together is the log.
func testReaders(t *testing.T, s runs.Store) {
	const total = 500
	must(t, s, batch("r", "a", 1, row("0")))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := int64(1); i < total; i++ {
			if a, err := s.Append(t.Context(), []runs.Batch{batch("r", "a", i+1, row(fmt.Sprint(i)))}); err != nil || a[0].Err() != nil {
				t.Errorf("append: %v, %v", a, err)
				return
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			for seen := int64(0); seen < total; {
				p, err := s.Read(t.Context(), "r", seen, 7, 1<<20)
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				runtime.Gosched() // an observer waits for a bell; the writer waits for neither
				if n := int64(len(p.Rows)); n < 7 && seen+n != p.Head.Last {
					t.Errorf("a page of %d rows after %d ends before the head %d", n, seen, p.Head.Last)
					return
				}
				for _, e := range p.Rows {
					if seen++; e.Seq != seen || string(e.Payload) != fmt.Sprintf(`{"delta":"%d"}`, seen-1) || e.Seq > p.Head.Last {
						t.Errorf("row %d is %s %s, head %d", seen, e.ID(), e.Payload, p.Head.Last)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func testList(t *testing.T, s runs.Store) {
	begin := func(run, owner, session string, minute int, texts ...string) {
		b := batch(run, "a", 1, rows(texts...)...)
		b.Begin = &runs.Origin{SessionID: session, Owner: owner, CreatedAt: day.Add(time.Duration(minute) * time.Minute)}
		must(t, s, b)
	}
	begin("r1", "me", "s", 1, "x", "done")
	begin("r3", "me", "s", 3, "x")
	begin("r2", "me", "t", 2, "x")
	begin("r2b", "me", "t", 2, "x")
	begin("r4", "you", "s", 4, "x")
	for _, c := range []struct {
		f    runs.Filter
		want string
	}{
		{runs.Filter{}, "r4 r3 r2b r2 r1"},
		{runs.Filter{Owner: "me"}, "r3 r2b r2 r1"},
		{runs.Filter{Owner: "me", SessionID: "s"}, "r3 r1"},
		{runs.Filter{Owner: "me", SessionID: "s", Active: true}, "r3"}, // J31
		{runs.Filter{Limit: 2}, "r4 r3"},
		{runs.Filter{Limit: 2, After: runs.Head{RunID: "r3", CreatedAt: day.Add(3 * time.Minute)}}, "r2b r2"},
		{runs.Filter{After: runs.Head{RunID: "r2b", CreatedAt: day.Add(2 * time.Minute)}}, "r2 r1"},
		{runs.Filter{Owner: "nobody"}, ""},
	} {
		heads, err := s.List(t.Context(), c.f)
		var got []string
		for _, h := range heads {
			got = append(got, h.RunID)
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("list %+v: %s (%v), want %s", c.f, got, err, c.want)
		}
	}
}

func testExpire(t *testing.T, s runs.Store) {
	must(t, s, batch("ended", "a", 1, rows("x", "done", "close")...))
	must(t, s, batch("live", "a", 1, rows("x")...))
	expire := func(ended, forgotten time.Duration, want int) {
		t.Helper()
		if n, err := s.Expire(t.Context(), day.Add(ended), day.Add(forgotten)); n != want || err != nil {
			t.Errorf("expire: %d, %v, want %d", n, err, want)
		}
	}
	expire(-time.Hour, -2*time.Hour, 0)
	wantLog(t, s, "ended", "1=x 2=done 3=close")
	expire(time.Hour, -2*time.Hour, 1)
	expire(time.Hour, -2*time.Hour, 0)
	p := page(t, s, "ended", 0, 10)
	if len(p.Rows) != 0 || !p.Head.Expired || p.Head.Active() || p.Head.End != runs.EndCompleted || p.Head.SessionID != "s" || p.Head.Owner != "me" || p.Head.Last != 3 {
		t.Errorf("the tombstone is %+v", p)
	}
	wantAnswer(t, s, batch("ended", "b", 1, row("late")), "unknown_run 0..3 e0 p0:0")
	if heads, err := s.List(t.Context(), runs.Filter{}); len(heads) != 1 || heads[0].RunID != "live" || err != nil {
		t.Errorf("list shows %+v, %v", heads, err)
	}
	expire(time.Hour, time.Hour, 0)
	if _, err := s.Read(t.Context(), "ended", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("a forgotten run reads %v", err)
	}
	wantLog(t, s, "live", "1=x")
}

func testDelete(t *testing.T, s runs.Store) {
	must(t, s, batch("r", "a", 1, rows("x", "done")...))
	must(t, s, batch("q", "a", 1, rows("x")...))
	other := batch("o", "a", 1, rows("x")...)
	other.Begin = &runs.Origin{SessionID: "s", Owner: "you", CreatedAt: day}
	must(t, s, other)
	if n, err := s.DeleteSession(t.Context(), "me", "s"); n != 2 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	if _, err := s.Read(t.Context(), "r", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("a deleted run reads %v", err)
	}
	late := batch("q", "a", 2, row("late"))
	late.Begin = nil
	wantAnswer(t, s, late, "unknown_run 0..0 e0 p0:0")
	wantAnswer(t, s, batch("r", "a", 1, row("new")), "stored 1..1 e0 p1:1")
	wantLog(t, s, "r", "1=new")
	wantLog(t, s, "o", "1=x")
}

func testPayloads(t *testing.T, s runs.Store) {
	big, _ := json.Marshal(map[string]string{"delta": strings.Repeat("ж\u0000", 1<<17)}) // strings cannot fail
	payloads := []string{`{}`, `{"a":"\u0000\ud800\u2028","n":1e400,"b":[null,true]}`, `{"delta":"日本 'q' \" \\"}`, string(big)}
	for i, p := range payloads {
		e := row("x")
		e.Payload = json.RawMessage(p)
		must(t, s, batch("r", "a", int64(i+1), e))
	}
	for i, e := range page(t, s, "r", 0, 10).Rows {
		if !bytes.Equal(e.Payload, []byte(payloads[i])) {
			t.Errorf("payload %d came back as %.80s", i, e.Payload)
		}
	}
}
