package quota

import (
	"strings"

	"github.com/tidwall/gjson"
)

// copilotRules are GitHub Copilot's (copilot-cli#2769, #2336, #2828; vscode-copilot-chat, chatQuotaServiceImpl). The header
// x-ratelimit-exceeded names the bucket that is full where the words only say "a moment"; Retry-After is exact where they
// round to hours or give a local date. Quota snapshots in headers are query strings with the percentage that remains.
var copilotRules = rules{
	codes: codeTable(
		codeGroup{class: QuotaExhausted, weight: decides, codes: "user_weekly_rate_limited user_monthly_rate_limited quota_exceeded free_quota_exceeded"},
		codeGroup{class: RateLimited, codes: "rate_limited user_global_rate_limited integration_rate_limited"},
		codeGroup{class: RateLimited, scope: ScopeModel, codes: "user_model_rate_limited model_rate_limited"},
		codeGroup{class: ContextTooLong, weight: decides, codes: "model_max_prompt_tokens_exceeded"},
		codeGroup{class: ContentPolicy, weight: decides, codes: "content_filtered off_topic"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "model_not_allowed"},
	),
	phrases: []phraseGroup{
		// The token of a session of the auto mode ran out; that of the account is fine (copilot-cli#2818).
		{class: AuthExpired, phrases: []string{"invalid auto mode selector", "auto mode session"}},
		{class: QuotaExhausted, phrases: []string{"weekly rate limit", "monthly rate limit", "quota exceeded"}},
	},
	header: copilotHeader,
	usage:  copilotUsage,
	judge:  judgeCopilot,
	wait:   copilotWait,
}

// copilotHeader reads x-quota-snapshot-<window> and x-usage-ratelimit-{session,weekly}.
func copilotHeader(key string) (string, windowField, bool) {
	if name, ok := strings.CutPrefix(key, "X-Quota-Snapshot-"); ok {
		return name, fieldSnapshot, true
	}
	if name, ok := strings.CutPrefix(key, "X-Usage-Ratelimit-"); ok {
		return name, fieldSnapshot, true
	}
	return "", 0, false
}

// judgeCopilot lets the header name what is exceeded: "user:global-usage-5-hour-key:…", "quota_exceeded".
func judgeCopilot(a *answer, v verdict) verdict {
	exceeded := a.Header.Get("X-Ratelimit-Exceeded")
	if exceeded == "" || !limitClass(v.class) {
		return v
	}
	for _, long := range []string{"quota", "5 hour", "weekly", "week", "monthly", "month", "daily", "day"} {
		if contains(strings.ReplaceAll(exceeded, ":", " "), long) {
			v.class, v.reason = QuotaExhausted, "header:x-ratelimit-exceeded"
			return v
		}
	}
	return v
}

// copilotWait knows the other two names of Retry-After.
func copilotWait(a *answer, v verdict) (statedWait, bool) {
	if !limitClass(v.class) {
		return statedWait{}, false
	}
	if w, ok := a.headerWait(nil); ok {
		return w, true
	}
	for _, key := range []string{"X-Ratelimit-Quota-Exceeded-Retry-After", "X-Ratelimit-User-Retry-After"} {
		if w, ok := a.retryAfter(a.Header.Get(key), nil); ok {
			return w, true
		}
	}
	return statedWait{}, false
}

// copilotUsage reads GET api.github.com/copilot_internal/user: quota_snapshots of paid plans, counts of the free one. The
// date without a time of day says no instant.
func copilotUsage(a *answer, v gjson.Result) []Bucket {
	prefix, reset := a.dialect.bucketPrefix()+".", v.Get("quota_reset_date_utc")
	if !reset.Exists() {
		reset = v.Get("quota_reset_date")
	}
	var buckets []Bucket
	v.Get("quota_snapshots").ForEach(func(name, s gjson.Result) bool {
		if b := copilotSnapshot(prefix+codeName(name.Str), s, reset); b.measured() {
			buckets = append(buckets, b)
		}
		return len(buckets) < usageLimit
	})
	v.Get("limited_user_quotas").ForEach(func(name, left gjson.Result) bool {
		limit := numberOf(v.Get("monthly_quotas." + name.Str))
		buckets = append(buckets, countBucket(prefix+codeName(name.Str), limit, Number{}, numberOf(left), v.Get("limited_user_reset_date")))
		return len(buckets) < usageLimit
	})
	return byID(buckets)
}

func copilotSnapshot(id string, s, reset gjson.Result) Bucket {
	left := numberOf(s.Get("percent_remaining"))
	if s.Get("unlimited").Bool() {
		b := Bucket{ID: id}
		if left.Known {
			b = b.withUsed(100 - left.Value)
		}
		return b
	}
	b := countBucket(id, numberOf(s.Get("entitlement")), Number{}, numberOf(s.Get("remaining")), reset)
	if left.Known {
		b = b.withUsed(100 - left.Value)
	}
	return b
}
