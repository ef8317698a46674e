package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hermes-hub/runs"
)

const (
	usualRows   = 256
	mostRows    = 1000
	mostOfAPage = 1 << 20 // bytes of frames after which a page is full

	longestWait = 60 * time.Second
	// runnerWait is how long a page waits for rows in the WebUI's words: its poller never asks for it, and pauses for
	// five seconds after each empty page.
	runnerWait = 10 * time.Second
)

// page is a part of a run's rows.
type page struct {
	RunID         string              `json:"run_id"`
	SessionID     *string             `json:"session_id"`
	Status        *string             `json:"status,omitempty"`
	Events        []json.RawMessage   `json:"events"`
	Cursor        string              `json:"cursor"`        // ask for what follows with it
	LastEventID   *string             `json:"last_event_id"` // the same as an id
	CaughtUp      bool                `json:"caught_up"`     // with this page, all that was committed is told
	Closed        bool                `json:"closed"`        // nothing will follow
	TerminalState *runs.TerminalState `json:"terminal_state"`
	Reset         *resetFrame         `json:"reset,omitempty"` // the cursor did not fit: this is from the start
	Gap           *gapFrame           `json:"gap,omitempty"`   // these rows are not there any more
}

// pager fills a page.
type pager struct {
	sub    *runs.Subscription
	words  runs.Dialect
	silent bool // rows without a word in the dialect are left out
	limit  int

	page page
	at   int64 // the seq up to which the page tells
	size int
	head runs.Head
	done bool
}

// page answers with rows after the cursor. With wait it waits for one.
func (a *API) page(q *call) error {
	run, _, err := a.observable(q)
	if err != nil {
		return err
	}
	query, ctx, cursor := q.r.URL.Query(), q.r.Context(), askedCursor(q.r)
	limit, err := pageLimit(query)
	if err != nil {
		return err
	}
	usually := time.Duration(0)
	if run.Words == runs.WebUI {
		usually = runnerWait
	}
	wait, err := pageWait(query, usually)
	if err != nil {
		return err
	}
	sub, head, err := a.o.Journal.Subscribe(ctx, run.RunID, cursor)
	switch {
	case err != nil:
		return err
	case sub == nil:
		return gone(head)
	}
	p := &pager{sub: sub, words: run.Words, silent: run.Words == runs.WebUI && !q.client.All, limit: limit, at: runs.Resume(cursor, head).After, head: head}
	defer func() { p.sub.Close() }()
	p.page = page{RunID: run.RunID, SessionID: known(run.SessionID), Events: []json.RawMessage{}}
	if leave, ok := a.seats.take(ofRun); ok {
		defer leave()
	} else {
		wait = 0
	}
	if err := p.fill(ctx, wait); err != nil {
		return err
	}
	if len(p.page.Events) == 0 && p.silent && p.head.Closed {
		if err := p.sayEnd(ctx, a.o.Journal); err != nil {
			return err
		}
	}
	return q.answer(http.StatusOK, p.finish())
}

// fill takes what there is, and when that is nothing, waits for something.
func (p *pager) fill(ctx context.Context, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for !p.full() {
		until := ctx
		if p.page.CaughtUp {
			if len(p.page.Events) > 0 || wait == 0 {
				return nil
			}
			until = waiting
		}
		d, err := p.sub.Next(until)
		switch {
		case errors.Is(err, io.EOF):
			p.done = true
			return nil
		case err != nil && p.page.CaughtUp && waiting.Err() != nil: // also when the hub stops: an empty page is one
			return nil
		case err != nil:
			return err
		}
		if err := p.take(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *pager) full() bool { return len(p.page.Events) >= p.limit || p.size >= mostOfAPage }

// take takes of a delivery what the page has room for.
func (p *pager) take(d runs.Delivery) error {
	p.head = d.Head
	if d.Reset != "" {
		p.page.Reset, p.at = &resetFrame{d.Head.RunID, d.Reset}, 0
		p.page.Events, p.size = p.page.Events[:0], 0
	}
	if d.Gap != (runs.Gap{}) {
		p.page.Gap, p.at = &gapFrame{d.Head.RunID, d.Gap}, d.Gap.To
	}
	for _, e := range d.Rows {
		if p.full() {
			return nil
		}
		p.at = e.Seq
		if p.silent && p.words.Name(e) == "" {
			continue
		}
		frame, err := p.words.Frame(e)
		if err != nil {
			return err
		}
		p.page.Events, p.size = append(p.page.Events, frame), p.size+len(frame)
	}
	p.page.CaughtUp = p.page.CaughtUp || d.CaughtUp
	return nil
}

// sayEnd tells the closing row again to one who has it already and asks on: the WebUI's poller stops at that event, and
// knows too few words for the ends of runs to stop at any other sign.
func (p *pager) sayEnd(ctx context.Context, j *runs.Journal) error {
	p.sub.Close()
	sub, _, err := j.Subscribe(ctx, p.head.RunID, strconv.FormatInt(p.head.Last-1, 10))
	if err != nil || sub == nil {
		return err
	}
	p.sub = sub
	d, err := sub.Next(ctx)
	if err != nil {
		return err
	}
	return p.take(d)
}

func (p *pager) finish() page {
	g := p.page
	g.Cursor = strconv.FormatInt(p.at, 10)
	if p.at > 0 {
		g.LastEventID = known(p.head.RunID + ":" + g.Cursor)
	}
	g.CaughtUp = p.at >= p.head.Last
	g.Closed = g.CaughtUp && (p.head.Closed || p.done)
	g.TerminalState = known(p.head.End)
	return g
}

func pageLimit(query url.Values) (int, error) {
	text := query.Get("limit")
	if text == "" {
		return usualRows, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 {
		return 0, badQuery("limit", text, "a whole number from 1 on")
	}
	return min(limit, mostRows), nil
}

// pageWait reads how many seconds a page may wait.
func pageWait(query url.Values, usually time.Duration) (time.Duration, error) {
	text := query.Get("wait")
	if text == "" {
		return usually, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0) {
		return 0, badQuery("wait", text, "a number of seconds")
	}
	return time.Duration(math.Min(seconds, longestWait.Seconds()) * float64(time.Second)), nil
}

func badQuery(name, text, want string) *fault {
	if len(text) > 40 {
		text = text[:40]
	}
	return &fault{code: codeInvalidRequest, message: name + " is " + strconv.Quote(text) + "; it must be " + want, param: name}
}
