package hub

import (
	"slices"
	"strings"
)

// planUnknown is the code and the source of a plan that nothing names.
const (
	planUnknown       = "UNKNOWN"
	planSourceUnknown = "unknown"
	planFromProvider  = "provider_api"
)

// planCodes are the words by which plans are known, the most telling first: "SuperGrok Heavy", "g1-pro-tier", "max_20x".
var planCodes = []string{"SUPERGROK", "ENTERPRISE", "BUSINESS", "TEAM", "ULTRA", "MAX", "PRO", "PLUS", "FREE"}

// planOf is the plan of an account and where it is known from. What the credential claims stands, unless the provider itself
// says otherwise, which it does later. Nothing is inferred.
func planOf(id Identity, look Look) (code, source string) {
	code, source = planCode(id.Plan), id.PlanSource
	if told := planCode(look.Plan); told != planUnknown && told != code {
		return told, planFromProvider
	}
	if code == planUnknown || source == "" {
		return planUnknown, planSourceUnknown
	}
	return code, source
}

// planCode is the plan's code in a provider's words: a known word of them, else the first, in capitals.
func planCode(plan string) string {
	words := strings.FieldsFunc(strings.ToUpper(plan), func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '.' })
	for _, code := range planCodes {
		if slices.Contains(words, code) {
			return code
		}
	}
	if len(words) == 0 {
		return planUnknown
	}
	return words[0]
}

func (p *ProfileViewModel) setPlan(code, source string) {
	p.PlanCode, p.PlanSource = code, source
	if code == planUnknown {
		p.Plan, p.PlanEN = "Тариф: неизвестен", "Plan: unknown"
		return
	}
	p.Plan, p.PlanEN = "Тариф: "+code, "Plan: "+code
}
