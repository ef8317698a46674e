package router

import "hermes-hub/quota"

// Simulate puts a bucket of an operator's own in the place of what is known of it, until it is measured again: what would
// happen if an account were as full as that, without spending it. It reports whether there is such an account. Twins are not
// concerned.
func (r *Router) Simulate(profileID string, b quota.Bucket) bool {
	var before, after quota.Standing
	policy, threshold, now := r.Snapshot().Table.Settings.Policy, Threshold{}, r.now()
	known := r.amend(profileID, "account's quota is simulated", func(next *Snapshot, i int) {
		before, threshold = next.Standings[i], next.Table.Settings.Threshold
		after = before.Simulate(b, now, policy)
		next.Standings[i] = after
	})
	r.tell(threshold.crossed(profileID, before, after, now))
	return known
}

// StopSimulation takes out of an account what was simulated. It reports whether there is such an account.
func (r *Router) StopSimulation(profileID string) bool {
	return r.amend(profileID, "account's quota is simulated no more", func(next *Snapshot, i int) {
		next.Standings[i] = next.Standings[i].WithoutSimulation()
	})
}
