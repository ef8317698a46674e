package hub

import "time"

// ProfileViewModel is one account.
type ProfileViewModel struct {
	ProfileID            string                        `json:"profile_id"`
	DisplayName          string                        `json:"display_name"`     // the configured name, else the slot's
	AccountIdentity      string                        `json:"account_identity"` // e-mail, else name, else account id, else profile id; not masked
	Provider             string                        `json:"provider"`
	ProviderDisplayName  string                        `json:"provider_display_name"`
	AssignedRoles        []string                      `json:"assigned_roles"` // "reviewer (primary)", "research (fallback 2)"
	PrimaryRole          Maybe[string]                 `json:"primary_role"`
	IsMainAccount        bool                          `json:"is_main_account"`
	IsMainOrchestrator   bool                          `json:"is_main_orchestrator"`
	AuthState            AuthState                     `json:"auth_state"`
	HealthState          HealthState                   `json:"health_state"`
	HealthLabelRU        string                        `json:"health_label_ru"`
	HealthLabelEN        string                        `json:"health_label_en"`
	ModelStates          map[string]*ModelFamilyHealth `json:"model_states"` // by family, of the models that the profile names
	CooldownRemainingSec int                           `json:"cooldown_remaining_sec"`
	LastCheckedAt        Maybe[string]                 `json:"last_checked_at"` // HH:MM:SS of the hub's own clock
	Enabled              bool                          `json:"enabled"`
	IsColdSpare          bool                          `json:"is_cold_spare"`
	IsEmptySlot          bool                          `json:"is_empty_slot"` // there is no credential
	Email                string                        `json:"email"`         // "" = unknown
	Plan                 string                        `json:"plan"`          // "Тариф: MAX"
	PlanEN               string                        `json:"plan_en"`
	PlanCode             string                        `json:"plan_code"`
	PlanSource           string                        `json:"plan_source"`
	QuotaSnapshot        *QuotaSnapshot                `json:"quota_snapshot"`
	PreferredModels      []string                      `json:"preferred_models"`
	ActiveLeases         int                           `json:"active_leases"`
}

// AuthState is how an account stands with its provider.
type AuthState string

// The states of the UI state contract.
const (
	Authenticated AuthState = "AUTHENTICATED"
	AuthRequired  AuthState = "AUTH_REQUIRED"
	AuthExpired   AuthState = "AUTH_EXPIRED"
	NotConfigured AuthState = "NOT_CONFIGURED"
)

// HealthState is the condition of an account, of one of its model families, or of a step of a pipeline.
type HealthState string

// The states. Of an account the first that applies is shown: disabled, cold spare, not configured, a refused credential,
// quota, rate limit, cool-down, any other trouble, healthy.
const (
	HealthDisabled      HealthState = "disabled"
	HealthColdSpare     HealthState = "cold_spare"
	HealthNotConfigured HealthState = "not_configured"
	HealthQuota         HealthState = "quota_exhausted"
	HealthRateLimited   HealthState = "rate_limited"
	HealthCooldown      HealthState = "cooldown"
	HealthUnhealthy     HealthState = "unhealthy"
	HealthHealthy       HealthState = "healthy"

	// HealthAuthRequired is shown of families and steps; an account whose credential is refused is unhealthy.
	HealthAuthRequired HealthState = "auth_required"
)

// ModelFamilyHealth is the condition of the models of one family on one account: that of the one which is back first.
type ModelFamilyHealth struct {
	Family       string           `json:"family"`
	State        HealthState      `json:"state"`
	LabelRU      string           `json:"label_ru"`
	LabelEN      string           `json:"label_en"`
	RemainingSec int              `json:"remaining_sec"`
	ResetAt      Maybe[time.Time] `json:"reset_at"` // unknown where no end is known
	Reason       Maybe[string]    `json:"reason"`   // short and machine-made, as explain shows it
}
