package router

import (
	"cmp"
	"slices"
	"time"

	"hermes-hub/quota"
)

// Choose fills into with every node of the query's role, each with the reason why it is not taken or Usable, in the order
// in which they are to be tried: the account that affinity prefers, the chain, the fallbacks, the cold spares. It is the
// only place where this is decided, so what explain shows is what the router does.
//
// What is only a preference or a guess gives way where nothing else is usable: first the threshold, then the rest of a
// provider, in which one account is tried.
//
// It is pure, and reuses the memory of into. bound is the index of the profile that affinity prefers, -1 for none. A role
// that the snapshot's table does not know has no nodes.
func Choose(s *Snapshot, q Query, bound int, occ Occupancy, now time.Time, into *Plan) {
	into.Snapshot, into.At, into.Query, into.Bound = s, now, q, bound
	into.Nodes = into.Nodes[:0]
	if q.Role == nil {
		return
	}
	l := s.Table.lines[q.Role.ID]
	into.Nodes = slices.Grow(into.Nodes, len(l.places))[:len(l.places)]
	clear(into.Nodes)
	wanted := name(q.Model)
	for position, pl := range l.places {
		n := &into.Nodes[position]
		n.Profile, n.Index, n.Position, n.Tier = s.Table.Profiles[pl.profile], pl.profile, position, pl.tier
		judge(n, s, &q, pl.model, wanted, l.defaultModel, occ, now)
	}
	if !anyUsable(into.Nodes) && !lift(into.Nodes) {
		s.lastResort(into.Nodes, occ, now)
	}
	s.headroom(into.Nodes, now)
	prefer(into.Nodes, bound, s.Table.Settings.AutoReturnPrimary)
}

func anyUsable(nodes []Node) bool {
	for i := range nodes {
		if nodes[i].Reason == Usable {
			return true
		}
	}
	return false
}

// judge gives one node its model and its verdict. The order of the checks is the order of the reasons: what the owner
// configured, then what the account cannot do, then its health and its provider's, then its slots and whether it is being
// tried, then what is left of it.
func judge(n *Node, s *Snapshot, q *Query, fixed, wanted, roleDefault named, occ Occupancy, now time.Time) {
	if n.Reason = s.Table.unfit(n.Profile, q.Protocols); n.Reason != Usable {
		return
	}
	st := &s.Standings[n.Index]
	m, ok := fixed, true
	if m.model == "" {
		m, ok = s.Table.offers[n.Index].ask(q, wanted, roleDefault, st, now)
	}
	n.Model, n.Family = m.model, m.family
	switch why := s.Table.cannot(n, q.Needs); {
	case !ok:
		n.Reason = ReasonModel
	case why != Usable:
		n.Reason = why
	case s.blocked(n, now):
	default:
		if s.admissible(n, occ, now); n.Reason == Usable {
			s.spare(n, now)
		}
	}
}

// blocked is the verdict of what is known against the account itself. It reports whether anything is.
func (s *Snapshot) blocked(n *Node, now time.Time) bool {
	st := &s.Standings[n.Index]
	if st.Spotless() {
		return false
	}
	n.Block = st.Check(n.Model, n.Family, now)
	n.Reason = Reason(n.Block.State)
	return n.Reason != Usable
}

// admissible is the verdict on an account against which nothing stands: its provider may rest, its slots may be taken, and
// another call may be trying it.
func (s *Snapshot) admissible(n *Node, occ Occupancy, now time.Time) {
	o := s.outageOf(n.Index)
	switch {
	case o.resting(now) && !(n.resort && o.resort):
		n.Reason, n.Block = ReasonCooldown, o.rest
	case occ.Full(n.Index, n.Profile.MaxConcurrency):
		n.Reason = ReasonConcurrency
	case o.unproven() || !s.Standings[n.Index].Spotless():
		s.halfOpen(n, o, occ, now)
	}
}

// lastResort lets the first account be tried of those that only the rest of their provider holds back.
func (s *Snapshot) lastResort(nodes []Node, occ Occupancy, now time.Time) {
	for i := range nodes {
		n := &nodes[i]
		if o := s.outageOf(n.Index); n.Reason != ReasonCooldown || !o.openTo(n, now) {
			continue
		}
		n.Reason, n.Block, n.resort = Usable, quota.Block{}, true
		if s.admissible(n, occ, now); n.Reason == Usable {
			return
		}
	}
}

// cannot is why the node's model is ruled out by what is known of it.
func (t *Table) cannot(n *Node, needs Needs) Reason {
	if needs == (Needs{}) {
		return Usable
	}
	m := t.modelOf(n.Index, n.Model)
	switch window := cmp.Or(n.Profile.ContextLength, m.Window); {
	case window > 0 && needs.Tokens > window:
		return ReasonWindow
	case needs.Tools && m.Tools == Unable:
		return ReasonTools
	case needs.Vision && m.Vision == Unable:
		return ReasonVision
	case needs.Structured && m.Structured == Unable:
		return ReasonStructured
	default:
		return Usable
	}
}

// unfit is why the configuration rules an account out for whoever can use these protocols only; nil = any that is spoken
// at all.
func (t *Table) unfit(p *Profile, protocols []Protocol) Reason {
	switch {
	case !p.Enabled:
		return ReasonDisabled
	case !slices.Contains(t.Settings.Protocols, p.Protocol), protocols != nil && !slices.Contains(protocols, p.Protocol):
		return ReasonProtocol
	default:
		return Usable
	}
}

// prefer moves the first usable node of the bound profile forward. Affinity is a preference below eligibility: it never
// makes a node usable, with auto-return it never precedes the chain's primary while that is usable, and it never calls a
// cold spare before the other candidates, only before other spares.
func prefer(nodes []Node, bound int, autoReturn bool) {
	if bound < 0 || len(nodes) == 0 || autoReturn && nodes[0].Tier == TierChain && nodes[0].Position == 0 && nodes[0].Reason == Usable {
		return
	}
	to := 0
	for from := range nodes {
		n := nodes[from]
		if n.Tier == TierSpare && nodes[to].Tier != TierSpare {
			to = from
		}
		if n.Index == bound && n.Reason == Usable {
			copy(nodes[to+1:from+1], nodes[to:from])
			nodes[to] = n
			return
		}
	}
}
