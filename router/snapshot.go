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

	since      []time.Time       // by profile index: when the account took on its present identity; older evidence is another's
	renewed    []time.Time       // by profile index: when its credential last changed; older refusals are of the one before
	proved     []time.Time       // by profile index: when the call began that last disproved something
	identified map[string]string // by profile id: the account that the credential names
	twins      [][]int           // by profile index: the others of the same account
	outages    []outage          // by number of the egress
	live       *live             // the slots behind the profile indexes of Table; nil = nobody holds any
}

// NewSnapshot is a table of which nothing was learnt yet and of which no slot is taken.
func NewSnapshot(t *Table) *Snapshot {
	s := &Snapshot{
		Table:     t,
		Standings: make([]quota.Standing, len(t.Profiles)),
		since:     make([]time.Time, len(t.Profiles)),
		renewed:   make([]time.Time, len(t.Profiles)),
		proved:    make([]time.Time, len(t.Profiles)),
		outages:   make([]outage, len(t.egresses)),
	}
	s.pair()
	return s
}

// Proved is when the call began that last disproved something which stood against profile i of the table: what was seen of it
// until then is no evidence any more. Zero = none has.
func (s *Snapshot) Proved(i int) time.Time { return s.proved[i] }

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

// Full is false.
func (Vacant) Full(int, int) bool { return false }

// Trials are none.
func (Vacant) Trials(int) (own, shared time.Time) { return time.Time{}, time.Time{} }

// withTable is the next snapshot, under another table. What was learnt of an account stays with it where it is still the
// same one: same id, same base URL, same credential. Everything else starts anew, from now on.
func (s *Snapshot) withTable(t *Table, now time.Time) (*Snapshot, Change) {
	next := NewSnapshot(t)
	next.Version = s.Version + 1
	next.identified = make(map[string]string, len(s.identified))
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
			next.Standings[i], next.since[i], next.renewed[i], next.proved[i] = s.Standings[j], s.since[j], s.renewed[j], s.proved[j]
			if account, ok := s.identified[p.ID]; ok {
				next.identified[p.ID] = account
			}
		}
	}
	for e := range t.egresses {
		if was := slices.Index(s.Table.egresses, t.egresses[e]); was >= 0 {
			next.outages[e] = s.outages[was]
		}
	}
	next.pair()
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
