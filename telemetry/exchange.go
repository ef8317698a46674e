package telemetry

import "time"

// Outcome is how a client request ended. Closed: metric label, log field and journal alike.
type Outcome string

// The outcomes of a client request.
const (
	Success       Outcome = "success"
	InvalidCall   Outcome = "invalid_request" // the caller's fault: refused here, or returned from upstream as it came
	Refused       Outcome = "refused"         // wrong key, forbidden role
	Exhausted     Outcome = "exhausted"       // no candidate could serve
	Interrupted   Outcome = "interrupted"     // upstream died after the first byte reached the client
	ClientClosed  Outcome = "client_closed"   // the client went away first; nobody's fault
	Unavailable   Outcome = "hub_unavailable" // draining, or over the hub's own limits
	InternalError Outcome = "internal_error"  // a bug of the hub
)

// Usage is what a provider says a call consumed, in tokens. Unknown stays unknown: Known is false and nothing is counted.
type Usage struct {
	Input      int64 // all prompt tokens, cached ones included
	Output     int64 // all completion tokens, reasoning included
	CacheRead  int64 // part of Input that was read from a cache
	CacheWrite int64 // part of Input that was written to a cache
	Reasoning  int64 // part of Output that was spent on reasoning
	Known      bool
}

// Attempt is one try at one account within an Exchange.
type Attempt struct {
	Profile    string
	Provider   string
	Model      string // as sent upstream
	Outcome    string // "ok", a failure class of quota, "client_closed" or "interrupted"
	Reason     string // the Reading's reason, empty when ok
	Status     int    // upstream's HTTP status, 0 when there was none
	Duration   time.Duration
	FirstToken time.Duration // to the first meaningful event of a stream, 0 when there was none
	Usage      Usage
	Cost       Cost // filled in by Prices.Charge
}

// Exchange is the whole story of one client request in plain values: one value feeds the metrics, the log line and,
// later, the journal. It is not touched by the request's goroutine after it was observed.
type Exchange struct {
	ID         string // hub request id
	Endpoint   string // route template, e.g. "/v1/chat/completions"
	Role       string // "" when it could not be resolved
	RoleSource string
	Model      string // as the client asked
	Key        string // name of the client key, "" when none is needed
	Stream     bool
	Start      time.Time
	Attempts   []Attempt
	Failovers  int // attempts that failed and were followed by another
	Outcome    Outcome
	Status     int           // status the client saw, or would have seen
	Total      time.Duration // from the request's head to its end
	Waited     time.Duration // for a slot or for an account to come back, while nobody was asked
	Overhead   time.Duration // Total less Waited and the time spent waiting for upstreams and the client
	Err        string        // one line for the log, never for the client
}
