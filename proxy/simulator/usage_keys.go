package simulator

import (
	"fmt"
	"time"
)

// openCodeUsage is GET /zen/go/v1/usage: what is used of a plan, in whole percent. A quota longer than a week is the
// month's.
func openCodeUsage(u usageTold) ([]byte, *problem) {
	type period struct {
		Status   string `json:"status"`
		Percent  int    `json:"percent"`
		ResetsAt string `json:"resetsAt,omitempty"`
	}
	tell := func(length time.Duration, own bool) period {
		used, end := u.period(length, own)
		p := period{Status: "ok", Percent: int(100 * used)}
		if p.Percent >= 100 {
			p.Status = "rate-limited"
		}
		if !end.IsZero() {
			p.ResetsAt = end.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		return p
	}
	long := u.quota.Window
	return encode(map[string]any{"usage": map[string]period{
		"rolling": tell(fiveHours, long <= fiveHours),
		"weekly":  tell(week, long > fiveHours && long <= week),
		"monthly": tell(30*24*time.Hour, long > week),
	}}), nil
}

// openRouterKey is GET /api/v1/key: what the key may spend, and how often that begins again. A key without a limit is told
// what it used.
func openRouterKey(u usageTold) ([]byte, *problem) {
	given, left := u.money()
	data := map[string]any{"label": "sk-or-v1-***", "usage": given - left, "is_free_tier": false, "limit": nil, "limit_remaining": nil, "limit_reset": nil}
	if !u.unlimited() {
		data["limit"], data["limit_remaining"] = given, left
	}
	switch length := u.quota.Window; {
	case length > week:
		data["limit_reset"] = "monthly"
	case length > 24*time.Hour:
		data["limit_reset"] = "weekly"
	case length > 0:
		data["limit_reset"] = "daily"
	}
	return encode(map[string]any{"data": data}), nil
}

// openRouterCredits is GET /api/v1/credits.
func openRouterCredits(u usageTold) ([]byte, *problem) {
	given, left := u.money()
	return encode(map[string]any{"data": map[string]int{"total_credits": given, "total_usage": given - left}}), nil
}

// deepSeekBalance is GET /user/balance: amounts are strings.
func deepSeekBalance(u usageTold) ([]byte, *problem) {
	_, left := u.money()
	amount := fmt.Sprintf("%d.00", left)
	return encode(map[string]any{
		"is_available":  left > 0,
		"balance_infos": []map[string]string{{"currency": "USD", "total_balance": amount, "granted_balance": "0.00", "topped_up_balance": amount}},
	}), nil
}
