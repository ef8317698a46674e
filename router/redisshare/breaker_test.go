package redisshare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The breaker's life as a line of events: "+" a success, "s" no answer in time, "g" no Redis, "m" this hub's own trouble, a
// number of ms that pass; and what it is after each.
func TestBreaker(t *testing.T) {
	f := func(events, want string) {
		t.Helper()
		var b breaker
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var got []string
		for e := range strings.FieldsSeq(events) {
			if ms, err := time.ParseDuration(e + "ms"); err == nil {
				now = now.Add(ms)
				continue
			}
			turn, ok := b.enter(now)
			if ok {
				b.note(turn, map[string]fault{"+": none, "m": minor, "s": slow, "g": grave}[e], now)
			}
			word := []string{"closed", "half", "open"}[b.stage]
			if !ok {
				word = "no"
			}
			got = append(got, word)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", events, s, want)
		}
	}
	f("+ m m m m m m m m", "closed closed closed closed closed closed closed closed closed")
	f("s s s", "closed closed open")
	f("s s + s s g s", "closed closed closed closed closed open no") // the fifth failure in two seconds
	f("s s + s 2001 s + s", "closed closed closed closed closed closed closed")
	f("g g g g g", "closed closed closed closed open")
	f("g g g g 2001 g", "closed closed closed closed closed")
	f("g g g g 2000 g + + 999 + 1 + +", "closed closed closed closed open no no no closed closed")
	// Each rest is twice as long, up to the longest; a success begins anew.
	f("s s s 1000 g 1999 + 1 g 3999 + 1 s 7999 + 1 g 14999 + 1 g 14999 + 1 + s s s 999 + 1 +",
		"closed closed open open no open no open no open no open no closed closed closed open no closed")
}

// While it is half open nobody else calls; and what was begun before it opened says nothing of now.
func TestBreakerTurns(t *testing.T) {
	var b breaker
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	early, _ := b.enter(now)
	for range maxTimeouts {
		turn, _ := b.enter(now)
		b.note(turn, slow, now)
	}
	b.note(early, none, now)
	if b.stage != open {
		t.Fatal("a late success closed it")
	}
	now = now.Add(firstRest)
	trial, ok := b.enter(now)
	if _, other := b.enter(now); !ok || other {
		t.Errorf("in the half open one may call: %v, %v", ok, other)
	}
	b.note(early, grave, now)
	if b.stage != halfOpen {
		t.Error("a late failure opened it")
	}
	if !b.note(trial, none, now) || b.stage != closed {
		t.Error("the trial's success did not close it")
	}
}

// Which errors are Redis's trouble, and what is said of them: nothing of an address or a key.
func TestFaults(t *testing.T) {
	f := func(err error, want fault, text string) {
		t.Helper()
		got := plain(err)
		if faultOf(got) != want || got.Error() != text {
			t.Errorf("%v: %d %q, want %d %q", err, faultOf(got), got, want, text)
		}
	}
	server := func(text string) error { return redisError(text) }
	const away = "redis is unavailable: "
	f(context.Canceled, minor, away+"context canceled")
	f(context.DeadlineExceeded, slow, away+"context deadline exceeded")
	f(redis.ErrPoolTimeout, minor, away+"redis: connection pool timeout")
	f(redis.ErrClosed, minor, away+"redis: client is closed")
	f(fmt.Errorf("read 10.0.0.1:6379: %w", timeout{}), slow, away+"context deadline exceeded")
	f(errors.New("dial tcp 10.0.0.1:6379: refused"), grave, away+"no connection")
	f(server("READONLY You can't write against a read only replica 10.0.0.1."), grave, away+"it says READONLY")
	f(server("LOADING Redis is loading"), grave, away+"it says LOADING")
	f(server("canary"), grave, away+"it gave an answer that is none")
	f(server("WRONGTYPE Operation against a key hh:canary"), minor, "a key holds what no hub wrote")
}

type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

type timeout struct{}

func (timeout) Error() string { return "10.0.0.1 is slow" }
func (timeout) Timeout() bool { return true }

// Three hubs of one limit, as Redis goes and comes back.
func TestApart(t *testing.T) {
	var a apart
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := func(what string, limit, others, left, hubs int) {
		t.Helper()
		if got := a.left(limit, others); got != left || a.hubs() != hubs {
			t.Errorf("%s: %d of %d are left beside %d, want %d; %d hubs, want %d", what, got, limit, others, left, a.hubs(), hubs)
		}
	}
	a.start(5)
	f("with five", 10, 9, 2, 1)
	a.expect(2)
	f("at the start", 10, 9, 5, 1)
	f("at the start", 1, 9, 1, 1)
	a.meet(1, now, ttl)
	f("one is there", 10, 0, 5, 1)
	f("one is there", 10, 8, 2, 1)
	a.meet(3, now, ttl)
	f("three are there", 10, 4, 6, 3)
	a.meet(2, now, ttl)
	f("one has left", 10, 4, 6, 2)
	a.meet(3, now, ttl)
	a.lose()
	a.lose()
	f("away", 10, 9, 3, 1)
	a.meet(2, now, ttl)
	f("two are back", 10, 0, 3, 3)
	f("two are back", 10, 9, 1, 3)
	a.meet(2, now.Add(ttl-1), ttl)
	f("nearly a count's time later", 10, 0, 3, 3)
	a.meet(2, now.Add(ttl), ttl)
	f("a count's time later", 10, 0, 10, 2)
	if got := a.share(10); got != 5 {
		t.Errorf("alone: %d", got)
	}
}
