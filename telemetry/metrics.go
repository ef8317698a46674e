package telemetry

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry of the hub's own, with the metrics of the Go runtime and of the process in it.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return reg
}

// Metrics counts exchanges. Its methods may be called by any number of goroutines at once.
type Metrics struct {
	requests         *prometheus.CounterVec   // endpoint, role, outcome
	attempts         *prometheus.CounterVec   // profile, outcome
	failovers        *prometheus.CounterVec   // role, reason
	requestDuration  *prometheus.HistogramVec // endpoint, outcome
	upstreamDuration *prometheus.HistogramVec // profile
	firstToken       *prometheus.HistogramVec // profile
	overhead         prometheus.Histogram
	tokens           *prometheus.CounterVec // profile, kind
	cost             *prometheus.CounterVec // profile
	inflight         prometheus.Gauge

	mu     sync.Mutex             // one Relabel at a time
	series atomic.Pointer[series] // what the hot path finds its children in; replaced by Relabel
}

// NewMetrics registers the metrics of exchanges and of the build with reg, and creates the series that l allows. It
// panics when reg has them already: there is one Metrics a registry.
func NewMetrics(reg *prometheus.Registry, l Labels, b Build) *Metrics {
	m := &Metrics{
		requests: counter("requests_total",
			"Client requests by how they ended.", "endpoint", "role", "outcome"),
		attempts: counter("upstream_attempts_total",
			"Calls of an account by what came of them.", "profile", "outcome"),
		failovers: counter("failovers_total",
			"Failed calls that were followed by another within the same request.", "role", "reason"),
		requestDuration: histogram("request_duration_seconds",
			"From a request's head to its end.", durationBuckets, "endpoint", "outcome"),
		upstreamDuration: histogram("upstream_duration_seconds",
			"One call of an account, whatever came of it.", durationBuckets, "profile"),
		firstToken: histogram("time_to_first_token_seconds",
			"From the start of a streamed call to its first meaningful event.", firstTokenBuckets, "profile"),
		overhead: prometheus.NewHistogram(histogramOptions("overhead_seconds",
			"The hub's own share of a request: its duration less the waiting for upstreams and the client.", overheadBuckets)),
		tokens: counter("tokens_total",
			"Tokens as the providers counted them. Cache kinds are part of input, reasoning is part of output.", "profile", "kind"),
		cost: counter("cost_usd_total",
			"Cost of the calls whose usage and price are known, in US dollars.", "profile"),
		inflight: gauge("inflight_requests",
			"Client requests being served now.").WithLabelValues(),
	}
	build := gauge("build_info", "Always 1; the labels say which program this is.", "version", "commit", "go_version")
	build.WithLabelValues(b.Version, b.Commit, b.GoVersion).Set(1)
	reg.MustRegister(m.requests, m.attempts, m.failovers, m.requestDuration, m.upstreamDuration, m.firstToken, m.overhead,
		m.tokens, m.cost, m.inflight, build)
	m.Relabel(l)
	return m
}

// Observe counts a finished exchange.
func (m *Metrics) Observe(x *Exchange) {
	s := m.series.Load()
	m.observeRequest(s, x)
	for i := range x.Attempts {
		a := &x.Attempts[i]
		m.observeAttempt(s, a)
		if followed := i < len(x.Attempts)-1; followed {
			m.observeFailover(s, x.Role, a.Outcome)
		}
	}
}

// Inflight adds delta to the number of requests being served: 1 when one begins, -1 when it ends.
func (m *Metrics) Inflight(delta int) { m.inflight.Add(float64(delta)) }

// Series that l allows are found by one map look-up each; the rest are rare and pay for their labels.

func (m *Metrics) observeRequest(s *series, x *Exchange) {
	if c, ok := s.requests[requestKey{x.Endpoint, x.Role, x.Outcome}]; ok {
		c.Inc()
	} else {
		m.requests.WithLabelValues(bound(s.labels.Endpoints, x.Endpoint), bound(s.labels.Roles, x.Role), bound(outcomes, x.Outcome)).Inc()
	}
	duration, ok := s.succeeded[x.Endpoint]
	if !ok || x.Outcome != Success {
		duration = m.requestDuration.WithLabelValues(bound(s.labels.Endpoints, x.Endpoint), bound(outcomes, x.Outcome))
	}
	observe(duration, x.Total)
	observe(m.overhead, x.Overhead)
}

func (m *Metrics) observeAttempt(s *series, a *Attempt) {
	p, ok := s.profiles[a.Profile]
	if !ok {
		p = m.profileSeries(Other)
	}
	if c, ok := p.attempts[a.Outcome]; ok {
		c.Inc()
	} else {
		m.attempts.WithLabelValues(p.id, Other).Inc()
	}
	observe(p.duration, a.Duration)
	if a.FirstToken > 0 {
		observe(p.firstToken, a.FirstToken)
	}
	if a.Usage.Known {
		add(p.tokens.input, a.Usage.Input)
		add(p.tokens.output, a.Usage.Output)
		add(p.tokens.cacheRead, a.Usage.CacheRead)
		add(p.tokens.cacheWrite, a.Usage.CacheWrite)
		add(p.tokens.reasoning, a.Usage.Reasoning)
	}
	if a.Cost.Known && a.Cost.USD > 0 {
		p.cost.Add(a.Cost.USD)
	}
}

func (m *Metrics) observeFailover(s *series, role, reason string) {
	if c, ok := s.failovers[failoverKey{role, reason}]; ok {
		c.Inc()
		return
	}
	m.failovers.WithLabelValues(bound(s.labels.Roles, role), bound(attemptOutcomes, reason)).Inc()
}

// add counts n tokens. A provider that states a negative number is not believed: a counter would panic on it.
func add(c prometheus.Counter, n int64) {
	if n > 0 {
		c.Add(float64(n))
	}
}

// observe records d; a clock that went backwards counts as no time at all.
func observe(o prometheus.Observer, d time.Duration) { o.Observe(max(d, 0).Seconds()) }
