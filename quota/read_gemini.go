package quota

// geminiRules are those of the Gemini API (ai.google.dev/gemini-api/docs/rate-limits and …/troubleshooting). A refusal by
// location is about the address that calls, not the key.
var geminiRules = rules{
	codes: codeTable(googleCodes...),
	phrases: append([]phraseGroup{
		{class: Forbidden, scope: ScopeProvider, phrases: []string{"user location is not supported", "not available in your country"}},
	}, googlePhrases...),
	scopes:  googleScopes,
	measure: measureGoogle,
	judge:   judgeGemini,
}

// judgeGemini adds the prompt that was blocked: it comes as a success without candidates.
func judgeGemini(a *answer, v verdict) verdict {
	if a.root.Get("promptFeedback.blockReason").Str != "" && !a.root.Get("candidates").Exists() {
		return verdict{class: ContentPolicy, reason: "code:prompt_blocked"}
	}
	return judgeGoogleQuota(a, v)
}
