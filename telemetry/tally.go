package telemetry

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// lane is what calls are counted by. A request that failed before an account was asked has no provider and no profile.
type lane struct{ role, provider, profile string }

func (l lane) compare(o lane) int {
	return cmp.Or(strings.Compare(l.role, o.role), strings.Compare(l.provider, o.provider), strings.Compare(l.profile, o.profile))
}

// tally is what happened to one lane, or to several together, in some time. Sums stay where they are when they would
// overflow: providers are free to state any number of tokens.
type tally struct {
	calls      int64 // upstream attempts
	succeeded  int64 // of them
	failed     int64 // client requests that ended in failure, by the account that was asked last
	stated     int64 // calls whose usage the provider stated
	prompt     int64 // tokens
	completion int64 // tokens
	priced     int64 // calls whose cost is known
	usd        float64
	slowest    int64     // units
	failovers  []trigger // by reason
	latency    sketch
}

// trigger is one reason to fail over and how often it was one.
type trigger struct {
	reason string
	n      int64
}

// mostUSD is what no call costs, so that a rate of the configuration which is beyond all measure makes no infinite sums.
const mostUSD = 1e12

// call counts one attempt.
func (t *tally) call(a *Attempt) {
	t.calls++
	if a.Outcome == "ok" {
		t.succeeded++
	}
	if a.Usage.Known {
		t.stated++
		t.prompt = plus(t.prompt, max(a.Usage.Input, 0))
		t.completion = plus(t.completion, max(a.Usage.Output, 0))
	}
	if a.Cost.Known && a.Cost.USD >= 0 && a.Cost.USD <= mostUSD {
		t.priced++
		t.usd += a.Cost.USD
	}
	took := int64((max(a.Duration, 0) + unit/2) / unit)
	t.slowest = max(t.slowest, took)
	t.latency.add(took)
}

// failOver counts n failovers for that reason.
func (t *tally) failOver(reason string, n int64) {
	i, found := slices.BinarySearchFunc(t.failovers, reason, func(have trigger, r string) int { return strings.Compare(have.reason, r) })
	if !found {
		t.failovers = slices.Insert(t.failovers, i, trigger{reason, n})
		return
	}
	t.failovers[i].n = plus(t.failovers[i].n, n)
}

// merge counts all that o counted but its latencies.
func (t *tally) merge(o *tally) {
	t.calls = plus(t.calls, o.calls)
	t.succeeded = plus(t.succeeded, o.succeeded)
	t.failed = plus(t.failed, o.failed)
	t.stated = plus(t.stated, o.stated)
	t.prompt = plus(t.prompt, o.prompt)
	t.completion = plus(t.completion, o.completion)
	t.priced = plus(t.priced, o.priced)
	t.usd += o.usd
	t.slowest = max(t.slowest, o.slowest)
	for _, f := range o.failovers {
		t.failOver(f.reason, f.n)
	}
}

// plus adds two numbers that are not negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// tallies is some time, by lane.
type tallies map[lane]*tally

func (ts tallies) of(l lane) *tally {
	t := ts[l]
	if t == nil {
		t = &tally{}
		ts[l] = t
	}
	return t
}

// room is l, or what it counts as when the time has too many lanes.
func (ts tallies) room(l lane) lane {
	if len(ts) >= maxLanes && ts[l] == nil {
		l.profile = Other
	}
	return l
}

func (ts tallies) merge(l lane, o *tally) {
	t := ts.of(l)
	t.merge(o)
	t.latency.merge(o.latency)
}

// failed reports whether a client's request ended in failure. A caller's own mistake is one only when an account was
// called for it; a client that went away is nobody's failure.
func failed(x *Exchange) bool {
	switch x.Outcome {
	case Exhausted, Interrupted, Unavailable, InternalError:
		return true
	case InvalidCall:
		return len(x.Attempts) > 0
	}
	return false
}

// triggerOf names the reason of a failover as the UI state contract does, which knows one word for a credential that does
// not serve.
func triggerOf(outcome string) string {
	switch outcome {
	case "auth_expired", "auth_invalid":
		return "auth_required"
	}
	return bound(attemptOutcomes, outcome)
}

// minuteOf is the number of the minute that t is in, counted from 1970.
func minuteOf(t time.Time) int64 { return int64(math.Floor(float64(t.Unix()) / 60)) }
