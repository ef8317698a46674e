package router

import "time"

// Verdict is what a plan, or the request that followed it, made of a candidate.
type Verdict string

// The verdicts of the explain view.
const (
	VerdictSelected Verdict = "selected" // would serve, or did
	VerdictStandby  Verdict = "standby"  // usable, but another comes first
	VerdictSkipped  Verdict = "skipped"  // not called; Reason says why
	VerdictFailed   Verdict = "failed"   // called, and failed with Reason
)

// Explanation says which node would (or did) serve, and why each other node not: the selection trace of one request.
// Its JSON is the contract's; unknown is null.
type Explanation struct {
	Role        string      `json:"role"`
	RoleSource  RoleSource  `json:"role_source"`
	SnapshotSeq uint64      `json:"snapshot_seq"`
	At          time.Time   `json:"at"`
	RequestID   *string     `json:"request_id"`
	Chosen      *string     `json:"chosen"` // profile id
	Candidates  []Candidate `json:"candidates"`
}

// Candidate is one node of an Explanation.
type Candidate struct {
	ProfileID string     `json:"profile_id"`
	Model     *string    `json:"model"`
	Position  int        `json:"position"`
	Verdict   Verdict    `json:"verdict"`
	Reason    *string    `json:"reason"` // a Reason, or the class an attempt failed with
	Until     *time.Time `json:"until"`
	Evidence  *Evidence  `json:"evidence"`
}

// Evidence is what a Candidate's verdict rests on.
type Evidence struct {
	Source string    `json:"source"` // configuration, leases, provider_api, runtime_event
	At     time.Time `json:"at"`
	Detail *string   `json:"detail"`
}

// RoleSource says which carrier decided the role; X-Hub-Role-Source reports it.
type RoleSource string

// The sources, in their order of precedence.
const (
	RoleExplicit        RoleSource = "explicit"         // path, header X-Hub-Role or body metadata.role
	RoleModelAlias      RoleSource = "model_alias"      // model "role:<id>", a bare role id or an alias
	RoleClientKey       RoleSource = "client_key"       // the key's default_role
	RoleModelMatch      RoleSource = "model_match"      // a role whose default_model is the model
	RoleSessionAffinity RoleSource = "session_affinity" // the role the session used last
	RoleDefaultFallback RoleSource = "default_fallback" // router.default_role
)
