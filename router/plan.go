package router

import (
	"time"

	"hermes-hub/quota"
)

// Reason is why a node is not taken. Closed: metric label, log field and explain's answer alike.
type Reason string

// The reasons. The zero Reason is usable.
const (
	Usable            Reason = ""
	ReasonDisabled    Reason = "disabled"
	ReasonProtocol    Reason = "protocol_unavailable"
	ReasonModel       Reason = "model_not_served"
	ReasonConcurrency Reason = "concurrency"
	ReasonAuth        Reason = "auth_required"
	ReasonBilling     Reason = "billing"
	ReasonForbidden   Reason = "forbidden"
	ReasonQuota       Reason = "quota_exhausted"
	ReasonRateLimited Reason = "rate_limited"
	ReasonCooldown    Reason = "cooldown"
	ReasonNoModel     Reason = "model_not_found" // this account answered so for this model
	ReasonHalfOpen    Reason = "half_open"       // comes back from a block, and another call is trying it just now
	ReasonThreshold   Reason = "quota_threshold" // nearly used up, while another account is not

	// What is known of the account's model rules it out for this request.
	ReasonWindow     Reason = "context_too_small"
	ReasonTools      Reason = "tools_unsupported"
	ReasonVision     Reason = "vision_unsupported"
	ReasonStructured Reason = "structured_unsupported"

	// ReasonUnsayable is given after the plan was made: what the request wants cannot be told in the account's protocol.
	ReasonUnsayable Reason = "not_expressible"
)

// Tier is why a node is in the plan at all, in the order of preference.
type Tier uint8

// The tiers of a role's plan.
const (
	TierChain    Tier = iota // the role's preferred chain
	TierFallback             // shares a fallback capability
	TierSpare                // a cold spare of either kind
)

// Node is one (profile, model) of a plan, with the verdict on it.
type Node struct {
	Profile  *Profile
	Index    int    // of the profile in the Table
	Model    string // what this account is to be asked for; "" when Reason is ReasonModel
	Family   string // quota.Family(Model)
	Position int    // place in the role's order, from 0; neither affinity nor headroom changes it
	Tier     Tier
	Reason   Reason      // Usable, or why not
	Block    quota.Block // what Reason rests on, where it rests on health
	Trial    bool        // a call would try, for all others, an account or a provider that has yet to prove itself

	own, shared bool      // what Trial is about: the account, the provider
	resort      bool      // tried although its provider rests: nothing else is left
	expires     time.Time // when what is left is lost; zero = not known
}

// Query is what a request asks the router.
type Query struct {
	Role    *Role
	Model   string // as requested, after role aliases were taken out; "" = whatever the node prefers
	AnyNode bool   // a node may put its own model in place of Model: the role was named, or the model was "auto"
	Session string // "" = none

	Protocols []Protocol // of the accounts that can serve it; nil = all that the proxy speaks at all
	Needs     Needs
}

// Needs is what a request wants of the model that serves it, as far as that can be told without asking. The zero Needs
// rules nobody out.
type Needs struct {
	Tools      bool // calls of tools
	Vision     bool // images in the prompt
	Structured bool // an answer by a JSON schema
	Tokens     int  // of the prompt, estimated from below; 0 = not told
}

// Plan is the answer to a Query: every node of the role with its verdict, in the order in which they are tried. The
// usable ones are to be tried in that order; the others say why not. A Plan may be filled again: its memory is reused.
type Plan struct {
	Snapshot *Snapshot
	At       time.Time
	Query    Query
	Nodes    []Node
	Bound    int // index of the profile that affinity prefers, -1 = none
}

// Occupancy tells how many slots of a profile are taken, by every instance of the hub together.
type Occupancy interface {
	Held(profile int) int
	// Full reports whether all that this instance may hold of the profile's limit slots is taken; 0 = unlimited.
	Full(profile, limit int) bool
	// Trials are when the calls began that are trying the account and its provider just now; zero = none does.
	Trials(profile int) (own, shared time.Time)
}
