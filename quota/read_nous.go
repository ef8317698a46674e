package quota

// nousRules are those of Nous Portal (hermes-agent#95840 and its rate limit tracker): twelve headers, those of an hour with
// the suffix -1h, resets in seconds; 404 on a model that the free tier does not have.
var nousRules = rules{
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{"free tier", "paid tier", "paid plan"}},
	},
}
