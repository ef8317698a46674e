package simulator

import (
	"math"
	"time"
)

// codexWindow is a window as ChatGPT tells it: GET /backend-api/wham/usage (openai/codex, codex-rs/backend-client).
type codexWindow struct {
	Used       int   `json:"used_percent"`
	Length     int   `json:"limit_window_seconds"`
	ResetAfter int   `json:"reset_after_seconds,omitempty"`
	ResetAt    int64 `json:"reset_at,omitempty"`
}

type codexLimit struct {
	Allowed   bool        `json:"allowed"`
	Reached   bool        `json:"limit_reached"`
	Primary   codexWindow `json:"primary_window"`
	Secondary codexWindow `json:"secondary_window"`
}

func codexUsage(u usageTold) ([]byte, *problem) {
	tell := func(length time.Duration) codexWindow {
		used, end := u.in(length)
		w := codexWindow{Used: int(math.Floor(100 * used)), Length: seconds(length)}
		if !end.IsZero() {
			w.ResetAfter, w.ResetAt = seconds(end.Sub(u.now)), epoch(end)
		}
		return w
	}
	session, weekly := tell(fiveHours), tell(week)
	reached := session.Used >= 100 || weekly.Used >= 100
	return encode(struct {
		Plan       string         `json:"plan_type"`
		Limit      codexLimit     `json:"rate_limit"`
		Additional []struct{}     `json:"additional_rate_limits"`
		Credits    map[string]any `json:"credits"`
	}{
		Plan:       "plus",
		Limit:      codexLimit{!reached, reached, session, weekly},
		Additional: []struct{}{},
		Credits:    map[string]any{"has_credits": false, "unlimited": false, "balance": "0"},
	}), nil
}
