package quota

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// kimiCodeRules are those of Kimi's coding plan (kimi-code#2121, cc-haha#1208): its windows refuse with 403, as
// access_terminated_error and as permission_error with the words of a billing cycle while the five hours are spent. The same
// permission_error about a model is one.
var kimiCodeRules = rules{
	codes: codeTable(
		codeGroup{class: QuotaExhausted, weight: decides, codes: "access_terminated_error"},
		codeGroup{class: RateLimited, codes: "rate_limit_reached_error"},
		codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "engine_overloaded_error"},
	),
	phrases: []phraseGroup{
		{class: QuotaExhausted, phrases: []string{"usage limit for this billing cycle", "reached your usage limit", "quota will be refreshed"}},
	},
	scopes: map[Class]Scope{Overloaded: ScopeModel},
	usage:  kimiUsage,
}

// kimiUsage reads GET /coding/v1/usages: {usage: the week, limits: [{window{duration,timeUnit}, detail}]}, with numbers as
// strings; a member that is zero may be missing.
func kimiUsage(a *answer, v gjson.Result) []Bucket {
	prefix := a.dialect.bucketPrefix() + "."
	var buckets []Bucket
	if week := v.Get("usage"); week.IsObject() && week.Get("limit").Exists() {
		buckets = append(buckets, kimiBucket(prefix+"weekly", week))
	}
	for _, l := range v.Get("limits").Array() {
		if d := l.Get("detail"); d.IsObject() {
			buckets = append(buckets, kimiBucket(prefix+kimiWindow(l.Get("window")), d))
		}
	}
	if total := v.Get("totalQuota"); total.IsObject() && total.Get("limit").Exists() {
		buckets = append(buckets, kimiBucket(prefix+"total", total))
	}
	return buckets
}

func kimiBucket(id string, v gjson.Result) Bucket {
	limit, used, left := numberOf(v.Get("limit")), numberOf(v.Get("used")), numberOf(v.Get("remaining"))
	if limit.Known && !used.Known {
		if used = Known(0); left.Known {
			used = Known(limit.Value - left.Value)
		}
	}
	return countBucket(id, limit, used, left, v.Get("resetTime"))
}

// kimiWindow names a window by its length: {"duration":300,"timeUnit":"TIME_UNIT_MINUTE"} is "5h".
func kimiWindow(v gjson.Result) string {
	minutes := int(numberOf(v.Get("duration")).Value)
	switch v.Get("timeUnit").Str {
	case "TIME_UNIT_HOUR":
		minutes *= 60
	case "TIME_UNIT_DAY":
		minutes *= 24 * 60
	}
	switch {
	case minutes == weeklyMinutes:
		return "7d"
	case minutes > 0 && minutes%(24*60) == 0:
		return strconv.Itoa(minutes/(24*60)) + "d"
	case minutes > 0 && minutes%60 == 0:
		return strconv.Itoa(minutes/60) + "h"
	}
	return strconv.Itoa(minutes) + "m"
}
