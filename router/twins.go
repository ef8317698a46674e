package router

import (
	"cmp"
	"maps"
	"slices"

	"hermes-hub/quota"
)

// Twins are profiles of one account: the same provider and the same account id, with a credential each. What an answer says
// of quota, rates and bills is then true of all of them; what it says of a credential or of a way is not. The id is the one
// that the credential itself names, else the configured one.

// account is the name by which a profile's account is known; "" = unknown.
func (s *Snapshot) account(i int) string {
	p := s.Table.Profiles[i]
	id := cmp.Or(s.identified[p.ID], p.AccountID)
	if id == "" {
		return ""
	}
	return p.Provider.ID + "\x00" + id
}

// pair works out the twins of every profile, and lets new ones share what they know. It runs on a snapshot that is not
// published yet and whose Standings are its own.
func (s *Snapshot) pair() {
	s.twins = make([][]int, len(s.Table.Profiles))
	byAccount := make(map[string][]int)
	for i := range s.Table.Profiles {
		if a := s.account(i); a != "" {
			byAccount[a] = append(byAccount[a], i)
		}
	}
	for _, group := range byAccount {
		if len(group) < 2 {
			continue
		}
		before := make([]quota.Standing, 0, len(group))
		for _, i := range group {
			before = append(before, s.Standings[i])
		}
		for _, i := range group {
			for k, j := range group {
				if j != i {
					s.twins[i] = append(s.twins[i], j)
					s.Standings[i] = s.Standings[i].Share(before[k])
				}
			}
		}
	}
}

// Identify tells which account is behind a profile, as its credential says; "" = not known any more. It outlives a Swap that
// keeps the profile. Another account than before is a stranger: what was learnt of the one is forgotten. It reports whether
// there is such a profile.
func (r *Router) Identify(profileID, accountID string) bool {
	defer r.queue.serveAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || s.identified[profileID] == accountID {
		return ok
	}
	next := *s
	next.Version++
	next.identified = maps.Clone(s.identified)
	next.Standings = slices.Clone(s.Standings)
	if was := s.identified[profileID]; was != "" && accountID != "" {
		next.Standings[i] = quota.Standing{}
		next.since = slices.Clone(s.since)
		next.since[i] = r.now()
		r.logger.Info("profile has another account", "profile", profileID)
	}
	if next.identified == nil {
		next.identified = make(map[string]string)
	}
	next.identified[profileID] = accountID
	next.pair()
	r.publish(&next)
	return true
}

// Twins lists the profiles that are one account, a group each, in file order.
func (r *Router) Twins() [][]string {
	s := r.Snapshot()
	var groups [][]string
	for i, twins := range s.twins {
		if len(twins) == 0 || twins[0] < i {
			continue
		}
		group := []string{s.Table.Profiles[i].ID}
		for _, j := range twins {
			group = append(group, s.Table.Profiles[j].ID)
		}
		groups = append(groups, group)
	}
	return groups
}
