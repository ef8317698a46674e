package oracle

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// apiRetries is how often the agent's loop asks before it gives a call up (agent.api_max_retries). The library's own
// retries are off on this path.
const apiRetries = 3

// Moment is when Hermes leaves an endpoint for its fallback.
type Moment string

// The moments, from the earliest.
const (
	AtOnce      Moment = "at-once"
	SecondTime  Moment = "second-failure"
	AfterAll    Moment = "after-all"
	NoFallback  Moment = "never"
	keyBenched         = time.Hour       // of a key without a stated reset
	onlyKey            = time.Minute     // of the only key there is
	authBenched        = 5 * time.Minute // of a key that was refused
)

// Reaction is what Hermes does about a failure that stays the same, in a turn without a fallback unless said otherwise.
type Reaction struct {
	Requests int           // sent before the turn is given up, or the ladder begins
	Wait     time.Duration // slept between them, jitter left out
	Fallback Moment        // when it would leave, if it had somewhere to go
	Bench    time.Duration // for how long it would not use the key again by itself; 0 = not at all
	Ladder   bool          // five more rounds after 15, 30, 60, 60 and 60 seconds
	Compress bool          // the history is shortened
}

// React is the reaction to the verdict at an instant.
func (v Verdict) React(now time.Time) Reaction {
	r := Reaction{Requests: 1, Fallback: AtOnce, Compress: v.Compress}
	switch v.Reason {
	case RateLimit:
		r.Bench = until(v.ResetAt, now, onlyKey)
	case Billing:
		r.Bench = until(v.ResetAt, now, keyBenched)
	case Auth:
		r.Bench = authBenched
	case Overloaded, Timeout:
		r.Fallback, r.Ladder = SecondTime, true
	case ServerFault:
		r.Fallback, r.Ladder = AfterAll, true
	case Unknown:
		r.Fallback = AfterAll
	case ContextOverflow, PayloadTooLarge, LongContextTier, ReasoningMandatory, InvalidEncrypted, ThinkingSignature, ToolContent, ImageTooLarge:
		r.Fallback = NoFallback
	}
	if v.Retryable {
		r.Requests = apiRetries
		for attempt := 1; attempt < apiRetries; attempt++ {
			r.Wait += v.wait(attempt)
		}
	}
	return r
}

// wait is the sleep after the n-th failure: what the answer asked for, else 2 s doubled, to 60 s.
func (v Verdict) wait(n int) time.Duration {
	return cmp.Or(v.RetryAfter, min(2*time.Second<<(n-1), time.Minute))
}

func until(at, now time.Time, otherwise time.Duration) time.Duration {
	if at.After(now) {
		return at.Sub(now)
	}
	return otherwise
}

// String tells the verdict and the reaction in one line.
func (v Verdict) String() string { return string(v.Reason) + v.told() }

// Line is String with what is done about it at an instant.
func (v Verdict) Line(now time.Time) string {
	r := v.React(now)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %dx", v, r.Requests)
	if r.Wait > 0 {
		fmt.Fprintf(&b, " %s", r.Wait)
	}
	fmt.Fprintf(&b, " fallback=%s", r.Fallback)
	if r.Bench > 0 {
		fmt.Fprintf(&b, " bench=%s", r.Bench)
	}
	if r.Ladder {
		b.WriteString(" ladder")
	}
	return b.String()
}

// told is what of the verdict changes the session, or the history.
func (v Verdict) told() string {
	var b strings.Builder
	for _, flag := range []struct {
		set  bool
		text string
	}{{v.Compress, "compress"}, {v.StreamingOff, "streaming-off"}, {v.UsageOff, "usage-off"}} {
		if flag.set {
			b.WriteString("+" + flag.text)
		}
	}
	if v.Window > 0 {
		fmt.Fprintf(&b, "+window=%d", v.Window)
	}
	return b.String()
}
