package redisshare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"hermes-hub/quota"
)

// bench is a double of Redis whose clock a test sets, in ms.
type bench struct {
	t    *testing.T
	m    *miniredis.Miniredis
	line line
}

func newBench(t *testing.T) *bench {
	m := miniredis.RunT(t)
	return &bench{t, m, &redisLine{client: double(t, m), channel: "bell"}}
}

// run is a script's reply at a time, as words.
func (b *bench) run(at int64, s *script, args ...any) string {
	b.t.Helper()
	b.m.SetTime(time.UnixMilli(at))
	c := &call{script: s, keys: []string{"k", "k2"}, args: args}
	if err := b.line.run(b.t.Context(), []*call{c}); err != nil || c.err != nil {
		b.t.Fatalf("%v: %v, %v", args, err, c.err)
	}
	var words []string
	for _, v := range c.reply {
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, " ")
}

// Counts are granted up to the limit that all share, end by Redis's clock, and are not set back by an old message.
func TestCountsScript(t *testing.T) {
	b := newBench(t)
	f := func(at int64, hub string, version, held, asked, limit any, want string) {
		t.Helper()
		if got := strings.TrimSpace(b.run(at, countsScript, hub, version, held, asked, limit, 1000, "bell", "m")); got != want {
			t.Errorf("%s at %d: %s, want %s", hub, at, got, want)
		}
	}
	// granted, others, before, stale
	f(10_000, "a", 1, 0, 3, 5, "3 0 -1 0")
	f(10_100, "b", 1, 0, 3, 5, "2 3 -1 0")
	f(10_200, "b", 2, 2, 1, 5, "0 3 2 0")
	f(10_200, "a", 2, 3, 1, 3, "0 2 3 0") // a limit that was lowered
	f(10_300, "c", 1, "", 0, 0, "0 5 -1 0")
	f(10_400, "a", 2, 9, 0, 0, "0 2 3 1")
	f(10_400, "a", 1, 9, 0, 0, "0 2 3 1")
	f(10_500, "a", 3, 1, 0, 0, "0 2 3 0")
	f(11_199, "c", 1, "", 0, 0, "0 3 -1 0")
	f(11_200, "c", 1, "", 0, 0, "0 1 -1 0") // b's count has ended
	f(11_200, "b", 3, 2, 0, 0, "0 1 -1 0")
	f(11_300, "a", 4, 0, 0, 0, "0 2 1 0")
	f(11_400, "a", 3, 5, 0, 0, "0 2 0 1") // what is over is remembered as well
}

// What stands of a cause: the later end and the newer sighting, until it is disproved up to a time; what was seen before that
// is refused from whoever does not know of it, and believed from whoever does and has seen it again.
func TestNewsScript(t *testing.T) {
	const cause = "rate_limited||"
	b := newBench(t)
	f := func(at int64, op string, want string) {
		t.Helper()
		args := []any{"bell", "m"}
		for word := range strings.FieldsSeq(op) {
			args = append(args, word)
		}
		b.run(at, newsScript, args...)
		if got := b.m.HGet("k", cause); got != want {
			t.Errorf("%s at %d: %s, want %s", op, at, got, want)
		}
	}
	f(10_000, "block "+cause+" 500 x 5000 0", "15000:9500:0:x")
	f(10_100, "block "+cause+" 100 y 1000 0", "15000:10000:0:x") // a shorter end, seen later
	f(10_200, "block "+cause+" 900 z 9800 0", "20000:10000:0:z") // a longer one, seen earlier
	f(10_300, "over "+cause+" 9000 w 9999 -", "20000:10000:9999:z")
	f(10_300, "over "+cause+" 200 w 9999 -", "20000:10000:10100:z") // as of a call that began then
	f(10_400, "over "+cause+" 9000 w 1 -", "20000:10000:10100:z")
	f(10_500, "block "+cause+" 400 v 5000 0", "20000:10000:10100:z")
	f(10_500, "block "+cause+" 400 v 5000 10100", "15500:10101:10100:v") // not the end that was disproved
	f(10_600, "over "+cause+" 0 w 0 -", "15500:10101:10600:v")
	f(10_700, "block "+cause+" 50 u 5000 0", "15700:10650:10600:u") // nobody need know what is older
	f(10_800, "clear - 20 - - -", "15700:10650:10600:u")
	f(10_900, "block "+cause+" 200 t 9000 10600", "15700:10650:10600:u")
	f(10_900, "block "+cause+" 100 t 5000 0", "15900:10800:10780:t")
	f(11_000, "block auth_required|| 900 s -1 0", "15900:10800:10780:t")
	if got := b.m.HGet("k", "auth_required||"); got != "90000000000000:10100:0:s" {
		t.Errorf("a refused credential, which no operator clears: %s", got)
	}
	f(615_899, "over other|| 0 w 1 -", "15900:10800:10780:t")
	f(615_901, "over another|| 0 w 1 -", "") // what is long over is forgotten
	if got := b.m.HGet("k", "other||"); got != "615899:0:615899:w" {
		t.Errorf("what nobody had told of was disproved: %s", got)
	}
}

// A bond is one with its session and role; the one made last counts, whenever it is told; and who asks for those told since a
// time gets them.
func TestBondsScript(t *testing.T) {
	b := newBench(t)
	f := func(at, since int64, want string, bonds ...any) {
		t.Helper()
		if got := b.run(at, bondsScript, append([]any{"bell", "m", 10_000, 2, since}, bonds...)...); got != want {
			t.Errorf("at %d since %d: %s, want %s", at, since, got, want)
		}
	}
	f(1000, 0, "1000")
	f(1000, 0, "1000 s r 900 a 1000", "s r", "a", 100)
	f(1100, 1001, "1100 t r 1100 b 1100", "t r", "b", 0)
	f(1200, 1101, "1200", "s r", "c", 301)
	f(1200, 1101, "1200 s r 900 c 1200", "s r", "c", 300)
	f(1300, 0, "1300 s r 900 c 1200 u r 1300 d 1300", "u r", "d", 0) // two are kept
	f(11_250, 0, "11250 u r 1300 d 1300 v r 11250 e 11250", "v r", "e", 0)
}

// A block that ended is not the one that another hub tells of later, also where a call has proved the account in between and it
// is no trouble of that call's.
func TestLedgerForgetsWhatEnded(t *testing.T) {
	var l ledger
	l.be("id", "key")
	private := func(quota.State) bool { return false }
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := quota.Block{State: quota.StateCooldown, Class: quota.Overloaded, Scope: quota.ScopeProvider}
	take := func(ms int64, record string) (blocks, again int) {
		at := now.Add(time.Duration(ms) * time.Millisecond)
		news := l.take(&told{when: instant{at, at, ms}, records: map[string]string{b.Cause(): record + string(written(b))}}, private)
		standing := quota.Standing{}
		for _, b := range append(news.Blocks, news.Again...) {
			standing = standing.Heard(b)
		}
		l.knows(standing)
		return len(news.Blocks), len(news.Again)
	}
	for _, c := range []struct {
		ms            int64
		record        string
		blocks, again int
	}{
		{1000, "9000:900:0:", 1, 0},
		{2000, "9000:900:0:", 0, 0},
		{3000, "9500:900:0:", 0, 1},
		{10000, "9500:900:0:", 0, 0},
		{11000, "19500:10900:0:", 1, 0},
		{12000, "19500:10900:10900:", 0, 0},
		{13000, "29500:12900:10900:", 1, 0},
	} {
		if blocks, again := take(c.ms, c.record); blocks != c.blocks || again != c.again {
			t.Errorf("%s at %d: %d blocks, %d again, want %d, %d", c.record, c.ms, blocks, again, c.blocks, c.again)
		}
	}
}
