package redisshare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"pgregory.net/rapid"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// lossy is a line whose next calls may be lost on the way there, or their replies on the way back.
type lossy struct {
	line
	there, back bool
	calls       int
}

func (l *lossy) run(ctx context.Context, calls []*call) error {
	l.calls++
	if l.there {
		return fmt.Errorf("%w: no connection", ErrUnavailable)
	}
	err := l.line.run(ctx, calls)
	if l.back {
		for _, c := range calls {
			c.reply = nil
		}
		return fmt.Errorf("%w: no connection", ErrUnavailable)
	}
	return err
}

// Several hubs learn of one account in any order, tell each other when they come to it, or fail to, and Redis may lose
// everything. Once they have all heard of each other they agree; what was refused last stands with all of them, for as long as
// was said; what was disproved after, by one who had told of it or heard, or by an operator, stands with none; and then they
// are quiet.
func TestNewsConverge(t *testing.T) {
	m := miniredis.RunT(t)
	client := double(t, m)
	rapid.Check(t, func(t *rapid.T) {
		m.FlushAll()
		w := &world{t: t, m: m, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), refused: map[string]sighting{}, over: map[string]time.Time{}, doubted: map[string]time.Time{}}
		m.SetTime(w.now)
		for i := range 3 {
			w.join(i, &redisLine{client: client, channel: "hh:accounts"})
		}
		draw := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
		for range draw(40, "steps") {
			h := w.hubs[draw(2, "hub")]
			switch draw(11, "step") {
			case 0, 1, 2, 3:
				w.refuse(h, kinds[draw(len(kinds)-1, "kind")], time.Duration(1+draw(600, "minutes"))*time.Minute)
			case 4, 5:
				w.succeed(h, time.Duration(draw(20, "seconds ago"))*time.Second)
			case 6:
				w.clear(h)
			case 7:
				w.flush(draw(9, "flush") == 9)
			default:
				l := h.share.line.(*lossy)
				l.there, l.back = draw(5, "lost there") == 5, draw(5, "lost back") == 5
				h.share.exchange(context.Background(), false)
				l.there, l.back = false, false
			}
			w.pass(time.Duration(10+draw(30_000, "ms")) * time.Millisecond)
		}
		w.settle()
		w.check()
	})
}

// kinds are refusals of different causes.
var kinds = []quota.Reading{
	{Class: quota.QuotaExhausted, Scope: quota.ScopeAccount},
	{Class: quota.RateLimited, Scope: quota.ScopeAccount},
	{Class: quota.QuotaExhausted, Scope: quota.ScopeFamily},
	{Class: quota.Overloaded, Scope: quota.ScopeProvider},
	{Class: quota.AuthInvalid, Scope: quota.ScopeAccount},
}

// world is what the test knows of the hubs from outside.
type world struct {
	t       *rapid.T
	m       *miniredis.Miniredis
	now     time.Time
	hubs    []*hub
	refused map[string]sighting  // by cause: the newest
	over    map[string]time.Time // by cause: when the newest call began that disproved it, or an operator's word
	doubted map[string]time.Time // by cause: when the newest call began that may have
	lost    bool                 // Redis lost what was disproved
}

type sighting struct{ at, until time.Time }

func (w *world) join(i int, l line) {
	s := newShare(&lossy{line: l}, Options{Instance: fmt.Sprint("hub-", i+1)})
	clock := func() time.Time { return w.now }
	s.now = clock
	h := &hub{Router: router.New(tableOf(w.t, account("a", 0, "")), router.Options{Peers: s, Now: clock}), share: s}
	s.router.Store(h.Router)
	w.hubs = append(w.hubs, h)
}

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.m.SetTime(w.now)
}

func (w *world) refuse(h *hub, rd quota.Reading, d time.Duration) {
	rd.Failover, rd.Reason, rd.ResetAt = true, "test", w.now.Add(d)
	h.Observe("a", quota.Call{Model: "m", Family: "m", StartedAt: w.now, At: w.now}, rd)
	for _, b := range h.Snapshot().Standings[0].Blocks(w.now) {
		if b.Since.Equal(w.now) {
			w.refused[b.Cause()] = sighting{w.now, b.Until}
		}
	}
}

func (w *world) succeed(h *hub, ago time.Duration) {
	before := h.known()
	h.Observe("a", quota.Call{Model: "m", Family: "m", StartedAt: w.now.Add(-ago), At: w.now}, quota.Reading{Class: quota.OK})
	for cause := range w.refused { // a proof that was late to be told may be told as of the next one
		disprove(w.doubted, cause, w.now.Add(-ago))
	}
	for _, cause := range before {
		if slices.Contains(h.known(), cause) {
			continue
		}
		if r := h.share.known("a").ledger.records[cause]; r != nil && !r.missing && r.ours && r.stands(w.now.Add(25*time.Minute).UnixMilli()) { // also when the hub tells it

			disprove(w.over, cause, w.now.Add(-ago))
		}
	}
}

func (w *world) clear(h *hub) {
	h.ClearCooldown("a")
	for cause := range w.refused {
		if !strings.HasPrefix(cause, string(quota.StateAuthRequired)) {
			disprove(w.over, cause, w.now)
			disprove(w.doubted, cause, w.now)
		}
	}
}

func disprove(over map[string]time.Time, cause string, at time.Time) {
	if at.After(over[cause]) {
		over[cause] = at
	}
}

func (w *world) flush(really bool) {
	if really {
		w.m.FlushAll()
		w.lost = true
	}
}

// settle lets all hubs tell and hear, and Redis be heard by those who have lost its stamp.
func (w *world) settle() {
	for range 8 {
		for _, h := range w.hubs {
			h.share.known("a").ledger.stale.Store(true)
			h.share.exchange(context.Background(), false)
			w.pass(10 * time.Millisecond)
		}
	}
	for _, h := range w.hubs {
		l := h.share.line.(*lossy)
		l.calls = 0
		if h.share.exchange(context.Background(), false); l.calls > 0 {
			w.t.Fatalf("%s has not come to rest", h.share.o.Instance)
		}
	}
}

// known are the causes of what stands, or has run out and was not disproved.
func (h *hub) known() []string {
	var all []string
	for _, b := range h.Snapshot().Standings[0].Blocks(time.Time{}) {
		all = append(all, b.Cause())
	}
	return all
}

// causes are the ends of what stands, by cause; zero = none.
func (h *hub) causes() map[string]time.Time {
	all := map[string]time.Time{}
	for _, b := range h.Snapshot().Standings[0].Blocks(h.share.now()) {
		all[b.Cause()] = b.Until
	}
	return all
}

func (w *world) check() {
	first := w.hubs[0].causes()
	for _, h := range w.hubs[1:] {
		for cause, until := range h.causes() {
			if mine, ok := first[cause]; (!ok || mine.Sub(until).Abs() > slack+time.Millisecond) && until.Sub(w.now) > slack {
				w.t.Fatalf("%s has %s until %v, hub-1 %v (%v):\n%s", h.share.o.Instance, cause, until, mine, ok, w.picture())
			}
		}
		if len(first) > len(h.causes()) {
			for cause, until := range first {
				if _, ok := h.causes()[cause]; !ok && until.Sub(w.now) > slack {
					w.t.Fatalf("hub-1 has %s, %s does not:\n%s", cause, h.share.o.Instance, w.picture())
				}
			}
		}
	}
	for cause, seen := range w.refused {
		_, stands := first[cause]
		over := w.over[cause]
		switch {
		case seen.at.Sub(w.doubted[cause]) > 5*time.Millisecond && (seen.until.IsZero() || seen.until.Sub(w.now) > slack) && !stands:
			w.t.Fatalf("%s was refused at %v, disproved at %v, and does not stand:\n%s", cause, seen.at, over, w.picture())
		case !over.Before(seen.at) && stands && !w.lost:
			w.t.Fatalf("%s was refused at %v, disproved at %v, and stands:\n%s", cause, seen.at, over, w.picture())
		}
	}
}

// picture is what the hubs and Redis have, for a message.
func (w *world) picture() string {
	var b strings.Builder
	fmt.Fprintf(&b, "now %d\n", w.now.UnixMilli())
	for _, h := range w.hubs {
		fmt.Fprintf(&b, "%s: %v\n", h.share.o.Instance, h.causes())
	}
	for _, key := range w.m.Keys() {
		if fields, err := w.m.HKeys(key); err == nil {
			for _, f := range fields {
				fmt.Fprintf(&b, "%s %s: %s\n", key, f, w.m.HGet(key, f))
			}
		}
	}
	return b.String()
}
