package redisshare

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// cloud is a Redis without a network, in the time of a test's bubble. Of the scripts it knows that of counts.
type cloud struct {
	mu     sync.Mutex
	counts map[string]map[string]entry // by key and hub
	heard  map[int]func(string)
	ran    int // scripts

	delay   time.Duration // of each round trip
	away    bool          // it refuses
	hanging bool          // it does not answer
	ahead   time.Duration // how far its clock is
}

type entry struct {
	n, version int64
	end        time.Time
}

func newCloud() *cloud {
	return &cloud{counts: make(map[string]map[string]entry), heard: make(map[int]func(string))}
}

// set changes the cloud.
func (c *cloud) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *cloud) ping(ctx context.Context) error { return c.answer(ctx) }

// answer is how a round trip begins.
func (c *cloud) answer(ctx context.Context) error {
	c.mu.Lock()
	delay, away, hanging := c.delay, c.away, c.hanging
	c.mu.Unlock()
	switch {
	case hanging:
		<-ctx.Done()
		return plain(ctx.Err())
	case away:
		return fmt.Errorf("%w: no connection", ErrUnavailable)
	}
	select {
	case <-ctx.Done():
		return plain(ctx.Err())
	case <-time.After(delay):
		return nil
	}
}

func (c *cloud) run(ctx context.Context, calls []*call) error {
	if err := c.answer(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range calls {
		c.ran++
		switch k.script {
		case countsScript:
			k.reply = c.count(k.keys[0], k.args)
		case newsScript:
			k.reply = []any{"0", "", "0"}
		case bondsScript:
			k.reply = []any{"0"}
		}
	}
	return nil
}

// count is counts.lua.
func (c *cloud) count(key string, args []any) []any {
	hub, version := args[0].(string), args[1].(int64)
	now := time.Now().Add(c.ahead)
	var others int64
	before := entry{n: unknown}
	for name, e := range c.counts[key] {
		switch {
		case !now.Before(e.end):
			delete(c.counts[key], name)
		case name == hub:
			before = e
		default:
			others += e.n
		}
	}
	held, telling := args[2].(int64)
	if !telling {
		return []any{int64(0), others, before.n, int64(0), ""}
	}
	if version <= before.version {
		return []any{int64(0), others, before.n, int64(1), ""}
	}
	granted := max(0, min(int64(args[3].(int)), int64(args[4].(int))-others-held))
	if c.counts[key] == nil {
		c.counts[key] = make(map[string]entry)
	}
	c.counts[key][hub] = entry{held + granted, version, now.Add(time.Duration(args[5].(int64)) * time.Millisecond)}
	if held+granted != max(0, before.n) {
		for _, heard := range c.heard {
			go heard(args[7].(string))
		}
	}
	return []any{granted, others, before.n, int64(0), ""}
}

func (c *cloud) listen(ctx context.Context, heard func(string)) {
	c.mu.Lock()
	id := len(c.heard)
	for c.heard[id] != nil {
		id++
	}
	c.heard[id] = heard
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.heard, id)
}

// scripts is how many have run.
func (c *cloud) scripts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran
}

// held is what is told of a profile, in the order of the hubs' names.
func (c *cloud) held(profile string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var words []string
	for hub, e := range c.counts["hh:{p:"+profile+"}:l"] {
		name, _, _ := strings.Cut(hub, ".")
		words = append(words, fmt.Sprintf("%s=%d", name, e.n))
	}
	return sorted(words)
}

// inCloud runs a test with a cloud and its own time.
func inCloud(t *testing.T, f func(t *testing.T, c *cloud)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newCloud()) })
}

// after lets time pass until everybody waits.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
