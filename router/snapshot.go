package router

import (
	"slices"
	"time"

	"hermes-hub/quota"
)

// Snapshot is the one shared state of the hot path: immutable, replaced as a whole, loaded once per request.
type Snapshot struct {
	Version   uint64
	Table     *Table
	Standings []quota.Standing // by profile index of Table

	since []time.Time // by profile index: when the account took on its present identity; older evidence is another's
	live  *live       // the slots behind the profile indexes of Table; nil = nobody holds any
}

// NewSnapshot is a table of which nothing was learnt yet and of which no slot is taken.
func NewSnapshot(t *Table) *Snapshot {
	return &Snapshot{
		Table:     t,
		Standings: make([]quota.Standing, len(t.Profiles)),
		since:     make([]time.Time, len(t.Profiles)),
	}
}

// Occupancy tells how many slots are taken now, by profile index of the snapshot's table. Unlike the snapshot it moves.
func (s *Snapshot) Occupancy() Occupancy {
	if s.live == nil {
		return Vacant{}
	}
	return s.live
}

// Vacant is the Occupancy of a hub that serves nobody.
type Vacant struct{}

// Held is zero.
func (Vacant) Held(int) int { return 0 }

// withStanding is the next snapshot, in which one account's standing is another.
func (s *Snapshot) withStanding(i int, st quota.Standing) *Snapshot {
	next := *s
	next.Version++
	next.Standings = slices.Clone(s.Standings)
	next.Standings[i] = st
	return &next
}

// withTable is the next snapshot, under another table. What was learnt of an account stays with it where it is still the
// same one: same id, same base URL, same credential. Everything else starts anew, from now on.
func (s *Snapshot) withTable(t *Table, now time.Time) (*Snapshot, Change) {
	next := NewSnapshot(t)
	next.Version = s.Version + 1
	var c Change
	for i, p := range t.Profiles {
		j, known := s.Table.profiles[p.ID]
		switch {
		case !known:
			c.Added = append(c.Added, p.ID)
			next.since[i] = now
		case identityOf(s.Table.Profiles[j]) != identityOf(p):
			c.Reset = append(c.Reset, p.ID)
			next.since[i] = now
		default:
			c.Kept = append(c.Kept, p.ID)
			next.Standings[i], next.since[i] = s.Standings[j], s.since[j]
		}
	}
	for _, p := range s.Table.Profiles {
		if _, kept := t.profiles[p.ID]; !kept {
			c.Removed = append(c.Removed, p.ID)
		}
	}
	return next, c
}

// Change is what a Swap meant for the accounts, as profile ids.
type Change struct {
	Added   []string
	Removed []string
	Reset   []string // another base URL or credential: what was learnt does not apply
	Kept    []string
}

// identity is what an account's standing belongs to: the same id elsewhere, or with another credential, is another account.
type identity struct {
	BaseURL    string `json:"base_url"`
	Credential string `json:"credential"` // Secret.Fingerprint
}

func identityOf(p *Profile) identity { return identity{p.BaseURL, p.Credential.Fingerprint()} }
