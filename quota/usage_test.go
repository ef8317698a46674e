package quota

import "testing"

// TestQ17OpenCodeUsage (Q17): the three windows in every spelling that was seen, with what is used and left in dollars where
// the answer says so; what it does not say is not filled in from a price list.
func TestQ17OpenCodeUsage(t *testing.T) {
	const (
		dollars = "ok account\n  opencode.5h 9/12 75% @T15:00:00\n  opencode.7d 21/30 70%\n  opencode.30d 30/60 50%"
		percent = "ok account\n  opencode.5h ?/? 75% @T15:00:00\n  opencode.7d ?/? 70%\n  opencode.30d ?/? 50%"
	)
	for body, want := range map[string]string{
		`{"five_hour":{"used":3,"remaining":9,"remaining_percent":75,"reset_at":"2026-07-25T15:00:00Z"},"weekly":{"used":9,"remaining":21},"monthly":{"used":30,"remaining":30}}`:                                        dollars,
		`{"fiveHour":{"used_amount":3,"remaining_amount":9,"resetTime":"2026-07-25T15:00:00Z"},"seven_day":{"used_amount":"9","remaining_amount":"21"},"thirty_day":{"used_amount":30,"remaining_amount":30}}`:           dollars,
		`{"sliding":{"remainingPercentage":75,"resetAt":1784991600},"sevenDay":{"remainingPercent":70},"thirtyDay":{"remaining_percent":50}}`:                                                                            percent,
		`{"usage":{"rolling":{"status":"ok","percent":25,"resetsAt":"2026-07-25T15:00:00Z"},"weekly":{"status":"ok","percent":30,"resetsAt":null},"monthly":{"status":"rate-limited","percent":50,"resetsAt":"never"}}}`: percent,
	} {
		trap(t, "opencode-go", 200, nil, body, want)
	}
}
