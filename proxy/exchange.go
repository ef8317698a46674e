package proxy

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// exchange is one client request on its way through the hub, and everything that is known of it. It belongs to the
// goroutine that serves the request.
type exchange struct {
	p        *Proxy
	settings *settings // as they were when the request began
	w        http.ResponseWriter
	conn     *http.ResponseController // of the server's own writer, whose errors gin's would hide
	r        *http.Request
	surface  *surface
	served   []router.Protocol // of the accounts that can serve it
	pathed   string            // the role in the path, "" = none
	inner    *Call             // of the hub's own, nil = the client is outside
	runID    string            // the run that it belongs to, or leaves; "" = none
	record   *record           // what it leaves; nil = nothing, or not yet
	key      *Key              // nil when no key is needed
	body     []byte
	req      wire.Request
	session  string
	role     router.Resolved
	plan     router.Plan
	tried    []router.Tried
	classes  []quota.Class
	needs    router.Needs
	with     []router.Secret    // what accounts were called with
	neutral  *neutral.Request   // the request for accounts of another protocol, once one was to be asked
	unread   error              // why there is no such form of it
	dropped  []string           // what was left out for the account that was asked last
	unsaid   error              // what of the request could not be said to an account of another protocol
	mute     []router.ChainItem // the nodes that it could not be said to
	search

	ctx       context.Context // of the request, with its deadlines
	cancel    context.CancelCauseFunc
	deadline  *time.Timer // the commit deadline until the first byte of a stream, then the total one
	visit     visit
	committed bool // bytes of an answer went out: no other account may answer any more
	aborted   bool // the answer must look cut to the client
	handed    bool // others answer: what they ask for to do so is told, and this is not

	told telemetry.Exchange
}

// begin opens an exchange. finish closes it, whatever happened.
func (p *Proxy) begin(w http.ResponseWriter, r *http.Request, s *surface, role string) *exchange {
	x := &exchange{p: p, settings: p.settings.Load(), w: w, r: r, surface: s, pathed: role}
	x.told.ID = newRequestID()
	x.told.Endpoint = s.endpoint
	x.told.Start = time.Now()
	x.ctx, x.cancel = context.WithCancelCause(r.Context())
	x.visit.cancel = x.cancel
	h := w.Header()
	h[headerRequestID] = []string{x.told.ID}
	h[headerXRequestID] = h[headerRequestID]
	h[headerAnthropicID] = h[headerRequestID]
	p.telemetry.Inflight(1)
	return x
}

func (x *exchange) finish() {
	if x.handed {
		x.cancel(nil)
		return
	}
	if x.told.Outcome == "" { // a panic is on its way past
		x.told.Outcome, x.told.Status = telemetry.InternalError, http.StatusInternalServerError
	}
	x.cancel(nil)
	if x.deadline != nil {
		x.deadline.Stop()
	}
	x.told.Total = time.Since(x.told.Start)
	x.told.Overhead = x.told.Total - x.told.Waited
	for i := range x.told.Attempts {
		x.told.Overhead -= x.told.Attempts[i].Duration
	}
	if x.role.Role != nil {
		x.p.trails.Record(x.told.ID, &x.plan, x.role.Source, x.tried)
	}
	x.p.telemetry.Observe(&x.told)
	if x.record != nil { // behind Observe, which knows what it has cost
		x.p.scribe.end(x.record, &x.told)
	}
	x.p.telemetry.Inflight(-1)
}

// newRequestID is 128 random bits: unguessable, because it opens the trail of a request.
func newRequestID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	var out [36]byte
	copy(out[:], "req_")
	hex.Encode(out[4:], b[:])
	return string(out[:])
}

// newRunID is 80 random bits behind the time in milliseconds: in a store's index the newest runs stand side by side, which
// costs it a fifth less than ids that fall anywhere.
func newRunID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:]) //nolint:errcheck // never fails
	var out [36]byte
	copy(out[:], "run_")
	hex.Encode(out[4:], b[:])
	return string(out[:])
}

// belongTo names the run in the answer's head, whatever the answer will be.
func (x *exchange) belongTo(runID string) {
	x.runID = runID
	x.w.Header()[headerRunID] = []string{runID}
}

// refuse answers with an error of the hub's own, unless bytes of an answer already went out.
func (x *exchange) refuse(e *refusal, outcome telemetry.Outcome) {
	x.told.Status = e.status()
	x.told.Outcome = outcome
	x.told.Err = e.message
	if x.committed {
		x.aborted = true
		return
	}
	x.setHubHeaders(nil)
	x.committed = true
	e.write(x.w, x.surface.dialect)
}

// setHubHeaders says in the answer's head who served and what it took. n is nil when nobody did.
func (x *exchange) setHubHeaders(n *router.Node) {
	h := x.w.Header()
	if x.role.Role != nil {
		h[headerRole] = []string{x.role.Role.ID}
		h[headerRoleSource] = []string{string(x.role.Source)}
	}
	if n != nil {
		h[headerProfile] = []string{n.Profile.ID}
		h[headerModel] = []string{n.Model}
		if len(x.dropped) > 0 {
			h[headerDropped] = []string{strings.Join(x.dropped, ", ")}
		}
	}
	if len(x.told.Attempts) > 0 {
		h[headerAttempts] = []string{strconv.Itoa(len(x.told.Attempts))}
	}
	if len(x.told.Attempts) > 1 {
		h[headerFailover] = []string{joinClasses(x.classes)}
	}
}

func joinClasses(classes []quota.Class) string {
	var b strings.Builder
	for i, c := range classes {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(c))
	}
	return b.String()
}

// arm starts the request's own deadline: the total one, or, for a stream, the one for its first byte if that is sooner.
func (x *exchange) arm() {
	cfg := x.settings
	limit, cause := cfg.RequestTimeout, errTotal
	if x.req.Stream && cfg.CommitDeadline < limit {
		limit, cause = cfg.CommitDeadline, errCommitDeadline
	}
	cancel := x.cancel
	x.due = time.Now().Add(limit)
	x.deadline = time.AfterFunc(limit, func() { cancel(cause) })
}

// commitTo marks the point of no return: the head of an answer goes out. What is left of the total deadline stands.
func (x *exchange) commitTo(n *router.Node, status int) {
	x.committed = true
	x.trying.Accepted()
	x.body, x.neutral = nil, nil // nobody else will be asked: a long stream need not hold the conversation
	x.told.Status = status
	x.setHubHeaders(n)
	if x.req.Stream {
		x.rearm()
	}
}

// rearm replaces the commit deadline by the total one.
func (x *exchange) rearm() {
	if x.settings.CommitDeadline >= x.settings.RequestTimeout || !x.deadline.Stop() {
		return
	}
	cancel := x.cancel
	left := x.settings.RequestTimeout - time.Since(x.told.Start)
	x.deadline = time.AfterFunc(max(left, 0), func() { cancel(errTotal) })
}

// gone reports whether the client itself went away.
func (x *exchange) gone() bool { return x.r.Context().Err() != nil }
