package admin

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	usualPage = 100
	maxPage   = 500
)

// position is where an entry stands in a list that is sorted newest first: by time, then by id. It stays a place in the
// list when the entry itself is gone.
type position struct {
	at time.Time
	id string
}

// before reports whether p comes before q, newest first.
func (p position) before(q position) bool {
	if !p.at.Equal(q.at) {
		return p.at.After(q.at)
	}
	return p.id > q.id
}

// cursor is p as a client carries it to the next call.
func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.at.UnixNano(), 10) + " " + p.id))
}

// window is which part of a list a client asks for.
type window struct {
	limit int
	after *position // nil = from the start
}

// readWindow reads limit and cursor. The error is a problem.
func readWindow(q url.Values) (window, error) {
	w := window{limit: usualPage}
	if given := q.Get("limit"); given != "" {
		limit, err := strconv.Atoi(given)
		if err != nil || limit < 1 || limit > maxPage {
			return w, invalid(fmt.Sprintf("limit is %q; want a whole number from 1 to %d", clip(given), maxPage))
		}
		w.limit = limit
	}
	if given := q.Get("cursor"); given != "" {
		after, ok := readCursor(given)
		if !ok {
			return w, invalid("cursor is none that this list gave out as next_cursor")
		}
		w.after = &after
	}
	return w, nil
}

func readCursor(cursor string) (position, bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return position{}, false
	}
	nanos, id, found := strings.Cut(string(text), " ")
	at, err := strconv.ParseInt(nanos, 10, 64)
	return position{time.Unix(0, at).UTC(), id}, err == nil && found && id != ""
}

// clip keeps an answer about a bad value short.
func clip(s string) string {
	const longest = 40
	if len(s) > longest {
		return strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return s
}

// page is one part of a list, as every list of the plane is answered.
type page[T any] struct {
	Data       []T     `json:"data"`        // never null
	NextCursor *string `json:"next_cursor"` // null: there is nothing more
}

// cut takes the window out of items, which are sorted by place, newest first.
func cut[T any](items []T, w window, place func(T) position) page[T] {
	p := page[T]{Data: []T{}}
	for _, item := range items {
		switch at := place(item); {
		case w.after != nil && !w.after.before(at):
		case len(p.Data) < w.limit:
			p.Data = append(p.Data, item)
		default:
			next := place(p.Data[len(p.Data)-1]).cursor()
			p.NextCursor = &next
			return p
		}
	}
	return p
}
