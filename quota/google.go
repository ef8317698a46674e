package quota

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// googleCodes are the reasons of google.rpc.ErrorInfo (googleapis/google/api/error_reason.proto) that all of Google's model
// APIs send. API_KEY_INVALID stands on expired keys too (continue#11336): the words know.
var googleCodes = []codeGroup{
	{class: Billing, weight: decides, codes: "billing_disabled"},
	{class: AuthExpired, weight: decides, codes: "access_token_expired"},
	{class: AuthInvalid, weight: decides, codes: "access_token_type_unsupported credentials_missing account_state_invalid"},
	{class: AuthInvalid, codes: "api_key_invalid"},
	{class: Forbidden, weight: decides, codes: `service_disabled consumer_invalid consumer_suspended api_key_service_blocked
		api_key_http_referrer_blocked api_key_ip_address_blocked api_key_android_app_blocked api_key_ios_app_blocked
		iam_permission_denied user_project_denied security_policy_violated location_org_policy_violated`},
	{class: RateLimited, codes: "resource_exhausted"}, // with or without any quota left: the details tell
	{class: Timeout, codes: "deadline_exceeded"},
	{class: ModelNotFound, codes: "not_found"},
}

// googleScopes: quotas and capacity are counted model by model.
var googleScopes = map[Class]Scope{RateLimited: ScopeModel, QuotaExhausted: ScopeModel, Overloaded: ScopeModel}

// googlePhrases come first: "quota" and "billing" stand in every one of these messages.
var googlePhrases = []phraseGroup{
	{class: AuthExpired, phrases: []string{"api key expired"}},
	{class: Forbidden, scope: ScopeModel, phrases: []string{"not allowed to use publisher model"}},
	{class: ModelNotFound, phrases: []string{"publisher model * not found", "publisher model * was not found"}},
	// What the translation of an answer makes of a finishReason that is no end of one: the model's slip, nobody's outage.
	{class: ServerError, scope: ScopeRequest, phrases: []string{"the model ended its answer with"}},
}

// violation is one of google.rpc.QuotaFailure: a quota that was full.
type violation struct {
	metric, id, model string
	limit             Number
}

// perDay reports whether the quota is a daily one.
func (v violation) perDay() bool {
	return strings.Contains(v.id, "PerDay") || strings.Contains(v.metric, "per_day")
}

// violations lists the quotas that an answer names as full: those of its details or, where it has none, those of its words
// ("* Quota exceeded for metric: …/generate_content_free_tier_requests, limit: 2, model: gemini-2.5-pro").
func (a *answer) violations() []violation {
	var found []violation
	for _, list := range a.details {
		list.ForEach(func(_, detail gjson.Result) bool {
			detail.Get("violations").ForEach(func(_, v gjson.Result) bool {
				quota := violation{metric: v.Get("quotaMetric").Str, id: v.Get("quotaId").Str, model: v.Get("quotaDimensions.model").Str}
				if n, ok := parseNumber(v.Get("quotaValue").String()); ok {
					quota.limit = Known(n)
				}
				if quota.metric != "" || quota.id != "" {
					found = append(found, quota)
				}
				return len(found) < bucketLimit
			})
			return true
		})
	}
	if len(found) > 0 {
		return found
	}
	for rest := a.words; ; {
		c, ok := past(rest, "quota exceeded for")
		if !ok {
			return found
		}
		rest = c.rest
		c.word("metric")
		c.mark(":")
		quota := violation{metric: c.name()}
		if c.mark(",") && c.word("limit") && c.mark(":") {
			if n, ok := c.number(); ok {
				quota.limit = Known(n)
			}
		}
		if c.mark(",") && c.word("model") && c.mark(":") || c.word("with base model") && c.mark(":") {
			quota.model = c.name()
		}
		if strings.Contains(quota.metric, "/") { // "…googleapis.com/<metric>"; other words name none
			found = append(found, quota)
		}
	}
}

// bucket is the quota as a bucket: nothing is left of it.
func (v violation) bucket(prefix string) Bucket {
	b := Bucket{ID: prefix + "." + v.window(), Limit: v.limit}.spent()
	if v.model != "" {
		b.ID += "." + strings.ToLower(v.model)
	}
	return b
}

// window names the quota shortly: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" is "requests_per_minute", and
// ".../generate_content_free_tier_requests" is "generate_content_free_tier_requests".
func (v violation) window() string {
	if v.id == "" {
		return strings.ToLower(v.metric[strings.LastIndexByte(v.metric, '/')+1:])
	}
	id, _, _ := strings.Cut(v.id, "-")
	id = strings.TrimPrefix(strings.TrimPrefix(id, "Generate"), "Content")
	id = strings.ReplaceAll(strings.ReplaceAll(id, "PerProject", ""), "PerModel", "")
	var b strings.Builder
	for i, r := range id {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// measureGoogle makes buckets of the violations.
func measureGoogle(a *answer) []Bucket {
	var buckets []Bucket
	a.quotas = a.violations()
	for _, v := range a.quotas {
		buckets = append(buckets, v.bucket(a.dialect.bucketPrefix()))
	}
	return buckets
}

// judgeGoogleQuota tells the quotas apart (googleQuotaErrors of gemini-cli): one of 0 is that of a model that the tier does
// not have, and no wait helps; a daily one is spent for the day, however soon RetryInfo invites back; one of a minute is a
// rate, whatever the message says of plans and billing.
func judgeGoogleQuota(a *answer, v verdict) verdict {
	if !limitClass(v.class) || a.hasCode("insufficient_g1_credits_balance") {
		return v
	}
	daily, short := false, false
	for _, q := range a.quotas {
		if q.limit.Known && q.limit.Value == 0 {
			v.class, v.scope, v.timeless, v.reason = Billing, ScopeModel, true, "quota:none"
			return v
		}
		daily = daily || q.perDay()
		short = short || strings.Contains(q.id, "PerMinute")
	}
	switch {
	case daily:
		v.reason = "quota:per_day"
	case short:
		v.reason = "quota:per_minute"
	}
	switch {
	case daily || a.signs[signLong]:
		v.class, v.scope = QuotaExhausted, ScopeModel
		// The delay of a day's quota is false where it is short (gemini-cli, "daily limit wins over RetryInfo").
		v.timeless = a.wait(QuotaExhausted, nil).after < fixedWindow
	case short, v.phrased && v.class == QuotaExhausted && a.wait(RateLimited, nil).after < fixedWindow && a.hasCode("resource_exhausted"):
		v.class, v.scope = RateLimited, ScopeModel
	}
	return v
}

// errorInfo is the metadata of google.rpc.ErrorInfo in the details, if there is one.
func (a *answer) errorInfo() (info gjson.Result) {
	for _, list := range a.details {
		list.ForEach(func(_, detail gjson.Result) bool {
			if m := detail.Get("metadata"); m.IsObject() && detail.Get("reason").Exists() {
				info = m
			}
			return !info.Exists()
		})
	}
	return info
}
