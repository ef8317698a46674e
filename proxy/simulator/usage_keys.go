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
		ResetsAt string `json:"resetsAt"`
	}
	tell := func(length time.Duration, mine bool) period {
		p, end := period{Status: "ok"}, u.window.end
		if mine {
			p.Percent = int(100 * u.used())
		}
		if !mine || end.IsZero() {
			end = u.now.Add(length) // it begins with the next call
		}
		if p.Percent >= 100 {
			p.Status = "rate-limited"
		}
		p.ResetsAt = end.UTC().Format("2006-01-02T15:04:05.000Z")
		return p
	}
	long := u.quota.Window
	return encode(map[string]any{"usage": map[string]period{
		"rolling": tell(fiveHours, long <= fiveHours),
		"weekly":  tell(week, long > fiveHours && long <= week),
		"monthly": tell(30*24*time.Hour, long > week),
	}}), nil
}

// openRouterKey is GET /api/v1/key: a call costs a dollar.
func openRouterKey(u usageTold) ([]byte, *problem) {
	data := map[string]any{"label": "sk-or-v1-***", "usage": u.window.used, "is_free_tier": false, "limit": nil, "limit_remaining": nil, "limit_reset": nil}
	if u.quota.Calls > 0 || u.window.spent {
		data["limit"], data["limit_remaining"] = u.quota.limit(u.window), u.quota.left(u.window)
	}
	if u.quota.Window > 0 {
		data["limit_reset"] = "monthly"
	}
	return encode(map[string]any{"data": data}), nil
}

// openRouterCredits is GET /api/v1/credits.
func openRouterCredits(u usageTold) ([]byte, *problem) {
	return encode(map[string]any{"data": map[string]int{"total_credits": u.quota.limit(u.window), "total_usage": u.window.used}}), nil
}

// deepSeekBalance is GET /user/balance: amounts are strings. A call costs a dollar.
func deepSeekBalance(u usageTold) ([]byte, *problem) {
	balance := 100
	if u.quota.Calls > 0 || u.window.spent {
		balance = u.quota.left(u.window)
	}
	amount := fmt.Sprintf("%d.00", balance)
	return encode(map[string]any{
		"is_available":  balance > 0,
		"balance_infos": []map[string]string{{"currency": "USD", "total_balance": amount, "granted_balance": "0.00", "topped_up_balance": amount}},
	}), nil
}
