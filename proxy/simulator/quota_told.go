package simulator

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// header tells what is left of the quota on an answer, in its style; nil where there is no quota or the style tells nothing.
func (q Quota) header(w window, now time.Time) http.Header {
	if q.Calls == 0 && !w.spent {
		return nil
	}
	h := http.Header{}
	wait := untilEnd(w, now)
	switch q.Style {
	case QuotaRate:
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(q.limit(w)))
		h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(q.left(w)))
		if !w.end.IsZero() {
			h.Set("X-Ratelimit-Reset-Requests", wait.String())
		}
	case QuotaCodex:
		used := 100
		if !w.spent {
			used = 100 * w.used / q.Calls
		}
		h.Set("X-Codex-Plan-Type", "plus")
		h.Set("X-Codex-Active-Limit", "codex")
		h.Set("X-Codex-Primary-Used-Percent", strconv.Itoa(used))
		h.Set("X-Codex-Primary-Window-Minutes", strconv.Itoa(int(q.Window/time.Minute)))
		if !w.end.IsZero() {
			h.Set("X-Codex-Primary-Reset-After-Seconds", strconv.Itoa(seconds(wait)))
			h.Set("X-Codex-Primary-Reset-At", strconv.FormatInt(epoch(w.end), 10))
		}
	}
	return h
}

// refusal is the answer when the quota is spent, with the window's true end or none.
func (q Quota) refusal(w window, model string, now time.Time) *problem {
	switch q.Style {
	case QuotaCodex, QuotaCodexBody:
		return q.codexRefusal(w, now)
	case QuotaBilling:
		return insufficientQuota()
	case QuotaOpenCode:
		return q.openCodeRefusal(w, now)
	}
	if w.end.IsZero() {
		return insufficientQuota()
	}
	wait := untilEnd(w, now)
	p := rateLimited(fmt.Sprintf("Rate limit reached for %s in organization org-simulated on %s: Limit %d, Used %d, Requested 1. Please try again in %s. Visit https://platform.openai.com/account/rate-limits to learn more.",
		model, q.unit(), q.limit(w), q.limit(w), wait))
	p.header = q.header(w, now)
	if q.Style == QuotaRate {
		p.header.Set("Retry-After", strconv.Itoa(seconds(wait)))
		p.header.Set("Retry-After-Ms", strconv.FormatInt(wait.Milliseconds(), 10))
	}
	return p
}

func (q Quota) codexRefusal(w window, now time.Time) *problem {
	p := &problem{status: http.StatusTooManyRequests, kind: "usage_limit_reached", message: "The usage limit has been reached", header: q.header(w, now)}
	p.more = map[string]any{"plan_type": "plus"}
	if !w.end.IsZero() {
		p.more["resets_at"] = epoch(w.end)
		p.more["resets_in_seconds"] = seconds(untilEnd(w, now))
	}
	return p
}

// openCodeRefusal names the period of the plan that is used up.
func (q Quota) openCodeRefusal(w window, now time.Time) *problem {
	name, words := "5 hour", "5-hour"
	switch {
	case q.Window > week:
		name, words = "monthly", "Monthly"
	case q.Window > fiveHours:
		name, words = "weekly", "Weekly"
	}
	p := &problem{status: http.StatusTooManyRequests, message: words + " usage limit reached."}
	if !w.end.IsZero() {
		wait := untilEnd(w, now)
		p.header = http.Header{"Retry-After": {strconv.Itoa(seconds(wait))}}
		p.message += " Resets in " + roughly(wait) + "."
	}
	p.body = encode(map[string]any{
		"type": "error", "error": map[string]string{"type": "GoUsageLimitError", "message": p.message},
		"metadata": map[string]string{"workspace": "wrk_simulated", "limitName": name},
	})
	return p
}

// roughly is a wait as OpenCode tells it: whole days, or hours and minutes.
func roughly(wait time.Duration) string {
	if days := int(wait / (24 * time.Hour)); days > 0 {
		return fmt.Sprintf("%d days", days)
	}
	return fmt.Sprintf("%dhr %dmin", int(wait/time.Hour), int(wait/time.Minute)%60)
}

// limit is the size of the window; of one that had no size and was spent nevertheless, what was used of it.
func (q Quota) limit(w window) int { return max(q.Calls, w.used, 1) }

const perMinute = "requests per min (RPM)"

func (q Quota) unit() string {
	if q.Window > 0 && q.Window <= time.Minute {
		return perMinute
	}
	return "requests per day (RPD)"
}

// untilEnd is the wait for the window's end, rounded up to a millisecond: a client that obeys is never early.
func untilEnd(w window, now time.Time) time.Duration {
	wait := max(0, w.end.Sub(now))
	return (wait + time.Millisecond - 1).Truncate(time.Millisecond)
}

// seconds and epoch round up, for the same reason.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func epoch(t time.Time) int64 { return ceil(t).Unix() }

// ceil is the next full second.
func ceil(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }
