package httpapi

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hermes-hub/runs"
)

const (
	usualList = 50
	mostList  = 500
)

// listed is a part of a list, newest first.
type listed struct {
	Data       []runObject `json:"data"`
	NextCursor *string     `json:"next_cursor"` // null: there is nothing more
}

// list answers with the client's runs, newest first.
func (a *API) list(q *call) error {
	query := q.r.URL.Query()
	f := runs.Filter{SessionID: query.Get("session_id")}
	switch text := query.Get("active"); text {
	case "", "0", "false":
	case "1", "true":
		f.Active = true
	default:
		return badQuery("active", text, "true or false")
	}
	a.o.Await(q.r.Context())
	return a.answerList(q, f, nil)
}

// listSession answers with the runs of a session: those that go on, then the others, newest first.
func (a *API) listSession(q *call) error {
	a.o.Await(q.r.Context())
	f := runs.Filter{SessionID: q.args[0], Active: true}
	active, _, err := a.heads(q.r.Context(), q.client, f, mostList, nil)
	if err != nil {
		return err
	}
	f.Active = false
	return a.answerList(q, f, active)
}

// answerList answers with the runs that the filter lets through. Those in front come first, and only once.
func (a *API) answerList(q *call, f runs.Filter, front []runs.Head) error {
	ctx, query := q.r.Context(), q.r.URL.Query()
	limit := usualList
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return badQuery("limit", text, "a whole number from 1 to "+strconv.Itoa(mostList))
		}
		limit = min(n, mostList)
	}
	in := map[string]bool{}
	for _, h := range front {
		in[h.RunID] = true
	}
	if text := query.Get("cursor"); text != "" {
		after, ok := readPlace(text)
		if !ok {
			return badQuery("cursor", text, "one that this list gave out as next_cursor")
		}
		f.After, front = after, nil
	}
	heads, more, err := a.heads(ctx, q.client, f, limit, in)
	if err != nil {
		return err
	}
	answer := listed{Data: []runObject{}}
	if more {
		answer.NextCursor = known(place(heads[len(heads)-1]))
	}
	for _, h := range append(front, heads...) {
		run, err := a.run(ctx, h)
		switch {
		case errors.Is(err, runs.ErrUnknownRun):
			continue // deleted a moment ago
		case err != nil:
			return err
		}
		answer.Data = append(answer.Data, objectOf(run))
	}
	return q.answer(http.StatusOK, answer)
}

// heads are those of the client's runs that the filter lets through and that are not left out, at most limit; more says
// that there are others behind them.
func (a *API) heads(ctx context.Context, c Client, f runs.Filter, limit int, out map[string]bool) (heads []runs.Head, more bool, err error) {
	if !c.All {
		f.Owner = c.Owner
	}
	f.Limit = limit + 1
	for {
		some, err := a.o.Journal.List(ctx, f)
		if err != nil {
			return nil, false, err
		}
		for _, h := range some {
			switch f.After = h; {
			case out[h.RunID] || !c.owns(h): // an owner without a name filters nothing
			case len(heads) == limit:
				return heads, true, nil
			default:
				heads = append(heads, h)
			}
		}
		if len(some) < f.Limit {
			return heads, false, nil
		}
	}
}

// place is where a run stands in a list, as a client carries it to the next call. It stays a place when the run is gone.
func place(h runs.Head) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(h.CreatedAt.UnixNano(), 10) + " " + h.RunID))
}

func readPlace(cursor string) (runs.Head, bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return runs.Head{}, false
	}
	nanos, id, found := strings.Cut(string(text), " ")
	at, err := strconv.ParseInt(nanos, 10, 64)
	return runs.Head{RunID: id, CreatedAt: time.Unix(0, at).UTC()}, err == nil && found && runs.ValidID(id)
}
