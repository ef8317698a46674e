package quota

// cohereRules are Cohere's (docs.cohere.com/reference/errors). 498 is a prompt that is not safe. A trial key's limit of a
// month and that of a minute differ by one word.
var cohereRules = rules{
	statuses: map[int]Class{498: ContentPolicy, 499: Timeout},
	phrases: []phraseGroup{
		{class: QuotaExhausted, phrases: []string{"api calls / month", "api calls per month"}},
		{class: RateLimited, phrases: []string{"api calls / minute", "api calls per minute"}},
		{class: ContentPolicy, phrases: []string{"blocked input", "blocked output"}},
	},
	measure: measureCohere,
}

// measureCohere reads "limited to 1000 API calls / month".
func measureCohere(a *answer) []Bucket {
	c, ok := past(a.words, "limited to")
	if !ok {
		return nil
	}
	limit, ok := c.number()
	if !ok || !c.word("api calls") || !c.mark("/") && !c.word("per") {
		return nil
	}
	unit, ok := timeUnits[c.name()]
	if !ok {
		return nil
	}
	b := Bucket{ID: a.dialect.bucketPrefix() + ".calls_per_" + unit}
	return []Bucket{b.withCount(limit, limit)}
}
