package proxy

import (
	"sync"
	"time"
)

// trialBound is how long the others wait for the one that goes first. A refusal comes at once: a call that is not refused
// in this time is as good as accepted.
const trialBound = 3 * time.Second

// trials are the accounts that have just come back and that one request tries on behalf of all that were held for them: it
// goes first, and the others wait until it has an answer or has failed. What comes in meanwhile without having been held is
// not stopped: it is no herd.
type trials struct {
	mu      sync.Mutex
	running map[string]*trial // by profile id
}

// trial is one such try. The request that made it ends it.
type trial struct {
	profile string
	over    chan struct{}
}

func newTrials() *trials { return &trials{running: map[string]*trial{}} }

// enter is the trial of an account that is running, or a new one, which is the caller's to end.
func (ts *trials) enter(profile string) (t *trial, mine bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t, running := ts.running[profile]; running {
		return t, false
	}
	t = &trial{profile: profile, over: make(chan struct{})}
	ts.running[profile] = t
	return t, true
}

func (ts *trials) end(t *trial) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.running, t.profile)
	close(t.over)
}

// endTrial lets those go who wait for what becomes of this request: it has an answer, or it has failed.
func (x *exchange) endTrial() {
	if x.trial != nil {
		x.p.trials.end(x.trial)
		x.trial = nil
	}
}
