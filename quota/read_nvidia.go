package quota

// nvidiaRules are those of NVIDIA NIM. "Worker local total request limit reached (33/32)" and ResourceExhausted are slots of
// the server, not of the account (OmniRoute#8210). A model that it no longer serves is a function that the account does not
// have (free-claude-code#1021).
var nvidiaRules = rules{
	phrases: []phraseGroup{
		{class: ModelNotFound, phrases: []string{"not found for account"}},
		{class: Overloaded, phrases: []string{"worker local total request limit reached", "total request limit reached", "resourceexhausted"}},
	},
	scopes: map[Class]Scope{Overloaded: ScopeModel},
}
