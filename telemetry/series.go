package telemetry

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// series holds the children of the label values that one Labels allows, so that the hot path hashes a few strings
// instead of building, checking and locking a label set for each of them. Immutable.
type series struct {
	labels    Labels
	requests  map[requestKey]prometheus.Counter
	failovers map[failoverKey]prometheus.Counter
	succeeded map[string]prometheus.Observer // requestDuration of successes, by endpoint
	profiles  map[string]*profileSeries
}

type requestKey struct {
	endpoint, role string
	outcome        Outcome
}

type failoverKey struct{ role, reason string }

type profileSeries struct {
	id         string // value of the label profile
	attempts   map[string]prometheus.Counter
	duration   prometheus.Observer
	firstToken prometheus.Observer
	tokens     struct{ input, output, cacheRead, cacheWrite, reasoning prometheus.Counter }
	cost       prometheus.Counter
}

// Relabel replaces the allowed label values: series of values that are gone are deleted, those of new ones begin at 0, so
// that a rate sees their first event. Only the duration of requests that failed begins with the first of them: an empty
// histogram is twenty lines of every scrape.
func (m *Metrics) Relabel(l Labels) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.series.Swap(m.newSeries(l))
	if old == nil {
		return
	}
	// Deleted after the swap: a request that is still counting with the old children counts into nothing.
	m.forget("endpoint", old.labels.Endpoints, l.Endpoints)
	m.forget("role", old.labels.Roles, l.Roles)
	m.forget("profile", old.labels.Profiles, l.Profiles)
}

// forget deletes the series whose label has one of the values that were allowed and are no longer.
func (m *Metrics) forget(label string, were, are []string) {
	for _, value := range were {
		if value == Other || slices.Contains(are, value) {
			continue
		}
		gone := prometheus.Labels{label: value}
		for _, vec := range [...]interface{ DeletePartialMatch(prometheus.Labels) int }{
			m.requests, m.attempts, m.failovers, m.requestDuration, m.upstreamDuration, m.firstToken, m.tokens, m.cost,
		} {
			vec.DeletePartialMatch(gone)
		}
	}
}

func (m *Metrics) newSeries(l Labels) *series {
	s := &series{
		labels:    l,
		requests:  make(map[requestKey]prometheus.Counter, len(l.Endpoints)*len(l.Roles)*len(outcomes)),
		failovers: make(map[failoverKey]prometheus.Counter, len(l.Roles)*len(attemptOutcomes)),
		succeeded: make(map[string]prometheus.Observer, len(l.Endpoints)),
		profiles:  make(map[string]*profileSeries, len(l.Profiles)),
	}
	for _, endpoint := range l.Endpoints {
		s.succeeded[endpoint] = m.requestDuration.WithLabelValues(endpoint, string(Success))
		for _, role := range l.Roles {
			for _, outcome := range outcomes {
				s.requests[requestKey{endpoint, role, outcome}] = m.requests.WithLabelValues(endpoint, role, string(outcome))
			}
		}
	}
	for _, role := range l.Roles {
		for _, reason := range attemptOutcomes[1:] { // all but "ok": a call that worked is not failed over
			s.failovers[failoverKey{role, reason}] = m.failovers.WithLabelValues(role, reason)
		}
	}
	for _, profile := range l.Profiles {
		s.profiles[profile] = m.profileSeries(profile)
	}
	return s
}

func (m *Metrics) profileSeries(id string) *profileSeries {
	p := &profileSeries{
		id:         id,
		attempts:   make(map[string]prometheus.Counter, len(attemptOutcomes)),
		duration:   m.upstreamDuration.WithLabelValues(id),
		firstToken: m.firstToken.WithLabelValues(id),
		cost:       m.cost.WithLabelValues(id),
	}
	for _, outcome := range attemptOutcomes {
		p.attempts[outcome] = m.attempts.WithLabelValues(id, outcome)
	}
	p.tokens.input = m.tokens.WithLabelValues(id, "input")
	p.tokens.output = m.tokens.WithLabelValues(id, "output")
	p.tokens.cacheRead = m.tokens.WithLabelValues(id, "cache_read")
	p.tokens.cacheWrite = m.tokens.WithLabelValues(id, "cache_write")
	p.tokens.reasoning = m.tokens.WithLabelValues(id, "reasoning")
	return p
}
