package quota

import "strings"

// miniMaxRules are MiniMax's (platform.minimax.io/docs/api-reference/errorcode). The code is in base_resp, under 200 too, or
// in parentheses at the end of the words of its Anthropic endpoint: "insufficient balance (1008)" under 500 (MiniMax-M2#62).
// The "(0/0 used)" beside a spent plan counts nothing.
var miniMaxRules = rules{
	codes: codeTable(
		codeGroup{class: ServerError, weight: decides, codes: "1000 1013 1024 1033"},
		codeGroup{class: Timeout, weight: decides, codes: "1001"},
		codeGroup{class: RateLimited, weight: decides, codes: "1002 1039 1041 2045"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "1004 2049"},
		codeGroup{class: Billing, weight: decides, codes: "1008"},
		codeGroup{class: ContentPolicy, weight: decides, codes: "1026 1027 1042 1043 1044"},
		codeGroup{class: InvalidRequest, codes: "2013 20132"}, // a context that is too long has it too
		codeGroup{class: QuotaExhausted, weight: decides, codes: "2056"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "2061"},
	),
	wordCode: trailingCode,
}

// trailingCode is the code in "words (1008)".
func trailingCode(message string) string {
	message, ok := strings.CutSuffix(strings.TrimSpace(message), ")")
	_, code, opened := cutLast(message, "(")
	if _, number := parseNumber(code); !ok || !opened || !number || len(code) < 4 {
		return ""
	}
	return code
}
