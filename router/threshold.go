package router

import (
	"log/slog"
	"time"

	"hermes-hub/quota"
)

// Threshold is where an account counts as nearly used up. It is a preference and no block: an account below it is passed
// over while another is usable, comes back by itself, and serves in its old place when nobody else is usable, for a request
// that fails beside quota that was paid for helps nobody. What is not measured is never below.
type Threshold struct {
	Percent float64 // of what remains, 0 to 100; 0 = off
	Switch  bool    // pass the account over; false = only tell
}

// ThresholdEvent tells that a bucket has fallen below the threshold: once, until it has recovered or was reset.
type ThresholdEvent struct {
	Profile string
	Bucket  quota.Bucket
	Percent float64 // the threshold
	Switch  bool
	At      time.Time
}

// spare passes over a node whose governing bucket is below the threshold. What the verdict rests on is no block.
func (s *Snapshot) spare(n *Node, now time.Time) {
	th := s.Table.Settings.Threshold
	if !th.Switch || th.Percent <= 0 {
		return
	}
	if !s.Standings[n.Index].Bounded() {
		return
	}
	if b, ok := s.Standings[n.Index].Governing(n.Model, n.Family, now); ok && !th.above(b) {
		n.Reason = ReasonThreshold
		n.Block = quota.Block{Bucket: b.ID, Since: b.SeenAt, Until: b.ResetAt, Source: b.Source}
	}
}

// lift makes the nodes that only the threshold holds back usable, in their own order.
func lift(nodes []Node) (lifted bool) {
	for i := range nodes {
		if n := &nodes[i]; n.Reason == ReasonThreshold {
			n.Reason, n.Block, lifted = Usable, quota.Block{}, true
		}
	}
	return lifted
}

// crossed lists the buckets that fell below the threshold between two standings.
func (t Threshold) crossed(profile string, before, after quota.Standing, now time.Time) []ThresholdEvent {
	if t.Percent <= 0 {
		return nil
	}
	var events []ThresholdEvent
	was := before.Windows(now)
	for _, b := range after.Windows(now) {
		if !t.above(b) && !told(t, was, b) {
			events = append(events, ThresholdEvent{profile, b, t.Percent, t.Switch, now})
		}
	}
	return events
}

// above reports whether a bucket is not known to be below.
func (t Threshold) above(b quota.Bucket) bool {
	return !b.RemainingPercent.Known || b.RemainingPercent.Value >= t.Percent
}

// told reports whether a bucket was below already.
func told(t Threshold, was []quota.Bucket, b quota.Bucket) bool {
	for _, w := range was {
		if w.ID == b.ID {
			return !t.above(w)
		}
	}
	return false
}

// tell passes events on, when no lock is held.
func (r *Router) tell(events []ThresholdEvent) {
	for _, e := range events {
		r.logger.Warn("quota below threshold", slog.String("profile", e.Profile), slog.String("bucket", e.Bucket.ID),
			slog.Float64("remaining_percent", e.Bucket.RemainingPercent.Value), slog.Float64("threshold_percent", e.Percent))
		if r.onThreshold != nil {
			r.onThreshold(e)
		}
	}
}
