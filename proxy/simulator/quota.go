package simulator

import (
	"time"
)

// Quota is how many normal answers an account gives in a window. A scripted step other than Normal takes nothing from it
// and is played even when nothing is left.
type Quota struct {
	Calls   int           // normal answers a window; 0 = any number, until SpendQuota
	Window  time.Duration // a window begins with the first answer after the last one ended
	ResetAt time.Time     // the first window ends here instead; later ones are Windows
	Style   QuotaStyle    // how what is left is told
}

// QuotaStyle is how an account tells what is left of its quota, and that nothing is.
type QuotaStyle uint8

// The styles, each as it was recorded. What a style is called here is what it is in Chat and Responses; the other protocols
// tell the same of themselves in their own headers and refusals.
const (
	// QuotaRate is an API key's rate: x-ratelimit-* on every answer; when spent 429 rate_limit_exceeded with Retry-After,
	// Retry-After-Ms and the wait in the text. In Messages anthropic-ratelimit-requests-* and rate_limit_error with
	// Retry-After.
	QuotaRate QuotaStyle = iota
	// QuotaProse is the same without any header: the wait stands in the text alone (openai/openai-node#1477), and in Messages
	// nowhere.
	QuotaProse
	// QuotaCodex is a Codex subscription: x-codex-* on every answer; when spent 429 usage_limit_reached with resets_at and
	// resets_in_seconds in the body. In Messages a Claude subscription: anthropic-ratelimit-unified-*.
	QuotaCodex
	// QuotaCodexBody is the same without any header (codex2api#9, anthropics/claude-code#7157).
	QuotaCodexBody
	// QuotaBilling is an account without credit: 429 insufficient_quota, never a word about a reset; in Messages a 400.
	QuotaBilling
	// QuotaOpenCode is OpenCode Go's plan: nothing on an answer; when spent 429 GoUsageLimitError with Retry-After, and the
	// wait in words rounded down. In Google's protocols the same as QuotaRate.
	QuotaOpenCode
)

// The styles of a subscription by a name that fits all protocols.
const (
	QuotaSubscription     = QuotaCodex
	QuotaSubscriptionBody = QuotaCodexBody
)

// window is the current window of a quota. The zero window has not begun.
type window struct {
	used    int
	spent   bool      // by SpendQuota
	end     time.Time // zero = it never ends
	begun   bool
	later   bool // a window ended before: ResetAt is history
	refused bool // it is told to a call that gets no answer
}

// at is the window as it stands at now: an ended one is over, and the next has not begun.
func (q Quota) at(w window, now time.Time) window {
	if w.begun && !w.end.IsZero() && !now.Before(w.end) {
		return window{later: true}
	}
	return w
}

// begin starts the window at now, unless it has begun.
func (q Quota) begin(w window, now time.Time) window {
	w = q.at(w, now)
	if w.begun {
		return w
	}
	w.begun = true
	switch {
	case !w.later && now.Before(q.ResetAt):
		w.end = q.ResetAt
	case q.Window > 0:
		w.end = now.Add(q.Window)
	}
	return w
}

// take takes one answer from the window, and reports whether there was one.
func (q Quota) take(w window, now time.Time) (window, bool) {
	w = q.begin(w, now)
	if w.spent || q.Calls > 0 && w.used >= q.Calls {
		return w, false
	}
	w.used++
	return w, true
}

// spend takes everything from the window.
func (q Quota) spend(w window, now time.Time) window {
	w = q.begin(w, now)
	w.spent = true
	return w
}

// fraction is how much of the window is used, from 0 to 1.
func (q Quota) fraction(w window) float64 {
	if w.spent || q.Calls == 0 {
		return 1
	}
	return float64(w.used) / float64(q.Calls)
}

// left is how many answers the window still holds; meaningless where Calls is 0 and nothing was spent.
func (q Quota) left(w window) int {
	if w.spent {
		return 0
	}
	return max(0, q.Calls-w.used)
}
