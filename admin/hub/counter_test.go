package hub

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// shelf is a Keep in memory that can break.
type shelf struct {
	value  []byte
	saves  int
	broken error
}

func (s *shelf) Load(context.Context, string) ([]byte, bool, error) {
	return s.value, s.value != nil, s.broken
}

func (s *shelf) Save(ctx context.Context, _ string, value []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.broken == nil {
		s.value, s.saves = value, s.saves+1
	}
	return s.broken
}

// epochs names epochs "a", "b", …
func epochs() func() string {
	n := 0
	return func() string { n++; return string(rune('a' + n - 1)) }
}

func open(t testing.TB, s *shelf, epochs func() string) *Counter {
	t.Helper()
	c, err := OpenCounter(t.Context(), CounterOptions{Keep: s, NewEpoch: epochs})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func stampText(s Stamp) string {
	return fmt.Sprintf("%s %d/%d %d", s.Epoch, s.Generation, s.Seq, s.Event)
}

// S18, embedded: after a restart, also one by force, the numbers go on above the last that was given out, in the same epoch;
// a counter that was lost or broken begins another.
func TestCounter(t *testing.T) {
	s, names := &shelf{}, epochs()
	f := func(c *Counter, d Draw, want string) {
		t.Helper()
		if got := stampText(c.Draw(t.Context(), d, Stamp{})); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	c := open(t, s, names)
	f(c, Draw{}, "a 0/0 0")
	f(c, Draw{Ticket: true, Events: 1}, "a 0/1 1")
	f(c, Draw{Picture: true, Events: 3}, "a 1/2 4")
	f(c, Draw{Events: 1}, "a 1/2 5")
	if s.saves != 1 {
		t.Errorf("%d writes for three draws", s.saves)
	}
	c = open(t, s, names)
	f(c, Draw{Picture: true}, "a 1001/1002 1001")
	f(c, Draw{Picture: true, Events: 5000}, "a 1002/1003 6001")
	c = open(t, s, names)
	f(c, Draw{}, "a 2002/2003 7001")
	s.value = []byte(`{"epoch":"a","generation":9,"seq":1}`)
	f(open(t, s, names), Draw{Picture: true}, "b 1/1 0")
	s.value = []byte(`{"epo`)
	f(open(t, s, names), Draw{Picture: true}, "c 1/1 0")
	s.value = nil
	f(open(t, s, names), Draw{Picture: true}, "d 1/1 0")
	f(memory("m"), Draw{Picture: true, Events: 9999}, "m 1/1 9999")
}

// A disk that cannot be written costs no number and no snapshot: what could not be promised is given out under another epoch,
// which a restart forgets. A caller who leaves breaks nothing.
func TestCounterNotKept(t *testing.T) {
	s, names := &shelf{}, epochs()
	c := open(t, s, names)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got := stampText(c.Draw(gone, Draw{Picture: true}, Stamp{})); got != "a 1/1 0" {
		t.Errorf("of a caller who left: %s", got)
	}
	s.broken = errors.New("disk full")
	if got := stampText(c.Draw(t.Context(), Draw{Events: 2000}, Stamp{})); got != "b 1/1 2000" {
		t.Errorf("unkept: %s", got)
	}
	if got := stampText(c.Draw(t.Context(), Draw{Picture: true}, Stamp{})); got != "b 2/2 2000" {
		t.Errorf("next: %s", got)
	}
	if _, err := OpenCounter(t.Context(), CounterOptions{Keep: s, NewEpoch: names}); !errors.Is(err, s.broken) {
		t.Errorf("what cannot be read at the start is an error: %v", err)
	}
	s.broken = nil
	if got := stampText(open(t, s, names).Draw(t.Context(), Draw{Picture: true}, Stamp{})); got != "a 1002/1002 1000" {
		t.Errorf("after a restart: %s", got)
	}
}

// S03: whatever is drawn by whomever, with crashes and a disk that fails now and then: within one epoch the numbers rise, and
// seq is never below generation.
func TestCounterRises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, n := &shelf{}, 0
		c := open(t, s, func() string { n++; return fmt.Sprint(n) })
		last, highest := map[string]Stamp{}, Stamp{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				s.broken = nil
				c = open(t, s, func() string { n++; return fmt.Sprint(n) })
				highest = Stamp{}
			case 1:
				s.broken = []error{nil, errors.New("no")}[rapid.IntRange(0, 1).Draw(rt, "broken")]
			default:
				d := Draw{Picture: rapid.Bool().Draw(rt, "picture"), Ticket: rapid.Bool().Draw(rt, "ticket"), Events: rapid.IntRange(0, 700).Draw(rt, "events")}
				is := c.Draw(t.Context(), d, highest)
				was := last[is.Epoch]
				if is.Seq < is.Generation || is.Generation < was.Generation || is.Seq < was.Seq || is.Event < was.Event+uint64(d.Events) ||
					d.Picture && is.Generation == was.Generation || (d.Picture || d.Ticket) && is.Seq == was.Seq {
					rt.Fatalf("%+v after %+v", is, was)
				}
				last[is.Epoch], highest = is, is
			}
		}
	})
}

// A counter that has forgotten is told by whoever remembers, if it is still the same.
func TestCounterIsTold(t *testing.T) {
	c := memory("e")
	if got := stampText(c.Draw(t.Context(), Draw{Picture: true, Events: 1}, Stamp{"e", 5, 9, 20})); got != "e 6/10 21" {
		t.Error(got)
	}
	if got := stampText(c.Draw(t.Context(), Draw{Picture: true, Events: 1}, Stamp{"other", 50, 90, 200})); got != "e 7/11 22" {
		t.Error(got)
	}
}
