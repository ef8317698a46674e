package quota

import "github.com/tidwall/gjson"

// geminiRules are those of the Gemini API (ai.google.dev/gemini-api/docs/rate-limits and …/troubleshooting). A refusal by
// location is about the address that calls, not the key.
var geminiRules = rules{
	codes: codeTable(append([]codeGroup{
		{class: ContentPolicy, weight: decides, codes: "prohibited_content safety blocklist image_safety block_reason_unspecified other"},
	}, googleCodes...)...),
	phrases: append([]phraseGroup{
		{class: Forbidden, scope: ScopeProvider, phrases: []string{"user location is not supported", "not available in your country"}},
	}, googlePhrases...),
	scopes:   googleScopes,
	measure:  measureGoogle,
	answered: blockedPrompt,
	judge:    judgeGoogleQuota,
}

// blockedPrompt is why a prompt was refused: it comes as a success without candidates.
func blockedPrompt(v gjson.Result) string {
	if v.Get("candidates").Exists() {
		return ""
	}
	return v.Get("promptFeedback.blockReason").Str
}
