package admin

import (
	"net/http"
	"time"
)

// readPart is readWindow for a list that has no other parameter.
func readPart(r *http.Request) (window, error) {
	q, err := readQuery(r, "limit", "cursor")
	if err != nil {
		return window{}, err
	}
	return readWindow(q)
}

// cutNamed takes the window out of items that are sorted by their names: what has no time to be listed by. Each name is
// there once.
func cutNamed[T any](items []T, w window, name func(T) string) page[T] {
	p := page[T]{Data: []T{}}
	for _, item := range items {
		switch {
		case w.after != nil && name(item) <= w.after.id:
		case len(p.Data) < w.limit:
			p.Data = append(p.Data, item)
		default:
			next := position{time.Unix(0, 0), name(p.Data[len(p.Data)-1])}.cursor()
			p.NextCursor = &next
			return p
		}
	}
	return p
}
