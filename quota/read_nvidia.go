package quota

// nvidiaRules are those of NVIDIA NIM. "Worker local total request limit reached (33/32)" and ResourceExhausted are slots of
// the server, not of the account (OmniRoute#8210).
var nvidiaRules = rules{
	phrases: []phraseGroup{
		{class: Overloaded, phrases: []string{"worker local total request limit reached", "total request limit reached", "resourceexhausted"}},
	},
	scopes: map[Class]Scope{Overloaded: ScopeModel},
}
