package simulator_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// told is what an answer says about the quota: its headers, then its body when it is a refusal.
func told(resp *http.Response, body []byte) string {
	var fields []string
	for name, values := range resp.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-ratelimit-") || strings.HasPrefix(name, "x-codex-") || strings.HasPrefix(name, "retry-after") {
			fields = append(fields, name+"="+values[0])
		}
	}
	slices.Sort(fields)
	if resp.StatusCode != 200 {
		fields = append(fields, string(body))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, strings.Join(fields, " ")))
}

// TestQuota proves that a quota runs out, that the refusal tells the true instant in its style, and that it is full again
// at that instant and not before. Time is the bubble's: it begins at 2000-01-01T00:00:00Z (epoch 946684800).
func TestQuota(t *testing.T) {
	f := func(name string, quota simulator.Quota, script string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := accountA
				a.Quota = quota
				c := client{simulator.New(a), nil, "http://simulator/v1"}
				c.http = c.Provider
				for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
					word, want, _ := strings.Cut(strings.TrimSpace(line), " ")
					switch word {
					case "call":
						resp, body, err := c.ask(t, plainBody)
						if err != nil {
							t.Fatal(err)
						}
						if got := told(resp, body); got != want {
							t.Errorf("at %v the answer told\n     %s\nwant %s", time.Now().UTC(), got, want)
						}
					case "wait":
						d, err := time.ParseDuration(want)
						if err != nil {
							t.Fatal(err)
						}
						time.Sleep(d) // virtual
					case "spend":
						c.SpendQuota("a")
					case "restore":
						c.RestoreQuota("a")
					case "push":
						c.Push("a", simulator.StepName(want))
					}
				}
			})
		})
	}

	f("rate", simulator.Quota{Calls: 2, Window: time.Minute}, `
		call 200 x-ratelimit-limit-requests=2 x-ratelimit-remaining-requests=1 x-ratelimit-reset-requests=1m0s
		wait 39s600ms
		call 200 x-ratelimit-limit-requests=2 x-ratelimit-remaining-requests=0 x-ratelimit-reset-requests=20.4s
		call 429 retry-after-ms=20400 retry-after=21 x-ratelimit-limit-requests=2 x-ratelimit-remaining-requests=0 x-ratelimit-reset-requests=20.4s {"error":{"message":"Rate limit reached for gpt-5.5 in organization org-simulated on requests per min (RPM): Limit 2, Used 2, Requested 1. Please try again in 20.4s. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"requests","param":null,"code":"rate_limit_exceeded"}}
		wait 20399ms
		call 429 retry-after-ms=1 retry-after=1 x-ratelimit-limit-requests=2 x-ratelimit-remaining-requests=0 x-ratelimit-reset-requests=1ms {"error":{"message":"Rate limit reached for gpt-5.5 in organization org-simulated on requests per min (RPM): Limit 2, Used 2, Requested 1. Please try again in 1ms. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"requests","param":null,"code":"rate_limit_exceeded"}}
		wait 1ms
		call 200 x-ratelimit-limit-requests=2 x-ratelimit-remaining-requests=1 x-ratelimit-reset-requests=1m0s`)
	f("prose", simulator.Quota{Calls: 1, Window: 2 * time.Hour, Style: simulator.QuotaProse}, `
		call 200
		call 429 {"error":{"message":"Rate limit reached for gpt-5.5 in organization org-simulated on requests per day (RPD): Limit 1, Used 1, Requested 1. Please try again in 2h0m0s. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"requests","param":null,"code":"rate_limit_exceeded"}}
		wait 2h
		call 200`)
	f("codex", simulator.Quota{Calls: 4, Window: 5 * time.Hour, Style: simulator.QuotaCodex}, `
		wait 500ms
		call 200 x-codex-active-limit=codex x-codex-plan-type=plus x-codex-primary-reset-after-seconds=18000 x-codex-primary-reset-at=946702801 x-codex-primary-used-percent=25 x-codex-primary-window-minutes=300
		spend
		call 429 x-codex-active-limit=codex x-codex-plan-type=plus x-codex-primary-reset-after-seconds=18000 x-codex-primary-reset-at=946702801 x-codex-primary-used-percent=100 x-codex-primary-window-minutes=300 {"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","param":null,"code":null,"plan_type":"plus","resets_at":946702801,"resets_in_seconds":18000}}
		wait 5h
		call 200 x-codex-active-limit=codex x-codex-plan-type=plus x-codex-primary-reset-after-seconds=18000 x-codex-primary-reset-at=946720801 x-codex-primary-used-percent=25 x-codex-primary-window-minutes=300`)
	f("codex body", simulator.Quota{Calls: 1, ResetAt: time.Date(2000, 1, 8, 0, 0, 0, 0, time.UTC), Style: simulator.QuotaCodexBody}, `
		call 200
		call 429 {"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","param":null,"code":null,"plan_type":"plus","resets_at":947289600,"resets_in_seconds":604800}}
		wait 168h
		call 200
		call 429 {"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","param":null,"code":null,"plan_type":"plus"}}`)
	f("billing", simulator.Quota{Calls: 1, Window: time.Minute, Style: simulator.QuotaBilling}, `
		call 200
		call 429 {"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`)
	f("no quota", simulator.Quota{}, `
		call 200
		spend
		call 429 {"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}
		wait 8760h
		call 429 {"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}
		restore
		call 200`)
	f("steps take nothing", simulator.Quota{Calls: 1, Window: time.Minute, Style: simulator.QuotaProse}, `
		push usage-missing
		call 200
		call 200
		push usage-missing
		call 200`)
	f("the wait of a step", simulator.Quota{}, `
		push 429-usage-limit 1h
		call 429 x-codex-active-limit=codex x-codex-plan-type=plus x-codex-primary-reset-after-seconds=3600 x-codex-primary-reset-at=946688400 x-codex-primary-used-percent=100 x-codex-primary-window-minutes=60 {"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","param":null,"code":null,"plan_type":"plus","resets_at":946688400,"resets_in_seconds":3600}}
		push 429-http-date 30s
		call 429 retry-after=Sat, 01 Jan 2000 00:00:30 GMT {"error":{"message":"Rate limit exceeded","type":"requests","param":null,"code":"rate_limit_exceeded"}}
		call 200`)
}
