package quota

// Gateways and small providers whose answers differ from the common ones in a word or two.

// ollamaRules are Ollama's own: the server's queue is full for every model of it (ollama server/sched.go).
var ollamaRules = rules{
	codes: codeTable(codeGroup{class: RateLimited, codes: "rate_limit"}),
	phrases: []phraseGroup{
		{class: QuotaExhausted, phrases: []string{"session usage limit", "hourly usage limit", "weekly usage limit", "usage limit"}},
		{class: Billing, phrases: []string{"payment is past due", "past due"}},
	},
}

// localRules are those of servers on one's own machines: a model that is loading or busy is that model's trouble. Text
// Generation Inference and LightLLM answer 429 when they are busy.
var localRules = rules{
	scopes:   map[Class]Scope{Overloaded: ScopeModel},
	statuses: map[int]Class{429: Overloaded},
}

// iFlowRules are iFlow's: {"status":"449","msg":…} under 200 is a rate (CLIProxyAPI iflow executor).
var iFlowRules = rules{
	statuses: map[int]Class{449: RateLimited, 439: AuthExpired, 435: ModelNotFound},
}

// fluxRouterRules are FluxRouter's: a 402 that only waits for an earlier charge to be settled.
var fluxRouterRules = rules{
	codes: codeTable(codeGroup{class: RateLimited, weight: decides, codes: "credit_unresolved"}),
}

// openGatewayRules are those of Gitlawb's gateway: "Free quota used (30 requests / 5h). Resets at 10:00 UTC." under 402.
var openGatewayRules = rules{
	codes:   codeTable(codeGroup{class: Billing, codes: "insufficient_quota"}),
	measure: measureOpenGateway,
}

func measureOpenGateway(a *answer) []Bucket {
	c, ok := past(a.words, "quota used")
	if !ok || !c.mark("(") {
		return nil
	}
	limit, ok := c.number()
	if !ok || !c.word("requests") || !c.mark("/") {
		return nil
	}
	window := c.name()
	if _, timed := parseDuration(window); !timed {
		return nil
	}
	return []Bucket{Bucket{ID: a.dialect.bucketPrefix() + ".requests_" + window}.withCount(limit, limit)}
}
