package hub

import (
	"time"

	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// HubSnapshot is everything that an operator or a user interface may know of the hub at one moment. Its JSON is the UI
// state contract's, with a twin in English beside each text. Countdowns (…_sec, …_in_seconds, reset labels) count from
// Timestamp.
type HubSnapshot struct {
	Generation         uint64                         `json:"generation"`           // of this picture; 0 = the bootstrap, of which nothing is known yet
	Seq                uint64                         `json:"seq"`                  // of this publication, Generation at least
	Timestamp          float64                        `json:"timestamp"`            // when it was built, in seconds since 1970
	ProfilesByProvider map[string][]*ProfileViewModel `json:"profiles_by_provider"` // each list by profile id
	AllProfiles        map[string]*ProfileViewModel   `json:"all_profiles"`         // by profile id
	Readiness          SystemReadiness                `json:"readiness"`
	Agents             []AgentViewModel               `json:"agents"`    // in the order of the configuration
	Providers          []ProviderSummary              `json:"providers"` // connected ones first, then by slots, then by name
	Routing            map[string]*RolePipeline       `json:"routing"`   // by role id
	Quotas             map[string]*QuotaSnapshot      `json:"quotas"`    // by profile id
	Metrics            Metrics                        `json:"metrics"`
	IsStale            bool                           `json:"is_stale"` // the bootstrap, or no refresh for more than StaleAfter
	StoreEpoch         string                         `json:"store_epoch"`
}

// Metrics are what the hub counts and measures of itself. Build counts accounts and calls; the rest is the store's.
type Metrics struct {
	Generation               uint64               `json:"generation"`
	Seq                      uint64               `json:"seq"`
	DurationMS               float64              `json:"duration_ms"` // of the build
	TotalProfiles            int                  `json:"total_profiles"`
	AuthenticatedProfiles    int                  `json:"authenticated_profiles"`
	RefreshRunsTotal         uint64               `json:"refresh_runs_total"`
	RefreshDeduplicatedTotal uint64               `json:"refresh_deduplicated_total"`
	RefreshSkippedTotal      uint64               `json:"refresh_skipped_total"` // late ones, dropped
	Telemetry                *telemetry.Breakdown `json:"telemetry"`             // null = nobody counts
	Host                     *host.Metrics        `json:"host"`                  // null = nobody measures
	ActiveCallsTotal         int                  `json:"active_calls_total"`
	ActiveCallsByProfile     map[string]int       `json:"active_calls_by_profile"`
}

// SystemReadiness is the hub's condition in one card.
type SystemReadiness struct {
	State                  ReadinessState `json:"state"`
	TitleRU                string         `json:"title_ru"`
	TitleEN                string         `json:"title_en"`
	SummaryRU              string         `json:"summary_ru"`
	SummaryEN              string         `json:"summary_en"`
	RolesReadyCount        int            `json:"roles_ready_count"` // served by whomever
	TotalRoles             int            `json:"total_roles"`
	AccountsConnectedCount int            `json:"accounts_connected_count"`
	TotalAccounts          int            `json:"total_accounts"` // without empty slots
	ProvidersReadyCount    int            `json:"providers_ready_count"`
	TotalProviders         int            `json:"total_providers"`
	Warnings               []string       `json:"warnings"`    // in Russian
	WarningsEN             []string       `json:"warnings_en"` // the same, in the same order
}

// ReadinessState is the worst thing that is true of the hub.
type ReadinessState string

// The states of readiness, the worst first.
const (
	ReadinessCritical ReadinessState = "critical" // a role has nobody
	ReadinessDegraded ReadinessState = "degraded" // a role is not served by its primary
	ReadinessLimited  ReadinessState = "limited"  // an account is not connected
	ReadinessHealthy  ReadinessState = "healthy"
)

// ProviderSummary counts the accounts of one provider.
type ProviderSummary struct {
	ProviderID          string           `json:"provider_id"`
	ProviderName        string           `json:"provider_name"`
	TotalSlots          int              `json:"total_slots"`
	ConnectedCount      int              `json:"connected_count"`
	OnlineCount         int              `json:"online_count"` // healthy now
	AuthRequiredCount   int              `json:"auth_required_count"`
	QuotaExhaustedCount int              `json:"quota_exhausted_count"` // rate limits included
	ColdSpareCount      int              `json:"cold_spare_count"`
	DiscoveredModels    []string         `json:"discovered_models"` // sorted
	LastRefreshAt       Maybe[time.Time] `json:"last_refresh_at"`   // when the last look at one of its accounts ended
}
