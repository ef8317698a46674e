package hub

// AgentViewModel is one role and who serves it now: the first usable step of its pipeline, else its first step.
type AgentViewModel struct {
	RoleID               string        `json:"role_id"`
	RoleNameRU           string        `json:"role_name_ru"`
	RoleNameEN           string        `json:"role_name_en"`
	RoleDescriptionRU    string        `json:"role_description_ru"`
	RoleDescriptionEN    string        `json:"role_description_en"`
	AssignedProfileID    Maybe[string] `json:"assigned_profile_id"`
	AssignedDisplayName  Maybe[string] `json:"assigned_display_name"`
	Provider             string        `json:"provider"` // id; "" = nobody is assigned
	ProviderDisplayName  string        `json:"provider_display_name"`
	Model                string        `json:"model"`
	AccountIdentity      string        `json:"account_identity"` // masked
	RoutingPosition      string        `json:"routing_position"` // "Primary", "Fallback 1", …
	Status               HealthState   `json:"status"`
	StatusLabelRU        string        `json:"status_label_ru"`
	StatusLabelEN        string        `json:"status_label_en"`
	IsActive             bool          `json:"is_active"`
	IsMainOrchestrator   bool          `json:"is_main_orchestrator"`
	CooldownRemainingSec int           `json:"cooldown_remaining_sec"`
	SessionID            Maybe[string] `json:"session_id"` // the session that is bound to the role's account
	ActiveQuotaStatus    QuotaStatus   `json:"active_quota_status"`
	ActiveQuotaLabel     string        `json:"active_quota_label"` // in Russian
	ActiveQuotaLabelEN   string        `json:"active_quota_label_en"`
}

// RolePipeline is the route of a role: the steps in the order in which they are tried.
type RolePipeline struct {
	RoleID          string         `json:"role_id"`
	RoleNameRU      string         `json:"role_name_ru"`
	RoleNameEN      string         `json:"role_name_en"`
	DefaultModel    string         `json:"default_model"` // "auto" = none is configured
	MaxFailover     int            `json:"max_failover"`  // attempts of one request, the first included
	SessionAffinity bool           `json:"session_affinity"`
	ActiveProfileID string         `json:"active_profile_id"` // "" = nobody can serve
	Nodes           []PipelineNode `json:"nodes"`
}

// PipelineNode is one step of a route.
type PipelineNode struct {
	ProfileID            string        `json:"profile_id"`
	DisplayName          string        `json:"display_name"`
	Provider             string        `json:"provider"` // its name
	Model                string        `json:"model"`
	AccountIdentity      string        `json:"account_identity"` // masked
	Status               HealthState   `json:"status"`
	StatusLabelRU        string        `json:"status_label_ru"`
	StatusLabelEN        string        `json:"status_label_en"`
	QuotaStatus          QuotaStatus   `json:"quota_status"`
	IsActive             bool          `json:"is_active"`
	CooldownRemainingSec int           `json:"cooldown_remaining_sec"`
	FailoverReason       Maybe[string] `json:"failover_reason"` // in Russian: what made traffic leave this step for a later one
	FailoverReasonEN     Maybe[string] `json:"failover_reason_en"`
}
