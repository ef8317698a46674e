package quota

// vertexRules are those of Vertex AI (cloud.google.com/vertex-ai/generative-ai/docs/error-code-429). That address in a
// message is the sign of dynamic shared quota: capacity that all customers share. Quotas are counted for a model of a
// region, errors of Anthropic's models come in Anthropic's own shape.
var vertexRules = rules{
	codes: codeTable(googleCodes...),
	phrases: append([]phraseGroup{
		{class: Overloaded, phrases: []string{"error code 429"}},
	}, googlePhrases...),
	scopes:  googleScopes,
	measure: measureGoogle,
	judge:   judgeVertex,
}

// judgeVertex takes a quota without a window for one of a minute, which is how Vertex counts.
func judgeVertex(a *answer, v verdict) verdict {
	if v.class == QuotaExhausted && v.phrased && !a.namesLongWindow() {
		v.class = RateLimited
	}
	return judgeGoogleQuota(a, v)
}
