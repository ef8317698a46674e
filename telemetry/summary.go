package telemetry

import "time"

// summary adds lanes up to what a Breakdown tells.
type summary struct {
	filter           Filter
	calls            int64 // of the window, whatever the filter admits
	roles, providers map[string]*group
}

func newSummary(f Filter) *summary {
	return &summary{filter: f, roles: map[string]*group{}, providers: map[string]*group{}}
}

func (s *summary) addHour(h *hour) {
	from := h.pairs
	if s.filter.Profile != "" {
		from = h.lanes
	}
	for k, t := range from {
		s.add(k, t)
	}
}

func (s *summary) add(k lane, t *tally) {
	s.calls = plus(s.calls, t.calls)
	if !s.filter.admits(k) {
		return
	}
	groupOf(s.roles, k.role).add(t)
	if k.provider != "" {
		groupOf(s.providers, k.provider).add(t)
	}
}

func groupOf(groups map[string]*group, name string) *group {
	g := groups[name]
	if g == nil {
		g = &group{}
		groups[name] = g
	}
	return g
}

// breakdown tells what was added up. What the configuration knows and the filter does not rule out has a row, called or not.
func (s *summary) breakdown(known *knownNames, window time.Duration) Breakdown {
	for _, role := range known.roles {
		if s.filter.Role == "" || s.filter.Role == role {
			groupOf(s.roles, role)
		}
	}
	for _, provider := range known.providers {
		if s.filter.Profile == "" && (s.filter.Provider == "" || s.filter.Provider == provider) {
			groupOf(s.providers, provider)
		}
	}
	global := &group{}
	for _, g := range s.roles { // every lane has a role
		global.tally.merge(&g.tally)
		global.spread.merge(&g.spread)
	}
	all := global.aggregates(s.calls)
	return Breakdown{
		Source:        OwnMeasurement,
		HasData:       all.HasData,
		WindowSeconds: window.Seconds(),
		Global:        all,
		ByProvider:    s.rows(s.providers),
		ByRole:        s.rows(s.roles),
	}
}

func (s *summary) rows(groups map[string]*group) map[string]Aggregates {
	rows := make(map[string]Aggregates, len(groups))
	for name, g := range groups {
		rows[name] = g.aggregates(s.calls)
	}
	return rows
}
