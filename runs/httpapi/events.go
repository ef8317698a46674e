package httpapi

import (
	"context"
	"errors"
	"io"
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
	ctx := q.r.Context()
	head, err := a.head(ctx, q.client, q.args[0])
	switch {
	case err != nil:
		return err
	case head.Expired:
		return gone(head)
	}
	run, err := a.begun(ctx, head)
	if err != nil {
		return err
	}
	cursor := runs.AskedCursor(q.r.URL.Query(), q.r.Header.Get("Last-Event-ID"))
	if wantsPage(q.r) {
		return a.page(q, run, cursor)
	}
	leave, ok := a.seats.take(ofRun)
	if !ok {
		return a.seats.crowded()
	}
	defer leave()
	sub, head, err := a.o.Journal.Subscribe(ctx, head.RunID, cursor)
	switch {
	case err != nil:
		return err
	case sub == nil:
		return gone(head)
	}
	defer sub.Close()
	q.w.Header().Set("X-Hub-Run-Id", head.RunID)
	s := a.open(q)
	s.retry(comeBackIn)
	if err := a.follow(ctx, s, sub, run.Words); errors.Is(err, io.EOF) {
		_ = s.done() // an observer that is gone has no use for an error
	}
	return nil
}

// follow tells all that a subscription delivers. It returns io.EOF after the last of it, and another error when the
// observer or the run is gone.
func (a *API) follow(ctx context.Context, s *stream, sub *runs.Subscription, words runs.Dialect) error {
	if err := s.flush(); err != nil {
		return err
	}
	for {
		var d runs.Delivery
		err := a.await(ctx, s, func(ctx context.Context) (err error) {
			d, err = sub.Next(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.deliver(d, words); err != nil {
			return err
		}
	}
}

// deliver sends one delivery.
func (s *stream) deliver(d runs.Delivery, words runs.Dialect) error {
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
