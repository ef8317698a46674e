package redisshare

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes-hub/router"
)

// keptBonds is how many bonds are shared, and how many wait to be told: as many as one hub keeps.
const keptBonds = 1000

// bonds are those that wait to be told, and how far the others' have been heard. Every hub has all that Redis has: a request is
// never kept waiting for a bond, and one that comes to a hub which knows of none has none.
type bonds struct {
	mu   sync.Mutex
	wait map[bondKey]router.Bond

	// The bonding loop's.
	heard int64           // up to here, in ms of Redis's clock
	edge  map[string]bool // what was told just then: more may be told in the same ms
}

type bondKey struct{ session, role string }

// Bound is router.Peers'.
func (s *Share) Bound(b router.Bond) {
	s.bonds.add(b)
	s.bonding.ring()
}

// add lets a bond wait, unless too many do.
func (b *bonds) add(bond router.Bond) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait == nil {
		b.wait = make(map[bondKey]router.Bond)
	}
	k := bondKey{bond.Session, bond.Role}
	if _, known := b.wait[k]; known || len(b.wait) < keptBonds {
		b.wait[k] = bond
	}
}

// take takes those that wait.
func (b *bonds) take() map[bondKey]router.Bond {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := b.wait
	b.wait = nil
	return wait
}

// giveBack lets them wait on, but for those that were bound anew meanwhile.
func (b *bonds) giveBack(untold map[bondKey]router.Bond) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait == nil {
		b.wait = untold
		return
	}
	for k, bond := range untold {
		if _, newer := b.wait[k]; !newer && len(b.wait) < keptBonds {
			b.wait[k] = bond
		}
	}
}

// bond tells the others of this hub's bonds, and the router of theirs.
func (s *Share) bond(ctx context.Context, _ bool) {
	r, sent := s.router.Load(), s.now()
	ttl := max(0, r.Snapshot().Table.Settings.AffinityTTL)
	mine := s.bonds.take()
	c := &call{
		script: bondsScript, keys: []string{s.o.Prefix + "{bonds}:t", s.o.Prefix + "{bonds}:p"},
		args: []any{s.o.Prefix + "accounts", s.message(ringBond, ""), ttl.Milliseconds(), keptBonds, s.bonds.heard},
	}
	for k, b := range mine {
		c.args = append(c.args, k.session+" "+k.role, b.Profile, max(0, sent.Sub(b.At).Milliseconds()))
	}
	if err := s.run(ctx, []*call{c}); err != nil || c.err != nil || !s.hearBonds(r, c.reply, sent) {
		s.bonds.giveBack(mine)
	}
}

// hearBonds reads the reply; false when it is none.
func (s *Share) hearBonds(r *router.Router, reply []any, sent time.Time) bool {
	words := make([]string, len(reply))
	for i, v := range reply {
		words[i], _ = v.(string)
	}
	if len(words)%3 != 1 {
		return false
	}
	when := instant{sent: sent, received: s.now()}
	var err error
	if when.redis, err = strconv.ParseInt(words[0], 10, 64); err != nil {
		return false
	}
	for i := 1; i < len(words); i += 3 {
		session, role, _ := strings.Cut(words[i], " ")
		at, profile, _ := strings.Cut(words[i+1], " ")
		made, bad := strconv.ParseInt(at, 10, 64)
		told, worse := strconv.ParseInt(words[i+2], 10, 64)
		if bad != nil || worse != nil || s.bonds.passed(told, words[i]+" "+profile) {
			continue
		}
		r.HearBond(router.Bond{Session: session, Role: role, Profile: profile, At: when.at(made)})
	}
	s.bonds.heard = min(s.bonds.heard, when.redis) // another server may be behind
	return true
}

// passed reports whether a bond has been heard already, and moves on to it.
func (b *bonds) passed(told int64, bond string) bool {
	if told > b.heard || b.edge == nil {
		b.heard, b.edge = told, map[string]bool{}
	}
	if b.edge[bond] {
		return true
	}
	b.edge[bond] = true
	return false
}
