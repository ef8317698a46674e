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

	slots *slots
}

// Release gives the slot back, to whoever waits for it first. A second call does nothing.
func (l *Lease) Release() { l.slots.release(l) }

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
