package proxy

import (
	"fmt"
	"slices"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// soon is how near the earliest known instant must be for a client to be told to come back instead of to go elsewhere.
const soon = 600 * time.Second

// survey is what stands in the way of a role, counted over its nodes.
type survey struct {
	usable, busy, quota, rate, cooldown, auth, billing, unserved, idle int
	earliest                                                           time.Time // of the instants a provider stated; zero = none
}

// look counts the nodes of a plan that was made after the last attempt, so that it holds what the attempts taught.
func look(nodes []router.Node) survey {
	var s survey
	for i := range nodes {
		n := &nodes[i]
		switch n.Reason {
		case router.Usable, router.ReasonThreshold:
			s.usable++
		case router.ReasonConcurrency, router.ReasonHalfOpen:
			s.busy++
		case router.ReasonQuota:
			s.quota++
		case router.ReasonRateLimited:
			s.rate++
		case router.ReasonCooldown:
			s.cooldown++
		case router.ReasonAuth, router.ReasonForbidden:
			s.auth++
		case router.ReasonBilling:
			s.billing++
		case router.ReasonModel, router.ReasonNoModel:
			s.unserved++
		case router.ReasonDisabled, router.ReasonProtocol:
			s.idle++
		}
		if n.Block.Stated && !n.Block.Until.IsZero() && (s.earliest.IsZero() || n.Block.Until.Before(s.earliest)) {
			s.earliest = n.Block.Until
		}
	}
	return s
}

// exhausted is the answer when no candidate could serve: the rows of the contract's error table from "every candidate
// unusable" on. Instants come from providers only: the hub's own cool-downs are guesses and are not sold as knowledge.
// failed are the classes of the attempts that were made.
func exhausted(role, model string, nodes []router.Node, failed []quota.Class, now time.Time) *refusal {
	s := look(nodes)
	waiting := s.usable + s.busy + s.quota + s.rate + s.cooldown + s.auth + s.billing
	switch {
	case waiting == 0 && s.unserved > 0:
		return &refusal{code: codeModelNotFound, message: fmt.Sprintf("model not found: %q is not served for role %q", model, role), param: "model"}
	case waiting == 0:
		return unavailable(role, "has no account that can be called: every one is disabled or not yet supported")
	case !s.earliest.IsZero():
		return s.until(role, now)
	case s.usable+s.busy > 0:
		if no := saidByAll(role, model, failed); s.busy == 0 && no != nil {
			return no
		}
		return unavailable(role, "has no free account at the moment")
	case s.quota > 0:
		return &refusal{code: codeUsageLimit, noRetry: true, message: fmt.Sprintf("The usage limit has been reached for role %q; no account has said when it resets: try again later.", role)}
	case s.billing == waiting:
		return &refusal{code: codePayment, noRetry: true, message: fmt.Sprintf("payment required: every account of role %q needs credit", role)}
	default:
		return unavailable(role, "has no account that can take the request at the moment")
	}
}

// saidByAll is the answer when every account that was asked said the same of the request and left itself open: no wait
// would help. nil: they did not.
func saidByAll(role, model string, failed []quota.Class) *refusal {
	if len(failed) == 0 || len(slices.Compact(slices.Clone(failed))) > 1 {
		return nil
	}
	switch failed[0] {
	case quota.ModelNotFound:
		return &refusal{code: codeModelNotFound, message: fmt.Sprintf("model not found: no account of role %q serves %q on this path", role, model), param: "model"}
	case quota.RequestTooLarge:
		return &refusal{code: codeBodyTooLarge, message: fmt.Sprintf("the request is larger than any account of role %q takes at once", role)}
	default:
		return nil
	}
}

// until answers with the earliest instant. While another account is only busy, that instant is a bound and not the end.
func (s survey) until(role string, now time.Time) *refusal {
	wait := max(s.earliest.Sub(now), time.Second)
	seconds := int64((wait + time.Second - 1) / time.Second)
	switch {
	case wait <= soon:
		r := unavailable(role, "has no free account at the moment")
		r.retryAfter = int(seconds)
		return r
	case s.usable+s.busy > 0:
		return unavailable(role, "has no free account at the moment")
	default:
		at := s.earliest.UTC().Truncate(time.Second)
		if at.Before(s.earliest) {
			at = at.Add(time.Second)
		}
		return &refusal{
			code: codeUsageLimit, noRetry: true, resetsAt: at.Unix(), resetsIn: seconds,
			message: fmt.Sprintf("The usage limit has been reached for role %q; it resets at %s.", role, at.Format(time.RFC3339)),
		}
	}
}

func unavailable(role, what string) *refusal {
	return &refusal{code: codeUpstreamUnavailable, message: fmt.Sprintf("role %q %s", role, what)}
}

// tooLong is the answer when the conversation exceeds the window of every node: OpenAI's sentence with the window that the
// role publishes, because clients read the number and may keep it.
func tooLong(window int) *refusal {
	return &refusal{code: codeContextTooLong, param: "messages", message: fmt.Sprintf("This model's maximum context length is %d tokens. Please reduce the length of the messages.", window)}
}

// larger reports whether a node's window is known to be larger than the one that was too small.
func larger(n *router.Node, than int) bool { return than > 0 && n.Profile.Window(n.Model) > than }

// blamed are the classes whose reading is shown to the router: everything but what only concerns the request.
func blamed(c quota.Class) bool {
	switch c {
	case quota.InvalidRequest, quota.ContentPolicy, quota.ContextTooLong:
		return false
	default:
		return true
	}
}
