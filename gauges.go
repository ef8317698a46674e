package main

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"hermes-hub/admin"
	"hermes-hub/admin/hub"
	"hermes-hub/proxy"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// ledger is where every exchange ends: its price, the metrics, the numbers of the day, and a line in the log. A success is a line at debug level
// only: a line for each costs more than the metrics it repeats.
type ledger struct {
	metrics *telemetry.Metrics
	prices  atomic.Pointer[telemetry.Prices] // a reload may change them
	window  *telemetry.Window
	log     *slog.Logger
}

func newLedger(m *telemetry.Metrics, p *telemetry.Prices, w *telemetry.Window, log *slog.Logger) *ledger {
	l := &ledger{metrics: m, window: w, log: log}
	l.prices.Store(p)
	return l
}

// Inflight adds to the number of requests being served.
func (l *ledger) Inflight(delta int) { l.metrics.Inflight(delta) }

// Observe tells an exchange to everyone who keeps count.
func (l *ledger) Observe(x *telemetry.Exchange) {
	l.prices.Load().Charge(x)
	l.metrics.Observe(x)
	l.window.Observe(x)
	x.Log(context.Background(), l.log)
}

// labels are the label values that the configuration allows.
func labels(t *router.Table) telemetry.Labels {
	l := telemetry.Labels{Endpoints: proxy.Endpoints()}
	for _, p := range t.Profiles {
		l.Profiles = append(l.Profiles, p.ID)
		if !slices.Contains(l.Providers, p.Provider.ID) {
			l.Providers = append(l.Providers, p.Provider.ID)
		}
	}
	for _, r := range t.Roles {
		l.Roles = append(l.Roles, r.ID)
	}
	return l
}

// state is what the gauges show, read when they are scraped.
func (a *app) state() telemetry.State {
	s, now := a.router.Snapshot(), time.Now()
	occ := s.Occupancy()
	out := telemetry.State{At: now, Generation: a.picture.store.Current().Stamp().Generation, ReloadOK: !a.stale.Load()}
	for _, state := range router.ProfileStates() {
		if state != router.ProfileHealthy {
			out.States = append(out.States, string(state))
		}
	}
	for i, p := range router.Statuses(s, occ, now) {
		ps := telemetry.ProfileState{Profile: p.ID, State: string(p.State), Leases: p.Held, LeaseLimit: p.Limit}
		for _, b := range s.Standings[i].Buckets() {
			if b.Source == quota.SourceSimulated { // a series cannot say so
				continue
			}
			ps.Buckets = append(ps.Buckets, bucketState(b))
			if b.SeenAt.After(ps.MeasuredAt) {
				ps.MeasuredAt = b.SeenAt
			}
		}
		out.Profiles = append(out.Profiles, ps)
	}
	for _, o := range router.Outages(s, now) {
		out.Resting = append(out.Resting, o.Provider)
	}
	for role, route := range hub.Build(a.picture.collect(context.Background()), now).Routing { // as the snapshot tells it
		out.Pipelines = append(out.Pipelines, telemetry.Pipeline{Role: role, Profile: route.ActiveProfileID})
	}
	return out
}

func bucketState(b quota.Bucket) telemetry.BucketState {
	out := telemetry.BucketState{ID: b.ID, ResetAt: b.ResetAt}
	if b.RemainingPercent.Known {
		ratio := b.RemainingPercent.Value / 100
		out.RemainingRatio = &ratio
	}
	return out
}

// explainer answers the explain view: what a request would meet now, or what a finished one met.
type explainer struct {
	router *router.Router
	trails *router.Trails
	seq    func() uint64 // of the newest picture
}

// Explain answers one query.
func (e *explainer) Explain(_ context.Context, q admin.ExplainQuery) (router.Explanation, error) {
	if q.RequestID != "" {
		found, ok := e.trails.Find(q.RequestID)
		if !ok {
			return router.Explanation{}, admin.ErrUnknownRequest
		}
		return found, nil
	}
	t := e.router.Snapshot().Table
	role, err := t.Resolve(router.Carriers{Metadata: q.Role, Model: q.Model, SessionRole: e.router.SessionRole(q.Session)})
	if err != nil {
		return router.Explanation{}, err
	}
	at := q.At
	if at.IsZero() {
		at = time.Now()
	}
	var p router.Plan
	e.router.PlanAt(router.Query{Role: role.Role, Model: role.Model, AnyNode: role.AnyNode, Session: q.Session}, at, &p)
	told := router.Explain(&p, role.Source, nil, "")
	told.SnapshotSeq = e.seq()
	return told, nil
}
