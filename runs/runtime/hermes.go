package runtime

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// HermesOptions make a Hermes. BaseURL is needed; zero values are the defaults.
type HermesOptions struct {
	Name    string        // in log lines
	BaseURL string        // http://127.0.0.1:8642; a /v1 at its end is taken off
	APIKey  func() string // asked for each call, so that it may change; nil or "": no key is sent
	Client  *http.Client  // its redirects are never followed, and its Timeout must be 0; nil: one of its own
	Logger  *slog.Logger

	// SilentAfter is how long an event stream may send nothing at all, not even a keepalive, before it is taken for lost;
	// 90 s, three of Hermes' keepalives.
	SilentAfter time.Duration
	// ForgetAfter is how long a Hermes may answer that it does not know a run before that is believed; 30 s. One that
	// restarts does not know its runs at once.
	ForgetAfter time.Duration
}

// What is waited for at most, besides the options.
const (
	hermesStartIn   = 30 * time.Second // POST /v1/runs
	hermesCallIn    = 10 * time.Second // every other call, and the head of the event stream
	hermesGlanceIn  = 2 * time.Second  // a look at the status while an event stream is attached, which waits meanwhile
	hermesSkillsIn  = 3 * time.Second  // GET /v1/capabilities
	hermesSkillsFor = time.Minute      // that they are believed
)

// Hermes is a Runtime: a Hermes API server's /v1/runs. The hub is the only subscriber of its event streams, for such a
// stream belongs to one client and is gone when that one leaves; whatever was missed is made up for from the run's status.
//
// A run whose hub crashes between the server's 202 and the row that keeps the server's run id cannot be found again, as a
// Hermes lists no runs: it goes on unobserved, and the hub calls it interrupted.
type Hermes struct {
	o    HermesOptions
	wire hermesWire
	now  func() time.Time

	mu     sync.Mutex
	skills hermesSkills
	asked  time.Time // when the skills were asked for last
}

// NewHermes returns a Hermes. Nothing is sent yet.
func NewHermes(o HermesOptions) (*Hermes, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("base_url of the Hermes runtime %q must be http://host:port or https://host:port, without user, query or fragment", o.Name)
	}
	o.SilentAfter = cmp.Or(max(o.SilentAfter, 0), 90*time.Second)
	o.ForgetAfter = cmp.Or(max(o.ForgetAfter, 0), 30*time.Second)
	if o.APIKey == nil {
		o.APIKey = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return &Hermes{o: o, now: time.Now, wire: newHermesWire(base, o.APIKey, o.Client), skills: hermesBasics}, nil
}

// Controls are the verbs that the server said it has when it was asked last, at the latest a minute before the newest run
// began; stop and approval, which every Hermes has, before it was asked.
func (h *Hermes) Controls() []Verb { return h.known().verbs() }

// Look asks the server what it can do, if that was not done within the last minute. An error is a *Refused; what was known
// stays known.
func (h *Hermes) Look(ctx context.Context) error {
	h.mu.Lock()
	fresh := !h.asked.IsZero() && h.now().Sub(h.asked) < hermesSkillsFor
	h.mu.Unlock()
	if fresh {
		return nil
	}
	a, err := h.wire.call(ctx, hermesSkillsIn, http.MethodGet, "/v1/capabilities", nil, nil)
	if err != nil {
		return hermesUnreachable(ctx, err)
	}
	skills := hermesBasics
	switch {
	case a.status == http.StatusOK:
		skills = readHermesSkills(a.body)
	case a.status != http.StatusNotFound: // an old server tells nothing of itself
		return hermesRefusal(a, h.now())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skills, h.asked = skills, h.now()
	return nil
}

func (h *Hermes) known() hermesSkills {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.skills
}

// look is Look for whoever can go on without.
func (h *Hermes) look(ctx context.Context) {
	if err := h.Look(ctx); err != nil && ctx.Err() == nil {
		h.o.Logger.Warn("a Hermes runtime did not say what it can do", "runtime", h.o.Name, "error", err)
	}
}

// Start posts the order. The hub's run id is the idempotency key, so that a server which knows such keys takes a repeated
// order once; one that does not is never sent an order twice, since only the caller repeats.
func (h *Hermes) Start(ctx context.Context, runID string, o Order) (Execution, error) {
	body, err := hermesBody(o)
	if err != nil {
		return nil, err
	}
	h.look(ctx)
	a, err := h.wire.call(ctx, hermesStartIn, http.MethodPost, "/v1/runs", body, hermesHeader(runID, o, body))
	switch {
	case err != nil:
		return nil, hermesUnreachable(ctx, err)
	case a.status < 200 || a.status > 299:
		return nil, hermesRefusal(a, h.now())
	}
	id := cmp.Or(gjson.GetBytes(a.body, "run_id").Str, gjson.GetBytes(a.body, "id").Str)
	if !runs.ValidID(id) {
		return nil, &Refused{Status: http.StatusBadGateway, Code: "runtime_bad_answer", Message: "The runtime did not say which run it started."}
	}
	return newHermesRun(h, id, cmp.Or(gjson.GetBytes(body, "session_id").Str, id)), nil
}

// Resume finds a run by the server's own id of it. Without that there is nothing to look for: ErrGone. Of a run that the
// server says it does not know, Follow finds out whether that stays so.
func (h *Hermes) Resume(ctx context.Context, r runs.Run) (Execution, error) {
	if r.UpstreamRunID == "" {
		return nil, ErrGone
	}
	h.look(ctx)
	if _, err := h.status(ctx, hermesCallIn, r.UpstreamRunID); err != nil {
		return nil, err
	}
	x := newHermesRun(h, r.UpstreamRunID, cmp.Or(r.SessionID, r.UpstreamRunID))
	x.adopt(r)
	return x, nil
}
