package quota

// senseNovaRules are SenseNova's: the words of Alibaba's platform, "Allocated quota exceeded / inference tpm exhausted" under
// insufficient_quota for tokens per minute.
var senseNovaRules = rules{
	codes:   dashScopeCodes,
	phrases: dashScopePhrases,
	scopes:  map[Class]Scope{RateLimited: ScopeModel},
}
