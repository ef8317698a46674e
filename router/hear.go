package router

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"hermes-hub/quota"
)

// News is what the peers have learnt of an account. Times are by this instance's clock.
type News struct {
	Blocks  []quota.Block // what stands against it
	Again   []quota.Block // what stands against it, of which this instance knew: it may have disproved that meanwhile
	Over    []quota.Block // what does not any more, nor anything of the same cause that was seen before its Since
	Cleared time.Time     // when an operator cleared it; zero = nobody did
}

// Identity names which account profile i of the table is, as far as its configuration and its credential tell: what was
// learnt of one is not true of another that has its id. Where both are configured alike, instances agree on it. It tells
// nothing of the credential.
func (s *Snapshot) Identity(i int) string {
	is := identityOf(s.Table.Profiles[i])
	sum := sha256.Sum256([]byte(is.BaseURL + "\x00" + is.Credential + "\x00" + s.account(i)))
	return hex.EncodeToString(sum[:8])
}

// Hear takes over what peers have learnt of a profile, if it still is the account of that identity. It returns what is known of
// it then. The peers are not told: they know.
func (r *Router) Hear(profileID, identity string, n News) (st quota.Standing, ok bool) {
	st, ok, freed := r.hear(profileID, identity, n)
	if freed {
		r.queue.serveAll()
	}
	return st, ok
}

func (r *Router) hear(profileID, identity string, n News) (st quota.Standing, ok, freed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || s.Identity(i) != identity {
		return quota.Standing{}, false, false
	}
	before := s.Standings[i]
	next := *s
	next.Standings = slices.Clone(s.Standings)
	if !n.Cleared.IsZero() {
		next.Standings[i] = before.ClearedAt(n.Cleared)
		next.calm(i, n.Cleared)
	}
	for _, b := range n.Over {
		next.Standings[i] = next.Standings[i].Over(b)
	}
	for _, b := range n.Blocks {
		next.Standings[i] = next.Standings[i].Heard(b)
	}
	for _, b := range n.Again {
		if st := next.Standings[i]; b.Since.After(s.proved[i]) || st.Has(b) {
			next.Standings[i] = st.Heard(b)
		}
	}
	after := next.Standings[i]
	if before.Equal(after) && slices.Equal(s.outages, next.outages) {
		return before, true, false
	}
	next.Version++
	r.publish(&next)
	r.logTurn(profileID, quota.Call{At: r.now()}, before, after)
	return after, true, lifted(before, after) || !slices.Equal(s.outages, next.outages)
}

// calm forgets the trouble that an account's egress had at a time. It runs on a snapshot that is not published yet.
func (s *Snapshot) calm(i int, at time.Time) {
	if e := s.Table.egress[i]; e >= 0 && s.outages[e] != (outage{}) && !s.outages[e].at.After(at) {
		s.outages = slices.Clone(s.outages)
		s.outages[e] = outage{}
	}
}

// Recount tells that the peers may hold fewer slots than a moment ago, or leave more of them: those who wait are served.
func (r *Router) Recount() { r.queue.serveAll() }

// HearBond takes over a bond that a peer has made or renewed, unless this instance knows a younger one.
func (r *Router) HearBond(b Bond) {
	session, err := hex.DecodeString(b.Session)
	if err != nil || len(session) != len(sessionKey{}) {
		return
	}
	if r.affinity.hear(bond{bondKey: bondKey{sessionKey(session), b.Role}, profile: b.Profile, at: b.At}) {
		r.touch()
	}
}

func (b *bond) told() Bond {
	return Bond{Session: hex.EncodeToString(b.session[:]), Role: b.role, Profile: b.profile, At: b.at}
}
