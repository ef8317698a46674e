package telemetry

import "cmp"

// knownNames are the names that a lane may have: those of the configuration. Everything else is Other, so that no client
// and no upstream can make lanes.
type knownNames struct {
	roles, profiles map[string]string // each name by itself: what is kept is the configuration's string, not a request's
	providers       []string
}

func newKnownNames(l Labels) *knownNames {
	k := &knownNames{roles: map[string]string{}, profiles: map[string]string{}, providers: l.Providers}
	for _, r := range l.Roles {
		k.roles[r] = r
	}
	for _, p := range l.Profiles {
		k.profiles[p] = p
	}
	return k
}

// lane is what an attempt is counted by. A known profile's provider is the configuration's word too.
func (k *knownNames) lane(role string, a *Attempt) lane {
	l := lane{role: k.role(role), provider: Other, profile: Other}
	if profile, ok := k.profiles[a.Profile]; ok {
		l.provider, l.profile = cmp.Or(a.Provider, Other), profile
	}
	return l
}

func (k *knownNames) role(role string) string { return cmp.Or(k.roles[role], Other) }
