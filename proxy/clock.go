package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Why the hub itself ended a call. Each deadline has one job, and only those of one attempt are that account's fault.
var (
	errFirstToken     = errors.New("no first token in time")                // router.first_token_timeout_seconds
	errIdle           = errors.New("no content in time")                    // router.idle_timeout_seconds
	errCommitDeadline = errors.New("no account answered in time")           // router.commit_deadline_seconds
	errTotal          = errors.New("the request took longer than it may")   // router.request_timeout_seconds
	errStopped        = errors.New("the client stopped reading its answer") // a heartbeat could not be written
	errAnswered       = errors.New("the answer is complete")                // not a failure: the rest is not waited for
)

// ErrStopping is why a request's context ends when the hub stops: at once where it only watches, else when
// server.drain_grace_seconds are over.
var ErrStopping = errors.New("the hub is stopping")

// clock cancels one attempt when it falls silent: first until the first token, then between contents. It costs one timer
// an attempt, none a chunk: progress only stamps, and the timer looks at the stamp when it fires.
type clock struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	held  time.Time // since when the client is waited for, and not the upstream; zero = it is not
	last  time.Time
	limit time.Duration
	cause error
	timer *time.Timer
	done  bool
}

// newClock starts a clock; the first phase ends with the call of idle. limit 0 = the first phase is not limited.
func newClock(cancel context.CancelCauseFunc, limit time.Duration) *clock {
	c := &clock{cancel: cancel, last: time.Now(), limit: limit, cause: errFirstToken}
	if limit > 0 {
		c.timer = time.AfterFunc(limit, c.fire)
	}
	return c
}

// idle begins the second phase.
func (c *clock) idle(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.limit, c.cause = time.Now(), limit, errIdle
	if c.timer == nil {
		c.timer = time.AfterFunc(limit, c.fire)
		return
	}
	c.timer.Reset(limit)
}

// progress says that content arrived.
func (c *clock) progress() {
	c.mu.Lock()
	c.last = time.Now()
	c.mu.Unlock()
}

// hold stops the clock while bytes are on their way to the client: how long it takes to read them is not the account's
// silence. resume lets it go on.
func (c *clock) hold() {
	c.mu.Lock()
	c.held = time.Now()
	c.mu.Unlock()
}

func (c *clock) resume() {
	c.mu.Lock()
	c.last = c.last.Add(time.Since(c.held))
	c.held = time.Time{}
	c.mu.Unlock()
}

// finish gives the rest of an answer that is already complete a moment to arrive, so that its connection can be kept.
func (c *clock) finish(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.limit, c.cause = time.Now(), grace, errAnswered
	if c.timer != nil {
		c.timer.Reset(grace)
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *clock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	silent := time.Since(c.last)
	if !c.held.IsZero() {
		silent = c.held.Sub(c.last)
	}
	if left := c.limit - silent; left > 0 {
		c.timer.Reset(left)
		return
	}
	c.cancel(c.cause)
}
