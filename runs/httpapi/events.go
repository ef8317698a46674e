package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"hermes-hub/runs"
)

// The names of frames that are no rows.
const (
	controlReset    = "journal.reset"
	controlGap      = "journal.gap"
	controlCaughtUp = "journal.caught_up"
)

// comeBackIn is how long an observer waits before it comes back when its connection was lost.
const comeBackIn = 2 * time.Second

type resetFrame struct {
	RunID  string           `json:"run_id"`
	Reason runs.ResetReason `json:"reason"`
}

type gapFrame struct {
	RunID string `json:"run_id"`
	runs.Gap
}

type caughtUpFrame struct {
	RunID       string `json:"run_id"`
	LastEventID string `json:"last_event_id"`
}

// events serves the rows of a run from a cursor on: as a stream, or as a page.
func (a *API) events(q *call) error {
	if wantsPage(q.r) {
		return a.page(q)
	}
	leave, ok := a.seats.take(ofRun)
	if !ok {
		return a.seats.crowded()
	}
	defer leave()
	o, err := a.observe(q)
	if err != nil {
		return err
	}
	defer o.sub.Close()
	if err := o.follow(q.r.Context()); errors.Is(err, io.EOF) {
		_ = o.s.done() // an observer that is gone has no use for an error
	}
	return nil
}

// observer is one on its way through a run.
type observer struct {
	a     *API
	s     *stream
	sub   *runs.Subscription
	words runs.Dialect
	next  runs.Delivery
}

// observe begins a stream of a run's rows.
func (a *API) observe(q *call) (*observer, error) {
	run, head, err := a.observable(q)
	if err != nil {
		return nil, err
	}
	sub, head, err := a.o.Journal.Subscribe(q.r.Context(), head.RunID, askedCursor(q.r))
	switch {
	case err != nil:
		return nil, err
	case sub == nil:
		return nil, gone(head)
	}
	q.w.Header().Set("X-Hub-Run-Id", head.RunID)
	s := a.open(q)
	s.retry(comeBackIn)
	return &observer{a: a, s: s, sub: sub, words: run.Words}, nil
}

func askedCursor(r *http.Request) string {
	return runs.AskedCursor(r.URL.Query(), r.Header.Get("Last-Event-ID"))
}

// fetch waits for the next delivery.
func (o *observer) fetch(ctx context.Context) error {
	err := o.a.await(ctx, o.s, o.sub.Wait)
	if err == nil {
		o.next, err = o.sub.Next(ctx)
	}
	return err
}

// follow tells all that is delivered. It returns io.EOF after the last of it, and another error when the observer or the
// run is gone.
func (o *observer) follow(ctx context.Context) error {
	if err := o.s.flush(); err != nil {
		return err
	}
	for {
		if err := o.fetch(ctx); err != nil {
			return err
		}
		if err := o.s.deliver(&o.next, o.words); err != nil {
			return err
		}
	}
}

// deliver sends one delivery.
func (s *stream) deliver(d *runs.Delivery, words runs.Dialect) error {
	if d.Reset != "" {
		s.control(controlReset, resetFrame{d.Head.RunID, d.Reset})
	}
	if d.Gap != (runs.Gap{}) {
		s.control(controlGap, gapFrame{d.Head.RunID, d.Gap})
	}
	if err := s.rows(d.Rows, words); err != nil {
		return err
	}
	if d.CaughtUp {
		s.control(controlCaughtUp, caughtUpFrame{d.Head.RunID, d.Head.LastEventID()})
	}
	return s.flush()
}

// rows writes rows, and sends them when they are many.
func (s *stream) rows(rows []runs.Event, words runs.Dialect) error {
	for _, e := range rows {
		data, err := words.Frame(e)
		if err != nil {
			return err
		}
		s.row(e.ID(), data)
		if s.full() {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
