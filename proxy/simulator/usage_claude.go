package simulator

import (
	"net/http"
	"time"
)

// claudeWindow is a window as GET /api/oauth/usage tells it: in percent, where headers tell a fraction. One that nobody used
// has no end.
type claudeWindow struct {
	Utilization float64 `json:"utilization"`
	ResetsAt    *string `json:"resets_at"`
}

// claudeUsage takes an OAuth token alone.
func claudeUsage(u usageTold) ([]byte, *problem) {
	if u.header.Get("X-Api-Key") != "" || !hasBeta(u.header, betaOAuth) {
		return nil, &problem{status: http.StatusUnauthorized, kind: "authentication_error", message: "OAuth authentication is currently not supported."}
	}
	tell := func(length time.Duration) claudeWindow {
		used, end := u.in(length)
		w := claudeWindow{Utilization: 100 * used}
		if used > 0 && !end.IsZero() {
			text := ceil(end).UTC().Format("2006-01-02T15:04:05.000000-07:00")
			w.ResetsAt = &text
		}
		return w
	}
	return encode(struct {
		FiveHour claudeWindow   `json:"five_hour"`
		SevenDay claudeWindow   `json:"seven_day"`
		Opus     *claudeWindow  `json:"seven_day_opus"`
		Sonnet   *claudeWindow  `json:"seven_day_sonnet"`
		Extra    map[string]any `json:"extra_usage"`
	}{
		FiveHour: tell(fiveHours), SevenDay: tell(week),
		Extra: map[string]any{"is_enabled": false, "monthly_limit": nil, "used_credits": nil, "utilization": nil},
	}), nil
}
