package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"hermes-hub/admin/hub"
	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// Picture is what the plane shows of the hub's state, and who carries out what an operator wants of an account.
type Picture struct {
	Store    *hub.Store
	Calls    func(window time.Duration, f telemetry.Filter) telemetry.Breakdown // up to now
	Host     func() host.Metrics
	Accounts Accounts
}

// pictureRoutes are those of the hub's state.
func (a *Admin) pictureRoutes() []route {
	if a.picture == nil {
		return nil
	}
	return append([]route{
		{http.MethodGet, "/admin/v1/snapshot", needViewer, a.showSnapshot},
		{http.MethodGet, "/admin/v1/snapshot.schema.json", needViewer, showSchema},
		{http.MethodGet, "/admin/v1/events", needStream, a.followEvents},
		{http.MethodPost, "/admin/v1/stream-token", needViewer, a.giveTicket},
		{http.MethodGet, "/admin/v1/profiles", needViewer, a.listProfiles},
		{http.MethodGet, "/admin/v1/profiles/:id", needViewer, a.showProfile},
		{http.MethodGet, "/admin/v1/quotas", needViewer, a.listQuotas},
		{http.MethodGet, "/admin/v1/quotas/:id", needViewer, a.showQuota},
		{http.MethodPost, "/admin/v1/quotas/refresh", needAdmin, a.refreshQuotas},
		{http.MethodPost, "/admin/v1/quotas/:id/simulate", needAdmin, a.simulate},
		{http.MethodDelete, "/admin/v1/quotas/:id/simulate", needAdmin, a.stopSimulation},
		{http.MethodGet, "/admin/v1/telemetry", needViewer, a.showTelemetry},
		{http.MethodGet, "/admin/v1/host", needViewer, a.showHost},
	}, a.actionRoutes()...)
}

// awaitsFor is how long GET snapshot waits for the seq that it is asked for.
const awaitsFor = 10 * time.Second

// showSnapshot answers the newest picture, or, with min_seq, one of that seq at least: who has just read an event or an
// action's answer sees what it led to. It builds nothing and asks nobody.
func (a *Admin) showSnapshot(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, "min_seq")
	if err != nil {
		return err
	}
	edition := a.picture.Store.Current()
	if given := q.Get("min_seq"); given != "" {
		seq, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			return invalid(fmt.Sprintf("min_seq is %q; want a seq, a whole number", clip(given)))
		}
		if edition, err = a.await(w, r, seq); err != nil {
			return err
		}
	}
	now, header := a.now(), w.Header()
	header.Set("ETag", edition.ETag())
	if match := r.Header.Get("If-None-Match"); match != "" && edition.Unchanged(match, now) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(edition.Size(now)))
	w.WriteHeader(http.StatusOK)
	_ = edition.WriteJSON(w, now) // as in problem.write
	return nil
}

// await is the picture of a seq or a later one.
func (a *Admin) await(w http.ResponseWriter, r *http.Request, seq uint64) (*hub.Edition, error) {
	ctx, leave := a.waits.enter(r.Context())
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, awaitsFor)
	defer cancel()
	edition, err := a.picture.Store.Await(ctx, seq)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		w.Header().Set("Retry-After", "1")
		return nil, newProblem(http.StatusServiceUnavailable, "snapshot-behind",
			fmt.Sprintf("No snapshot of seq %d has been published; the newest has %d.", seq, a.picture.Store.Current().Stamp().Seq))
	}
	return edition, err
}

func showSchema(w http.ResponseWriter, r *http.Request) error {
	if _, err := readQuery(r); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/schema+json")
	_, _ = w.Write(hub.Schema()) // as in problem.write
	return nil
}
