package hub

import "time"

// QuotaSnapshot is what is known of the quota of one account.
type QuotaSnapshot struct {
	AccountID           string        `json:"account_id"` // the profile's id
	Provider            string        `json:"provider"`
	Buckets             []QuotaBucket `json:"buckets"`             // separate pools: nothing adds up
	FetchedAt           time.Time     `json:"fetched_at"`          // UTC: when it was measured, else when it was tried
	StaleAfterSeconds   int           `json:"stale_after_seconds"` // how long after FetchedAt it counts as fresh
	Source              QuotaSource   `json:"source"`
	UnavailableReason   Maybe[string] `json:"unavailable_reason"` // in Russian: why there is nothing, or nothing newer
	UnavailableReasonEN Maybe[string] `json:"unavailable_reason_en"`
	IsEstimated         bool          `json:"is_estimated"` // nobody outside the hub says so
}

// QuotaSource is where a QuotaSnapshot comes from.
type QuotaSource string

// The sources.
const (
	QuotaFromProvider QuotaSource = "provider_api"  // quota headers, or a usage endpoint, which may say that it tells nothing
	QuotaFromRefusal  QuotaSource = "runtime_event" // a refusal during a call
	QuotaBaseline     QuotaSource = "baseline"      // the windows that the provider is known to have, without values
	QuotaUnconfigured QuotaSource = "unconfigured"  // the account has no credential
	QuotaSimulated    QuotaSource = "simulated"     // an operator tries out what would happen
)

// QuotaBucket is one capacity pool. Values that nobody measured are null.
type QuotaBucket struct {
	ID                string           `json:"id"`
	DisplayName       string           `json:"display_name"`
	ModelFamily       Maybe[string]    `json:"model_family"`
	UsedPercent       Maybe[float64]   `json:"used_percent"`
	RemainingPercent  Maybe[float64]   `json:"remaining_percent"`
	UsedAbsolute      Maybe[int64]     `json:"used_absolute"`      // in the provider's own unit, whole units
	RemainingAbsolute Maybe[int64]     `json:"remaining_absolute"` // likewise, rounded down
	LimitAbsolute     Maybe[int64]     `json:"limit_absolute"`     // likewise
	ResetAt           Maybe[time.Time] `json:"reset_at"`           // UTC, as the provider told it
	ResetInSeconds    Maybe[int]       `json:"reset_in_seconds"`   // 0 = it has passed
	Period            Maybe[string]    `json:"period"`             // "5h", "7d", "30d", "sliding"
	Status            QuotaStatus      `json:"status"`
	LabelRU           string           `json:"label_ru"`
	LabelEN           string           `json:"label_en"`
	ResetLabelRU      Maybe[string]    `json:"reset_label_ru"`
	ResetLabelEN      Maybe[string]    `json:"reset_label_en"`
}

// QuotaStatus is how full a pool is.
type QuotaStatus string

// The statuses. Below LowPercent is a warning.
const (
	QuotaHealthy   QuotaStatus = "healthy"
	QuotaWarning   QuotaStatus = "warning"
	QuotaExhausted QuotaStatus = "exhausted"
	QuotaUnknown   QuotaStatus = "unknown"
)

// LowPercent is what has to remain of a pool for it to be healthy.
const LowPercent = 15
