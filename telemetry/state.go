package telemetry

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what the gauges show: plain values of one moment, read when somebody scrapes, so that they cannot drift.
type State struct {
	At         time.Time // the moment; ages are counted from it
	Generation uint64    // of the published snapshot
	ReloadOK   bool      // the last reload of the configuration took effect
	States     []string  // every state a profile can be in besides healthy
	Profiles   []ProfileState
	Pipelines  []Pipeline
	Resting    []string // providers whose accounts rest together, because several failed alike
}

// ProfileState is one account of a State.
type ProfileState struct {
	Profile    string
	State      string // one of State.States; "" shows as healthy, anything else as Other
	Leases     int
	LeaseLimit int // 0 = unlimited: no series, because there is no number to compare with
	Buckets    []BucketState
	MeasuredAt time.Time // when its quota was measured last; zero = never: no series
}

// BucketState is one quota window of an account.
type BucketState struct {
	ID             string
	RemainingRatio *float64  // 0 to 1; nil = unknown: no series
	ResetAt        time.Time // zero = unknown: no series
}

// Pipeline says which account serves a role now.
type Pipeline struct{ Role, Profile string }

// healthy is the state of an account that nothing keeps from serving.
const healthy = "healthy"

// maxBuckets bounds the series of one account: bucket ids come from providers' answers.
const maxBuckets = 64

type stateCollector struct {
	read func() State

	leases, leaseLimit, profileState, pipelineActive  *prometheus.Desc
	remaining, resetAt, age, generation, reloadWorked *prometheus.Desc
	resting                                           *prometheus.Desc
}

// StateCollector shows what read returns at every scrape.
func StateCollector(read func() State) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return &stateCollector{
		read:           read,
		leases:         desc("leases", "Slots of an account that are taken.", "profile"),
		leaseLimit:     desc("lease_limit", "Slots of an account; absent when there is no limit.", "profile"),
		profileState:   desc("profile_state", "1 for the state the account is in, 0 for the others.", "profile", "state"),
		pipelineActive: desc("pipeline_active", "1 for the account that serves the role now.", "role", "profile"),
		resting:        desc("provider_resting", "1 while the provider's accounts rest together, because several failed alike; else absent.", "provider"),
		remaining:      desc("quota_remaining_ratio", "What is left of a quota window, from 0 to 1; absent when unknown.", "profile", "bucket"),
		resetAt:        desc("quota_reset_timestamp_seconds", "When a quota window is full again; absent when unknown.", "profile", "bucket"),
		age:            desc("quota_age_seconds", "Time since the account's quota was measured; absent when it never was.", "profile"),
		generation:     desc("snapshot_generation", "Generation of the published snapshot."),
		reloadWorked:   desc("config_last_reload_successful", "1 when the last reload of the configuration took effect, else 0."),
	}
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		c.leases, c.leaseLimit, c.profileState, c.pipelineActive, c.remaining, c.resetAt, c.age, c.generation, c.reloadWorked, c.resting,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A series is sent once even if the state names it twice, because one duplicate
// would cost the whole scrape.
func (c *stateCollector) Collect(ch chan<- prometheus.Metric) {
	sent := make(map[seriesKey]bool)
	emit := func(d *prometheus.Desc, v float64, labels ...string) {
		key := seriesKey{desc: d}
		for i := range labels {
			labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD")
			key.labels[i] = labels[i]
		}
		if !sent[key] {
			sent[key] = true
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
		}
	}
	s := c.read()
	emit(c.generation, float64(s.Generation))
	emit(c.reloadWorked, flag(s.ReloadOK))
	for i := range s.Profiles {
		c.collectProfile(emit, &s, &s.Profiles[i])
	}
	for _, p := range s.Pipelines {
		emit(c.pipelineActive, 1, p.Role, p.Profile)
	}
	for _, provider := range s.Resting {
		emit(c.resting, 1, provider)
	}
}

type seriesKey struct {
	desc   *prometheus.Desc
	labels [2]string
}

func (c *stateCollector) collectProfile(emit func(*prometheus.Desc, float64, ...string), s *State, p *ProfileState) {
	emit(c.leases, float64(p.Leases), p.Profile)
	if p.LeaseLimit > 0 {
		emit(c.leaseLimit, float64(p.LeaseLimit), p.Profile)
	}
	now := cmp.Or(p.State, healthy)
	if now != healthy && !slices.Contains(s.States, now) {
		now = Other
	}
	emit(c.profileState, flag(now == healthy), p.Profile, healthy)
	for _, state := range s.States {
		emit(c.profileState, flag(state == now), p.Profile, state)
	}
	if now == Other {
		emit(c.profileState, 1, p.Profile, Other)
	}
	for _, b := range p.Buckets[:min(len(p.Buckets), maxBuckets)] {
		if b.RemainingRatio != nil {
			emit(c.remaining, *b.RemainingRatio, p.Profile, b.ID)
		}
		if !b.ResetAt.IsZero() {
			emit(c.resetAt, float64(b.ResetAt.UnixMilli())/1e3, p.Profile, b.ID)
		}
	}
	if !p.MeasuredAt.IsZero() {
		emit(c.age, max(0, s.At.Sub(p.MeasuredAt)).Seconds(), p.Profile)
	}
}

// flag is a yes or no as a gauge shows it.
func flag(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
