package simulator

import (
	"net/http"
	"strconv"
	"time"
)

// subscribed reports whether the style is that of a subscription.
func (s QuotaStyle) subscribed() bool { return s == QuotaSubscription || s == QuotaSubscriptionBody }

// messagesTells tells what is left of the quota on an answer: an API key's requests, or a Claude subscription's window.
func messagesTells(q Quota, w window, now time.Time) http.Header {
	if q.Calls == 0 && !w.spent {
		return nil
	}
	h := http.Header{}
	switch q.Style {
	case QuotaRate:
		h.Set("Anthropic-Ratelimit-Requests-Limit", strconv.Itoa(q.limit(w)))
		h.Set("Anthropic-Ratelimit-Requests-Remaining", strconv.Itoa(q.left(w)))
		if !w.end.IsZero() {
			h.Set("Anthropic-Ratelimit-Requests-Reset", ceil(w.end).UTC().Format(time.RFC3339))
		}
	case QuotaSubscription:
		q.unified(h, w)
	}
	return h
}

// unified tells of a subscription's window, which has its own name by its length: five hours or seven days.
func (q Quota) unified(h http.Header, w window) {
	const prefix = "Anthropic-Ratelimit-Unified-"
	name, claim := "5h-", "five_hour"
	if q.Window > 5*time.Hour {
		name, claim = "7d-", "seven_day"
	}
	used, status := q.fraction(w), "allowed"
	switch {
	case q.left(w) == 0 && w.refused:
		status = "rejected"
	case used >= 0.9:
		status = "allowed_warning"
	}
	h.Set(prefix+"Status", status)
	h.Set(prefix+"Representative-Claim", claim)
	h.Set(prefix+name+"Status", status)
	h.Set(prefix+name+"Utilization", strconv.FormatFloat(used, 'f', -1, 64))
	if !w.end.IsZero() {
		h.Set(prefix+"Reset", strconv.FormatInt(epoch(w.end), 10))
		h.Set(prefix+name+"Reset", strconv.FormatInt(epoch(w.end), 10))
	}
}

// messagesSpent is the answer when the quota is spent.
func messagesSpent(q Quota, w window, to told) *problem {
	if q.Style == QuotaOpenCode {
		return q.openCodeRefusal(w, to.now)
	}
	if q.Style == QuotaBilling || w.end.IsZero() && !q.Style.subscribed() {
		p := messagesRecorded[InsufficientQuota]
		return &p
	}
	p := messagesLimited(exceedsAccount)
	if q.Style == QuotaRate {
		p.message = "Number of requests has exceeded your rate limit (https://docs.claude.com/en/api/rate-limits). Please try again later or contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase."
	}
	w.refused = true
	p.header = messagesTells(q, w, to.now)
	if (q.Style == QuotaRate || q.Style == QuotaSubscription) && !w.end.IsZero() {
		p.header.Set("Retry-After", strconv.Itoa(seconds(untilEnd(w, to.now))))
	}
	return p
}
