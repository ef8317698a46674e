package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	ticketLife = 30 * time.Second
	// maxTickets bounds those that are out. Above it the next one has to wait for one to be used or to run out.
	maxTickets = 10_000
)

// tickets let browsers open event streams, whose requests cannot carry a header: each opens one, once, and soon. What stands
// in a URL gets into logs; what was used is worth nothing there.
type tickets struct {
	mu  sync.Mutex
	out map[[sha256.Size]byte]time.Time // when each runs out, by its hash: looking one up tells nothing about the others
}

// give makes a ticket; ok is false while too many are out.
func (t *tickets) give(now time.Time) (ticket string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.out) >= maxTickets {
		for hash, until := range t.out {
			if !now.Before(until) {
				delete(t.out, hash)
			}
		}
		if len(t.out) >= maxTickets {
			return "", false
		}
	}
	if t.out == nil {
		t.out = make(map[[sha256.Size]byte]time.Time)
	}
	ticket = rand.Text()
	t.out[sha256.Sum256([]byte(ticket))] = now.Add(ticketLife)
	return ticket, true
}

// redeem takes a ticket, and reports whether it was good.
func (t *tickets) redeem(ticket string, now time.Time) bool {
	hash := sha256.Sum256([]byte(ticket))
	t.mu.Lock()
	defer t.mu.Unlock()
	until, ok := t.out[hash]
	delete(t.out, hash)
	return ok && now.Before(until)
}

// giveTicket answers a ticket for one stream of events.
func (a *Admin) giveTicket(w http.ResponseWriter, r *http.Request) error {
	if err := readOptional(r, &struct{}{}); err != nil {
		return err
	}
	ticket, ok := a.tickets.give(a.now())
	if !ok {
		w.Header().Set("Retry-After", "1")
		return newProblem(http.StatusServiceUnavailable, "too-many-tickets", "Too many stream tickets are out; use those that you have.")
	}
	return writeJSON(w, http.StatusOK, struct {
		Ticket    string `json:"ticket"`
		ExpiresIn int    `json:"expires_in"` // seconds
	}{ticket, int(ticketLife.Seconds())})
}

// punch redeems the ticket that the query of a stream's request carries, and takes it out of the query: nobody below has any
// use for it. A header says more than a ticket, which then stays good.
func (a *Admin) punch(r *http.Request) (ok bool) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	given := q["ticket"]
	if err != nil || len(given) == 0 {
		return false
	}
	q.Del("ticket")
	r.URL.RawQuery = q.Encode()
	return len(given) == 1 && len(r.Header.Values("Authorization")) == 0 && a.tickets.redeem(given[0], a.now())
}
