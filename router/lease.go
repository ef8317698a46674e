package router

import (
	"fmt"
	"time"
)

// Holder says on whose behalf a slot is held. Empty fields are unknown.
type Holder struct {
	Session   string
	Role      string
	RunID     string
	RequestID string
}

// Lease is the right to use one slot of one profile until it is released. It is its own token: a slot is given back by the
// lease that holds it and by no other, however often Release is called.
type Lease struct {
	Profile    *Profile
	Generation uint64 // unique in the life of this process and growing: a later lease fences an earlier one
	Started    time.Time
	Holder     Holder

	slots  *slots
	trials [2]*trial // of the account and of its provider, nil where this call is not one
	asking bool      // the peers have yet to permit it; written under slots.mu
}

// permit asks the peers where each lease has to be permitted, and gives it back when they do not. It is for the one who has
// just been given the lease, and holds no lock.
func (l *Lease) permit() bool {
	if !l.asking || l.slots.peers.Permit(l.Profile.MaxConcurrency, func() { l.slots.permitted(l) }) {
		return true
	}
	l.Release()
	return false
}

// Accepted tells that the account has taken the call: the first byte of an answer is here. Those who would not call it
// before it has proved itself wait no longer.
func (l *Lease) Accepted() {
	if l.trials == ([2]*trial{}) {
		return
	}
	for _, t := range l.trials {
		if t != nil {
			t.accept(l)
		}
	}
	l.slots.queue.serveAll()
}

// Release gives the slot back, to whoever waits for it first. What the call taught is to be observed before. A second call
// does nothing.
func (l *Lease) Release() {
	switch {
	case !l.slots.remove(l):
	case l.leaveTrials():
		l.slots.queue.serveAll()
	default:
		l.slots.spokenFor()
	}
}

// enterTrials makes the lease the trial it is to be, or lets it pass beside one. false: another is ahead.
func (l *Lease) enterTrials(now time.Time) bool {
	for _, t := range l.trials {
		if t != nil && !t.enter(l, now) {
			l.leaveTrials()
			return false
		}
	}
	return true
}

// leaveTrials ends the trials that this lease is, and reports whether it may be any.
func (l *Lease) leaveTrials() (any bool) {
	for _, t := range l.trials {
		if t != nil {
			t.leave(l)
			any = true
		}
	}
	return any
}

// ID names the lease, unique among all instances of the hub.
func (l *Lease) ID() string { return leaseID(l.slots.instance, l.Generation) }

func leaseID(instance string, generation uint64) string {
	return fmt.Sprintf("lease_%s_%d", instance, generation)
}

// LeaseInfo is a held lease as the admin plane lists it; unknown is null.
type LeaseInfo struct {
	ProfileID string    `json:"profile_id"`
	LeaseID   string    `json:"lease_id"`
	RunID     *string   `json:"run_id"`
	Session   *string   `json:"session"`
	Role      string    `json:"role"`
	StartedAt time.Time `json:"started_at"`
	Instance  string    `json:"instance"`
}

func (l *Lease) info() LeaseInfo {
	return LeaseInfo{
		ProfileID: l.Profile.ID,
		LeaseID:   l.ID(),
		RunID:     known(l.Holder.RunID),
		Session:   known(l.Holder.Session),
		Role:      l.Holder.Role,
		StartedAt: l.Started.UTC(),
		Instance:  l.slots.instance,
	}
}

// known is nil for an empty string: unknown, null in JSON.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
