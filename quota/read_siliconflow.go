package quota

import "github.com/tidwall/gjson"

// siliconFlowRules are SiliconFlow's (docs.siliconflow.cn/cn/faqs/error-code): numbers at the top of the body.
var siliconFlowRules = rules{
	codes: codeTable(
		codeGroup{class: ModelNotFound, weight: decides, codes: "20012"},
		codeGroup{class: Billing, weight: decides, codes: "30001"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "30003"},
		codeGroup{class: Overloaded, weight: decides, codes: "50501 50502 50503 50505 50603 50604"},
		codeGroup{class: InvalidRequest, codes: "20015"}, // a context that is too long has it too
	),
	scopes: map[Class]Scope{Overloaded: ScopeModel},
	usage:  siliconFlowUsage,
}

// siliconFlowUsage reads GET /v1/user/info.
func siliconFlowUsage(a *answer, v gjson.Result) []Bucket {
	left := numberOf(v.Get("data.totalBalance"))
	if !left.Known {
		return nil
	}
	return []Bucket{balanceBucket(a.dialect.bucketPrefix()+".balance", left.Value)}
}
