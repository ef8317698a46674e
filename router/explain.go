package router

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hermes-hub/quota"
)

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

// Succeeded is the Class of an attempt that served.
const Succeeded = "ok"

// Tried is one attempt of the request that followed a plan.
type Tried struct {
	Profile string
	Model   string
	Class   string    // Succeeded, or the class of the failure
	At      time.Time // when that was known
	Detail  string    // what the class rests on, "" = nothing to add
	Until   time.Time // when the provider said the account is usable again, zero = it did not
}

// Explain renders a plan. With tried nil it tells what would happen: the first usable node serves and the other usable
// ones stand by. With tried not nil, though it may be empty, it tells what did happen: who was called and with what result.
func Explain(p *Plan, source RoleSource, tried []Tried, requestID string) Explanation {
	e := Explanation{
		Role:        p.Query.Role.ID,
		RoleSource:  source,
		SnapshotSeq: p.Snapshot.Version,
		At:          p.At.UTC(),
		RequestID:   known(requestID),
		Candidates:  make([]Candidate, 0, len(p.Nodes)),
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		c := Candidate{ProfileID: n.Profile.ID, Model: known(n.Model), Position: n.Position, Verdict: VerdictStandby}
		switch t := lastTry(tried, n); {
		case t != nil:
			c.happened(t)
		case n.Reason != Usable:
			c.skipped(n, p)
		case tried == nil && e.Chosen == nil:
			c.Verdict = VerdictSelected
		}
		if c.Verdict == VerdictSelected {
			e.Chosen = known(c.ProfileID)
		}
		e.Candidates = append(e.Candidates, c)
	}
	e.addStrays(p, tried)
	return e
}

// addStrays adds the attempts at nodes that the plan no longer has: it was made anew after a wait, and an account now
// prefers another model, or a reload took it away.
func (e *Explanation) addStrays(p *Plan, tried []Tried) {
	for i := range tried {
		t := &tried[i]
		if slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.Profile.ID == t.Profile && n.Model == t.Model }) {
			continue
		}
		c := Candidate{ProfileID: t.Profile, Model: known(t.Model), Position: len(e.Candidates)}
		if c.happened(t); c.Verdict == VerdictSelected {
			e.Chosen = known(t.Profile)
		}
		e.Candidates = append(e.Candidates, c)
	}
}

// lastTry is the last attempt at the node, nil when there was none.
func lastTry(tried []Tried, n *Node) *Tried {
	for i := range slices.Backward(tried) {
		if tried[i].Profile == n.Profile.ID && tried[i].Model == n.Model {
			return &tried[i]
		}
	}
	return nil
}

func (c *Candidate) happened(t *Tried) {
	c.Evidence = &Evidence{Source: string(quota.SourceRuntimeEvent), At: t.At.UTC(), Detail: known(t.Detail)}
	if t.Class == Succeeded {
		c.Verdict = VerdictSelected
		return
	}
	c.Verdict, c.Reason = VerdictFailed, known(t.Class)
	c.ends(t.Until)
}

func (c *Candidate) skipped(n *Node, p *Plan) {
	c.Verdict, c.Reason = VerdictSkipped, known(string(n.Reason))
	ev := Evidence{Source: "configuration", At: p.At.UTC()}
	switch n.Reason {
	case ReasonDisabled:
		ev.Detail = known("enabled: false")
		if n.Profile.Enabled { // it was, when the plan was made: Acquire found it gone
			ev.Detail = known("no longer configured")
		}
	case ReasonProtocol, ReasonUnsayable:
		ev.Detail = known("protocol: " + string(n.Profile.Protocol))
	case ReasonModel:
		ev.Detail = known("requested model: " + p.Query.Model)
	case ReasonWindow, ReasonTools, ReasonVision, ReasonStructured:
		ev.Detail = known("model: " + n.Model)
	case ReasonConcurrency:
		ev.Source, ev.Detail = "leases", known(fmt.Sprintf("max_concurrency: %d", n.Profile.MaxConcurrency))
	case ReasonHalfOpen:
		ev.Source, ev.Detail = "leases", known(fmt.Sprintf("one call tries it first after %s (%s)", n.Block.State, n.Block.Reason))
		c.ends(n.Block.Until)
	case ReasonThreshold:
		ev.Source, ev.At, ev.Detail = string(n.Block.Source), n.Block.Since.UTC(), known("bucket:"+n.Block.Bucket)
		c.ends(n.Block.Until)
	default:
		ev.Source = string(cmp.Or(n.Block.Source, quota.SourceRuntimeEvent))
		ev.At, ev.Detail = n.Block.Since.UTC(), known(n.Block.Reason)
		c.ends(n.Block.Until)
	}
	c.Evidence = &ev
}

// ends says until when the verdict holds; zero = not known.
func (c *Candidate) ends(t time.Time) {
	if !t.IsZero() {
		t = t.UTC()
		c.Until = &t
	}
}
