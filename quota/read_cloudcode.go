package quota

import (
	"strings"

	"github.com/tidwall/gjson"
)

// cloudCodeRules are those of Cloud Code (cloudcode-pa.googleapis.com), which serves Antigravity and Gemini CLI. The reason
// in its details decides (gemini-cli googleQuotaErrors.ts): MODEL_CAPACITY_EXHAUSTED is never the account's, although it
// comes as 429 and RESOURCE_EXHAUSTED. Antigravity's accounts have pools by family, Gemini CLI's quotas are per model.
var cloudCodeRules = rules{
	codes: codeTable(append([]codeGroup{
		{class: QuotaExhausted, weight: decides, codes: "quota_exhausted"},
		{class: RateLimited, weight: decides, codes: "rate_limit_exceeded"},
		{class: Overloaded, scope: ScopeModel, weight: decides, codes: "model_capacity_exhausted"},
		{class: Billing, weight: decides, codes: "insufficient_g1_credits_balance"},
		{class: Forbidden, weight: decides, codes: "validation_required subscription_required license license_required tos_violation restricted_age"},
	}, googleCodes...)...),
	phrases: append([]phraseGroup{
		// The project that calls are made for is the account's, not the request's.
		{class: Forbidden, phrases: []string{"invalid project resource name"}},
	}, googlePhrases...),
	scopes:   googleScopes,
	windows:  map[string]string{"weekly": "7d"},
	measure:  measureGoogle,
	usage:    cloudCodeUsage,
	judge:    judgeCloudCode,
	answered: proxiedError,
}

// proxiedError is the error that a proxy in front of Cloud Code returns as the model's answer (antigravity2api#44): the
// whole text is "Error: API request failed (429): {…}".
func proxiedError(v gjson.Result) string {
	text := v.Get("choices.0.message.content").Str
	if c := (cursor{text}); c.word("error") && c.mark(":") && c.word("api request failed") && c.mark("(") {
		if _, ok := c.number(); ok && c.mark("):") && c.mark("{") {
			return text
		}
	}
	return ""
}

// judgeCloudCode finds the pool: only an account with pools is told when the quota of its metadata resets.
func judgeCloudCode(a *answer, v verdict) verdict {
	v = judgeGoogleQuota(a, v)
	info := a.errorInfo()
	if v.class == QuotaExhausted && (info.Get("quotaResetTimeStamp").Exists() || info.Get("quotaResetDelay").Exists()) {
		v.scope, v.family = ScopeFamily, poolOf(info.Get("model").Str)
	}
	return v
}

// poolOf is the family whose pool a model draws from: Gemini's, or that of the third parties, which Claude's models and
// GPT's share (v1internal:retrieveUserQuotaSummary calls it 3p). "" is that of the call.
func poolOf(model string) string {
	if model == "" {
		return ""
	}
	return Family(model)
}

// cloudCodeUsage reads the answers of v1internal: retrieveUserQuotaSummary, retrieveUserQuota and fetchAvailableModels. In
// the latter a missing fraction is 0 (Antigravity leaves out what is zero).
func cloudCodeUsage(a *answer, v gjson.Result) []Bucket {
	prefix := a.dialect.bucketPrefix()
	switch {
	case v.Get("groups").IsArray():
		return cloudCodeSummary(prefix, v.Get("groups"))
	case v.Get("buckets").IsArray():
		var buckets []Bucket
		for _, b := range v.Get("buckets").Array() {
			if model := b.Get("modelId").Str; model != "" {
				buckets = append(buckets, fractionBucket(prefix+"."+Family(model)+"."+model, b))
			}
		}
		return withPools(prefix, buckets)
	case v.Get("models").IsObject():
		var buckets []Bucket
		v.Get("models").ForEach(func(model, m gjson.Result) bool {
			if info := m.Get("quotaInfo"); info.IsObject() {
				buckets = append(buckets, fractionBucket(prefix+"."+Family(model.Str)+"."+model.Str, info))
			}
			return len(buckets) < usageLimit
		})
		return withPools(prefix, buckets)
	case v.Get("currentTier").Exists(), v.Get("cloudaicompanionProject").Exists(): // loadCodeAssist
		return []Bucket{}
	}
	return nil
}

// cloudCodeSummary reads the pools: {gemini,3p} × {5h,weekly}. The five hours come first.
func cloudCodeSummary(prefix string, groups gjson.Result) []Bucket {
	var short, long []Bucket
	for _, g := range groups.Array() {
		for _, b := range g.Get("buckets").Array() {
			name := b.Get("bucketId").Str + " " + g.Get("displayName").Str + " " + g.Get("description").Str
			family := "claude"
			if contains(name, "gemini") {
				family = "gemini"
			}
			window := strings.ToLower(b.Get("window").Str + " " + b.Get("bucketId").Str)
			switch {
			case strings.Contains(window, "week") || strings.Contains(window, "7d"):
				long = append(long, fractionBucket(prefix+"."+family+".7d", b))
			case strings.Contains(window, "5"):
				short = append(short, fractionBucket(prefix+"."+family+".5h", b))
			}
		}
	}
	return append(byID(short), byID(long)...)
}

// fractionBucket reads {remainingFraction, resetTime}.
func fractionBucket(id string, v gjson.Result) Bucket {
	left := min(max(v.Get("remainingFraction").Num, 0), 1)
	b := Bucket{ID: strings.ToLower(id)}.withUsed(100 * (1 - left))
	if t, ok := parseInstant(v.Get("resetTime").String(), nil); ok {
		b.ResetAt = t
	}
	return b
}

// withPools puts the pool of each family before its models: the least of them.
func withPools(prefix string, models []Bucket) []Bucket {
	var pools []Bucket
	for _, m := range models {
		family, _, _ := strings.Cut(strings.TrimPrefix(m.ID, prefix+"."), ".")
		id := prefix + "." + family + ".model_pool"
		known := false
		for i := range pools {
			if pools[i].ID != id {
				continue
			}
			known = true
			if m.RemainingPercent.Value < pools[i].RemainingPercent.Value {
				pools[i] = m
				pools[i].ID = id
			}
		}
		if !known {
			m.ID = id
			pools = append(pools, m)
		}
	}
	return append(byID(pools), models...)
}
