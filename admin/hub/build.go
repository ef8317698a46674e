package hub

import (
	"cmp"
	"slices"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// Build derives the picture of one moment. It is pure: now is the moment, and its location that of the hub's own clock. The
// picture has no numbers yet, and nothing that a store counts and measures: a Store adds those.
func Build(src Sources, now time.Time) HubSnapshot {
	if src.Router == nil {
		return bootstrap(now)
	}
	b := newBuilder(src, now)
	s := HubSnapshot{
		Timestamp:          epochSeconds(now),
		ProfilesByProvider: make(map[string][]*ProfileViewModel),
		AllProfiles:        make(map[string]*ProfileViewModel, len(b.table.Profiles)),
		Agents:             make([]AgentViewModel, 0, len(b.table.Roles)),
		Routing:            make(map[string]*RolePipeline, len(b.table.Roles)),
		Quotas:             make(map[string]*QuotaSnapshot, len(b.table.Profiles)),
	}
	for i := range b.table.Profiles {
		p := b.profile(i)
		s.AllProfiles[p.ProfileID], s.Quotas[p.ProfileID] = p, p.QuotaSnapshot
		s.ProfilesByProvider[p.Provider] = append(s.ProfilesByProvider[p.Provider], p)
		b.views = append(b.views, p)
	}
	for _, list := range s.ProfilesByProvider {
		slices.SortFunc(list, func(x, y *ProfileViewModel) int { return cmp.Compare(x.ProfileID, y.ProfileID) })
	}
	for _, r := range b.table.Roles {
		line := b.route(r)
		s.Routing[r.ID] = line.pipeline()
		s.Agents = append(s.Agents, line.agent())
		b.lines = append(b.lines, line)
	}
	s.Providers = b.providers(s.ProfilesByProvider)
	s.Readiness = b.readiness(s.Providers)
	s.Metrics = b.metrics()
	return s
}

// bootstrap is the picture before anything is known.
func bootstrap(now time.Time) HubSnapshot {
	return HubSnapshot{
		Timestamp:          epochSeconds(now),
		ProfilesByProvider: map[string][]*ProfileViewModel{},
		AllProfiles:        map[string]*ProfileViewModel{},
		Readiness: SystemReadiness{
			State: ReadinessLimited, TitleRU: "Инициализация", TitleEN: "Starting",
			SummaryRU: "Состояние аккаунтов ещё не собрано.", SummaryEN: "The state of the accounts has not been collected yet.",
			Warnings: []string{}, WarningsEN: []string{},
		},
		Agents:    []AgentViewModel{},
		Providers: []ProviderSummary{},
		Routing:   map[string]*RolePipeline{},
		Quotas:    map[string]*QuotaSnapshot{},
		Metrics:   Metrics{ActiveCallsByProfile: map[string]int{}},
		IsStale:   true,
	}
}

// builder holds the sources and what is worked out of them on the way to a picture.
type builder struct {
	src   Sources
	now   time.Time
	table *router.Table
	rests map[string]quota.Block // of providers, by profile id
	ids   map[string]description // of buckets
	jobs  [][]job                // by profile index
	views []*ProfileViewModel    // by profile index
	lines []*route               // by role, in file order

	resets     phrases[int]
	remainders phrases[remainder]
}

// job is a place of a profile in a role's chain.
type job struct {
	role     *router.Role
	position int
}

func newBuilder(src Sources, now time.Time) *builder {
	t := src.Router.Table
	b := &builder{
		src: src, now: now, table: t, rests: make(map[string]quota.Block), ids: make(map[string]description), jobs: make([][]job, len(t.Profiles)),
		views: make([]*ProfileViewModel, 0, len(t.Profiles)), lines: make([]*route, 0, len(t.Roles)),
		resets: phrases[int]{}, remainders: phrases[remainder]{},
	}
	for _, o := range router.Outages(src.Router, now) {
		for _, profile := range o.Profiles {
			b.rests[profile] = o.Block
		}
	}
	for _, r := range t.Roles {
		for position, item := range r.Chain {
			i, _ := t.ProfileIndex(item.Profile) // the table has cross-checked it
			if !slices.ContainsFunc(b.jobs[i], func(j job) bool { return j.role == r }) {
				b.jobs[i] = append(b.jobs[i], job{r, position})
			}
		}
	}
	return b
}

// metrics counts the views.
func (b *builder) metrics() Metrics {
	m := Metrics{TotalProfiles: len(b.views), ActiveCallsByProfile: make(map[string]int, len(b.views))}
	for _, p := range b.views {
		if p.AuthState == Authenticated {
			m.AuthenticatedProfiles++
		}
		m.ActiveCallsByProfile[p.ProfileID] = p.ActiveLeases
		m.ActiveCallsTotal += p.ActiveLeases
	}
	return m
}

// epochSeconds is a time as the contract's timestamp, to the microsecond.
func epochSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// instant is a time as it is published, unknown where it is zero.
func instant(t time.Time) Maybe[time.Time] {
	if t.IsZero() {
		return Maybe[time.Time]{}
	}
	return Known(published(t))
}

// published is a time in UTC, to the millisecond, and comparable by ==.
func published(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// secondsUntil counts up: what is not over yet has a second left at least.
func secondsUntil(t, now time.Time) int {
	if left := t.Sub(now); left > 0 {
		return int((left + time.Second - 1) / time.Second)
	}
	return 0
}
