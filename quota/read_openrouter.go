package quota

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// openRouterRules are OpenRouter's (openrouter.ai/docs/api-reference/errors and …/limits). metadata.headers carries the
// headers of its own limits, with resets in milliseconds; metadata.raw or provider_name is the upstream's word, which is
// true of one model (open-webui/computer#293); metadata.reasons is moderation.
var openRouterRules = rules{
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{"key limit exceeded", "requires more credits", "prompt tokens limit exceeded"}},
		{class: QuotaExhausted, phrases: []string{"free models per day", "free models per day high balance"}},
		{class: RateLimited, phrases: []string{"free models per min"}},
		{class: ContentPolicy, phrases: []string{"input was flagged", "requires moderation"}},
	},
	statuses: map[int]Class{http.StatusNotFound: ModelNotFound},
	usage:    openRouterUsage,
	judge:    judgeOpenRouter,
}

// judgeOpenRouter tells what is OpenRouter's from what is an upstream's.
func judgeOpenRouter(a *answer, v verdict) verdict {
	if a.errorMember("metadata.reasons").IsArray() {
		return verdict{class: ContentPolicy, reason: "code:moderation"}
	}
	switch {
	case usualScopes[v.class] == ScopeRequest:
	case a.ownLimit() != "":
		a.nameLimit(a.ownLimit())
	case v.class == Overloaded, v.class == ServerError && a.effectiveStatus() == http.StatusBadGateway:
		v.scope = ScopeModel // 502 and 503 are the upstreams of one model, by the documentation
	case v.class == RateLimited, v.class == QuotaExhausted, v.class == ServerError, v.class == Timeout:
		if a.fromUpstream() {
			v.scope = ScopeModel
		}
	}
	return v
}

// fromUpstream reports whether the error is one that OpenRouter only passes on.
func (a *answer) fromUpstream() bool {
	return a.errorMember("metadata.raw").Exists() || a.errorMember("metadata.provider_name").Str != "" ||
		len(a.faults) > 1 || a.root.Get("choices").Exists() || a.root.Get("provider").Exists()
}

// ownLimit is the limit of OpenRouter's own that the words name.
func (a *answer) ownLimit() string {
	for _, name := range []string{"free models per day high balance", "free models per day", "free models per min"} {
		if a.says(name) {
			return strings.ReplaceAll(name, " ", "_")
		}
	}
	return ""
}

// nameLimit gives the nameless window of the carried headers its name or, where there are none, says that it is spent.
func (a *answer) nameLimit(name string) {
	prefix := a.dialect.bucketPrefix() + "."
	for i := range a.buckets {
		if a.buckets[i].ID == prefix+"ratelimit" {
			a.buckets[i].ID = prefix + name
			return
		}
	}
	a.buckets = append(a.buckets, Bucket{ID: prefix + name}.spent())
}

// errorMember finds a member of the error object, which double wrappers hide one level deeper.
func (a *answer) errorMember(path string) gjson.Result {
	for _, at := range []string{"error.", "error.error.", "choices.0.error."} {
		if v := a.root.Get(at + path); v.Exists() {
			return v
		}
	}
	return gjson.Result{}
}

// openRouterUsage reads GET /api/v1/key, in dollars with the word for how often it starts again, and GET /api/v1/credits.
func openRouterUsage(a *answer, v gjson.Result) []Bucket {
	v = v.Get("data")
	if total, used := numberOf(v.Get("total_credits")), numberOf(v.Get("total_usage")); total.Known && used.Known {
		return []Bucket{countBucket(a.dialect.bucketPrefix()+".credits", total, used, Number{}, gjson.Result{})}
	}
	limit, left := numberOf(v.Get("limit")), numberOf(v.Get("limit_remaining"))
	switch {
	case !v.Get("limit_remaining").Exists():
		return nil
	case !limit.Known:
		return []Bucket{} // the key has no limit
	}
	id := a.dialect.bucketPrefix() + ".key"
	if period := v.Get("limit_reset").Str; period != "" {
		id += "_" + codeName(period)
	}
	return []Bucket{countBucket(id, limit, Number{}, left, gjson.Result{})}
}
