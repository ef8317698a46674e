package quota

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// zhipuRules are those of Zhipu and Z.ai (docs.bigmodel.cn/cn/faq/api-code, docs.z.ai/api-reference/api-code). The business
// code decides, which the Anthropic endpoint writes as "[1310][words][request id]": HTTP's 429 stands on bills, sanctions and
// overload alike. 1302 is concurrency, not the window of five hours. Times are Beijing's, without saying so.
var zhipuRules = rules{
	zone: time.FixedZone("", 8*3600),
	codes: codeTable(
		codeGroup{class: ServerError, weight: leans, codes: "500 1230 1234"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "1000 1001 1002 1004"},
		codeGroup{class: AuthExpired, weight: decides, codes: "1003"},
		codeGroup{class: Forbidden, weight: decides, codes: "1110 1111 1112 1120 1121 1220 1221 1222 1313"},
		codeGroup{class: Billing, weight: decides, codes: "1113 1309"},
		codeGroup{class: RateLimited, weight: decides, codes: "1302 1303"},
		codeGroup{class: InvalidRequest, weight: decides, codes: "1210 1212 1213 1214 1215"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "1211"},
		codeGroup{class: ContextTooLong, weight: decides, codes: "1261"},
		codeGroup{class: ContentPolicy, weight: decides, codes: "1300 1301"},
		codeGroup{class: QuotaExhausted, weight: decides, codes: "1304 1308 1310"},
		codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "1305 1312"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "1311"},
	),
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{"no resource package"}},
	},
	scopes:   map[Class]Scope{Overloaded: ScopeModel},
	statuses: map[int]Class{434: Forbidden, 435: RequestTooLarge},
	wordCode: bracketCode,
	usage:    zhipuUsage,
}

// bracketCode is the code in "[1310][…][…]".
func bracketCode(message string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(message), "[")
	code, _, closed := strings.Cut(rest, "]")
	if !ok || !closed || len(code) != 4 || !isCodeName(code) {
		return ""
	}
	return code
}

// zhipuUsage reads GET /api/monitor/usage/quota/limit: limits[] with a percentage used and an epoch in milliseconds. unit 3
// counts hours, 6 weeks, 5 months; TIME_LIMIT is that of tools.
func zhipuUsage(a *answer, v gjson.Result) []Bucket {
	var buckets []Bucket
	for _, l := range v.Get("data.limits").Array() {
		used := numberOf(l.Get("percentage"))
		if !used.Known {
			continue
		}
		id := a.dialect.bucketPrefix() + "." + zhipuWindow(l)
		b := countBucket(id, numberOf(l.Get("usage")), Number{}, numberOf(l.Get("remaining")), l.Get("nextResetTime"))
		buckets = append(buckets, b.withUsed(used.Value))
	}
	return buckets
}

func zhipuWindow(l gjson.Result) string {
	window := "window"
	switch number := l.Get("number").String(); l.Get("unit").Int() {
	case 3:
		window = number + "h"
	case 5:
		window = "monthly"
	case 6:
		window = "weekly"
	}
	if l.Get("type").Str == "TIME_LIMIT" {
		window = "tools_" + window
	}
	return window
}
