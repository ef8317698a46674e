package probe

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/quota"
)

// look is one walk over the steps of one account's row.
type look struct {
	prober     *Prober
	target     Target
	row        row
	credential Credential
	discover   bool // the list of models is due
	renewed    bool // Refused was asked: it is asked once a look
	refused    refusal

	// What the steps brought.
	readings []quota.Reading
	at       time.Time // of the last reading
	models   []string
	plan     string
	project  string

	failure verdict // of the last deciding step that failed
}

// refusal is a credential that a provider refused for good, and when.
type refusal struct {
	authorization string
	at            time.Time
}

// verdict is what an answer comes to.
type verdict struct {
	outcome Outcome
	err     *CallError
	wait    time.Duration // what the provider asks to be left alone for
}

// dialect is the name of the quota reader.
func (l *look) dialect() string { return cmp.Or(l.row.dialect, l.target.Dialect, l.target.Provider) }

// displayName is the provider's, for people.
func (l *look) displayName() string { return cmp.Or(l.row.name, l.target.Name, l.target.Provider) }

// run walks the steps. A credential that is known to be refused is not sent again.
func (l *look) run(ctx context.Context) verdict {
	credential, err := l.prober.credentials.Current(ctx, l.target.Profile)
	switch {
	case errors.Is(err, ErrAuthRequired):
		return verdict{outcome: Auth, err: l.failed("credential", "auth_required", err)}
	case err != nil:
		return verdict{outcome: Failed, err: l.failed("credential", "unavailable", err)}
	case credential.Authorization == "" && !l.row.keyless:
		return verdict{outcome: Unconfigured}
	case credential.Authorization != "" && credential.Authorization == l.refused.authorization:
		return verdict{outcome: Auth, err: l.failed("credential", "refused_before", nil)}
	}
	l.credential, l.refused = credential, refusal{}
	l.project = cmp.Or(credential.Project, l.target.Project, l.project)
	for _, s := range l.row.steps {
		if s.when != nil && !s.when(l) {
			continue
		}
		if v := l.take(ctx, s); v.outcome != Measured && l.ends(s, v) {
			break
		}
	}
	switch {
	case len(l.readings) > 0:
		return verdict{outcome: Measured, wait: l.failure.wait}
	case l.failure.outcome != "":
		return l.failure
	}
	return verdict{outcome: NotExposed}
}

// ends notes the failure of a step and reports whether the look is over.
func (l *look) ends(s step, v verdict) bool {
	switch {
	case s.weight == extra:
		return false
	case v.outcome == NotExposed && l.failure.outcome != "": // the other endpoint may answer another time
	case v.outcome == Auth, v.outcome == Unconfigured, s.weight == decides:
		l.failure = v
	case v.outcome == Forbidden && !l.row.measures():
		l.failure = v // nothing but models is ever asked of it
	}
	switch v.outcome {
	case Auth, Unconfigured:
		return true
	case Forbidden, Entitlement:
		return s.weight == decides
	}
	return l.failure.wait > 0
}

// take asks a step and takes what it says. After a 401 it is asked once more if there is another credential.
func (l *look) take(ctx context.Context, s step) verdict {
	v := l.ask(ctx, s)
	if v.outcome != Auth || s.weight == extra {
		return v
	}
	if l.credential.Authorization == "" {
		return verdict{outcome: Unconfigured} // a server of the user's own that does want a key
	}
	if !l.renewed {
		l.renewed = true
		if other, ok := l.prober.credentials.Refused(ctx, l.target.Profile, l.credential); ok && other.Authorization != "" {
			l.credential = other
			v = l.ask(ctx, s)
		}
	}
	if v.outcome == Auth {
		l.refused = refusal{l.credential.Authorization, l.prober.now()}
	}
	return v
}

// ask sends a step and judges the answer.
func (l *look) ask(ctx context.Context, s step) verdict {
	r, failed := l.call(ctx, s)
	if failed != nil {
		return verdict{outcome: Failed, err: failed}
	}
	outcome, reason, wait := judge(r, l.row.plans)
	if outcome == Measured {
		l.takePlan(s, r)
		if reason = s.read(l, r); reason != "" {
			outcome = Failed
		}
	}
	if outcome != Measured {
		return verdict{outcome: outcome, err: l.failed(s.name, reason, nil), wait: wait}
	}
	return verdict{outcome: Measured}
}

// takePlan takes what an answer says of the plan, whether or not it measures anything.
func (l *look) takePlan(s step, r reply) {
	for path := range strings.FieldsSeq(s.plan) {
		if plan := short(gjson.GetBytes(r.body, path).Str); plan != "" {
			l.plan = plan
			return
		}
	}
}

func (l *look) failed(step, reason string, cause error) *CallError {
	return &CallError{Profile: l.target.Profile, Step: step, Reason: reason, Cause: cause}
}

// Troubles with an answer that came.
const (
	notUnderstood = "not_understood"
	noValues      = "no_values" // a usage endpoint's answer that measures nothing
	tooLarge      = "too_large"
)

// readUsage takes what a usage endpoint measures.
func readUsage(l *look, r reply) string {
	if len(r.body) > quota.BodyLimit {
		return tooLarge // Read would see a part of it
	}
	switch reading := r.reading(); {
	case reading.Scope != quota.ScopeAccount:
		return notUnderstood
	case len(reading.Buckets) == 0:
		return noValues
	default:
		l.readings, l.at = append(l.readings, reading), r.at
	}
	return ""
}
