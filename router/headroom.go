package router

import (
	"time"
)

// headroom puts the equals of a plan in the order in which what they have left would expire unused. Equals are the accounts
// that the owner gave no order: the fallbacks, which only share a capability, and the cold spares among themselves. The
// chain is never touched. First come those whose governing bucket has more than the threshold left and says when it resets,
// the soonest first; then all others, unknown ones among them, in file order: nothing is known to be lost by waiting.
//
// It sorts in place and allocates nothing; the runs are short and mostly in order already.
func (s *Snapshot) headroom(nodes []Node, now time.Time) {
	for i := range nodes {
		if nodes[i].Tier == TierChain || nodes[i].Reason != Usable {
			continue
		}
		nodes[i].expires = s.expires(&nodes[i], now)
		if nodes[i].expires.IsZero() {
			continue
		}
		to := i
		for to > 0 && nodes[to-1].Tier == nodes[i].Tier && sooner(nodes[i].expires, nodes[to-1].expires) {
			to--
		}
		if to < i {
			n := nodes[i]
			copy(nodes[to+1:i+1], nodes[to:i])
			nodes[to] = n
		}
	}
}

// expires is when what a node has left is lost; zero = not known, or nothing worth it is left.
func (s *Snapshot) expires(n *Node, now time.Time) time.Time {
	st := &s.Standings[n.Index]
	if !st.Bounded() {
		return time.Time{}
	}
	b, ok := st.Governing(n.Model, n.Family, now)
	if !ok || !b.RemainingPercent.Known || b.RemainingPercent.Value <= s.Table.Settings.Threshold.Percent {
		return time.Time{}
	}
	return b.ResetAt
}

// sooner compares instants; an unknown one comes last.
func sooner(x, y time.Time) bool { return y.IsZero() || x.Before(y) }
