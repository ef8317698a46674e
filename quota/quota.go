// Package quota says what a provider's answer means for the account that got it: whether the call worked, whose trouble
// it is when it did not, which windows are how full and until when.
//
// The model in ten lines. A Response is what came back over the wire. Read turns it into a Reading: a Class (what
// happened), a Scope (what it says something about), the Buckets it measured and the times it stated. A Standing is the
// fold of all Readings of one account: blocks per scope, each with an Until, and the newest value of every bucket.
// Standing.Check answers the only question the router has: may this model be called on this account now, and if not,
// why and until when. Everything here is pure: the time comes in as a value, nothing does I/O, nothing is guessed.
// What a response does not say stays unknown, which is neither empty nor full.
//
// A provider is one file (read_<provider>.go: what is particular about its answers, as rules) and one row of the table in
// dialects.go. What all of them share is read once: envelopes, codes, phrases, durations, instants, headers.
package quota

import (
	"net/http"
	"time"
)

// Class is what an answer came to. The vocabulary is closed: metric label, log field, header value and code alike.
type Class string

// The classes, in the words of the recorded cases.
const (
	OK              Class = "ok"                // the call worked
	RateLimited     Class = "rate_limited"      // a per-second, per-minute or concurrency window is full
	QuotaExhausted  Class = "quota_exhausted"   // a fixed window of an hour or more is spent
	Billing         Class = "billing"           // only money or a human-raised cap cures it
	AuthExpired     Class = "auth_expired"      // the credential ran out; a refresh may cure it
	AuthInvalid     Class = "auth_invalid"      // the credential is refused
	Forbidden       Class = "forbidden"         // valid credential, no entitlement, region or edge block
	ModelNotFound   Class = "model_not_found"   // this account does not serve this model
	ContextTooLong  Class = "context_too_long"  // the conversation exceeds the model's window
	RequestTooLarge Class = "request_too_large" // bytes, or one request above a token rate
	InvalidRequest  Class = "invalid_request"   // no account would take it
	ContentPolicy   Class = "content_policy"    // refused for what it says
	Overloaded      Class = "overloaded"        // the provider is short of capacity
	ServerError     Class = "server_error"      // the provider broke, or its answer did
	Timeout         Class = "timeout"           // no answer in time
)

// Scope is what a Reading says something about.
type Scope string

// The scopes, from the smallest.
const (
	ScopeRequest  Scope = "request"      // this one request; never cools anything
	ScopeModel    Scope = "model"        // one model of the account
	ScopeFamily   Scope = "model_family" // one pool of models of the account
	ScopeAccount  Scope = "account"      // the whole account
	ScopeProvider Scope = "provider"     // shared capacity or egress: every account of the provider
)

// Source says where a value was learnt. The words are those of the UI state contract.
type Source string

// The sources of a Reading.
const (
	SourceNone         Source = ""              // nothing was measured
	SourceProviderAPI  Source = "provider_api"  // quota headers of an answer, or a usage endpoint
	SourceRuntimeEvent Source = "runtime_event" // a refusal during a call
	SourceSimulated    Source = "simulated"     // an operator tries out what would happen; see Standing.Simulate
)

// BodyLimit is how many bytes of a body Read looks at, after decoding.
const BodyLimit = 64 << 10

// Response is one answer of a provider, as it came over the wire.
type Response struct {
	Provider string      // a provider id of the configuration, or any name of the alias table
	Status   int         // HTTP status; of a WebSocket frame, the status inside it
	Header   http.Header // as received; nil is allowed
	Body     []byte      // as received, encoded or not; Read looks at BodyLimit bytes of it
	At       time.Time   // when it was received
}

// Number is a measured number, or unknown. The zero value is unknown.
type Number struct {
	Value float64
	Known bool
}

// Known returns a measured number.
func Known(v float64) Number { return Number{Value: v, Known: true} }

// Bucket is one quota window as one answer described it. Percentages run from 0 to 100.
type Bucket struct {
	ID               string // the contract's id, or <provider>.<window>
	UsedPercent      Number
	RemainingPercent Number
	Limit            Number    // in the provider's own unit
	Remaining        Number    // in the same unit as Limit
	ResetAt          time.Time // when it is full again; zero is unknown; passed when the answer said so
	SeenAt           time.Time // when it was measured; Standing.Apply stamps it
	Source           Source    // of the Reading that measured it; Standing.Apply stamps it
}

// Reading is what one Response says.
type Reading struct {
	Class      Class
	Scope      Scope
	Failover   bool          // whether another account could cure it
	RetryAfter time.Duration // what the server invites for the same account; 0 is unknown, unless RetryNow
	RetryNow   bool          // the server invites the same account back at once
	ResetAt    time.Time     // when the named bucket is usable again; zero is unknown, never in the past
	Buckets    []Bucket      // only windows the response carries numbers for, or names as spent
	Source     Source
	Reason     string // short and machine-made: "code:insufficient_quota", "status:503", "body:empty"
	Family     string // the words of model names that ScopeFamily is about, or Variant; "" = the family of the call
}
