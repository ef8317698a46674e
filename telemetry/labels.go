package telemetry

import "slices"

// Labels are the label values that the configuration allows, and no others: what is not listed is counted as Other, so
// that no client and no upstream can make series.
type Labels struct {
	Endpoints []string // route templates of the proxy plane
	Roles     []string // role ids
	Profiles  []string // profile ids
	Providers []string // provider ids of the profiles; a Window tells of each of them, called or not
}

// Build says which program this is; the labels of hermes_hub_build_info.
type Build struct{ Version, Commit, GoVersion string }

// Other stands for every label value that Labels does not list.
const Other = "other"

// outcomes are the values of the label outcome of a client request.
var outcomes = []Outcome{Success, InvalidCall, Refused, Exhausted, Interrupted, ClientClosed, Unavailable, InternalError}

// attemptOutcomes are the values of the label outcome of an attempt, and of reason of a failover: how quota classes an
// answer, and how an attempt ends that got none.
var attemptOutcomes = []string{
	"ok", "rate_limited", "quota_exhausted", "billing", "auth_expired", "auth_invalid", "forbidden", "model_not_found",
	"context_too_long", "request_too_large", "invalid_request", "content_policy", "overloaded", "server_error", "timeout",
	"client_closed", "interrupted",
}

// AttemptOutcomes lists every Attempt.Outcome that is counted under its own name.
func AttemptOutcomes() []string { return slices.Clone(attemptOutcomes) }

// bound is value if it is one of the allowed, else Other.
func bound[S ~string](allowed []S, value S) string {
	if slices.Contains(allowed, value) {
		return string(value)
	}
	return Other
}
