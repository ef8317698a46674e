package probe

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
)

// TestQ23FailureKeepsTheTruth (Q23): what was measured stays as it was, with the time of its measurement, whatever the next
// look comes to; the reason says why there is nothing newer, in the contract's words.
func TestQ23FailureKeepsTheTruth(t *testing.T) {
	const nothing = "Провайдер не вернул данные лимитов"
	for _, c := range []struct {
		name    string
		status  int
		body    string
		err     error
		outcome Outcome
		ru      string
	}{
		{"no connection", 0, "", errors.New("dial tcp 10.0.0.1:443: connection refused"), Failed, nothing},
		{"overloaded", 503, "upstream connect error", nil, Failed, nothing},
		{"page", 200, "<!DOCTYPE html><html><title>Sign in</title>", nil, Failed, nothing},
		{"empty", 200, "", nil, Failed, nothing},
		{"cut", 200, `{"usage":{"rolling":{"percent":4,"resetsAt":"2026-07-2`, nil, Failed, nothing},
		{"other JSON", 200, `{"hello":"world"}`, nil, Failed, nothing},
		{"redirect", 302, "", nil, Failed, nothing},
		{"throttled", 429, `{"error":"slow down"}`, nil, Failed, nothing},
		{"refused", 401, `{"type":"error","error":{"type":"AuthError","message":"Invalid API key."}}`, nil, Auth, "Авторизация истекла — обновите подключение"},
		{"edge", 403, "<html><title>Attention Required!</title>", nil, Forbidden, nothing},
		{"not booked", 403, `{"type":"error","error":{"type":"AuthError","message":"Subscription required"}}`, nil, Entitlement, "Для этого ключа не активна подписка OpenCode Go"},
		{"gone", 404, "Not Found", nil, NotExposed, "OpenCode Go не предоставляет остаток через публичный API"},
	} {
		synctest.Test(t, func(t *testing.T) {
			broken := false
			p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				switch {
				case !broken:
					return openCode(new(counter))(r)
				case c.err != nil:
					return nil, c.err
				}
				return answer(c.status, c.body, "Content-Type: "+http.DetectContentType([]byte(c.body))), nil
			}), key, nil, opencode("a"))
			first := refresh(t, p, "a", false)
			broken = true
			time.Sleep(time.Hour)
			r := refresh(t, p, "a", true)
			if r.Outcome != c.outcome || r.UnavailableRU != c.ru || r.UnavailableEN == "" || (r.Err == nil) != (c.outcome == NotExposed) {
				t.Errorf("%s: %s", c.name, tell(r))
			}
			if !r.At.Equal(first.At) || len(r.Readings) != 1 || len(r.Models) != 2 || !r.TriedAt.Equal(first.At.Add(time.Hour)) {
				t.Errorf("%s: the truth of %v is %s at %v, tried %v", c.name, first.At, tell(r), r.At, r.TriedAt)
			}
			broken = false
			time.Sleep(25 * time.Hour)
			if r := refresh(t, p, "a", true); r.Outcome != Measured || r.UnavailableRU+r.UnavailableEN != "" || r.Err != nil || !r.At.After(first.At) {
				t.Errorf("%s: after recovery %s", c.name, tell(r))
			}
		})
	}
}

// TestQ13NothingMeasured (Q13, Q26): before the first measurement there is no number and no time, and what was measured
// is the provider's word, not an estimate.
func TestQ13NothingMeasured(t *testing.T) {
	p := prober(t, answering(new(counter), 500, "x"), key, nil, opencode("a"))
	if r := refresh(t, p, "a", false); !r.At.IsZero() || r.Readings != nil || r.PlanSource != "" || r.UnavailableRU == "" {
		t.Errorf("nothing measured: %s", tell(r))
	}
	p = prober(t, openCode(new(counter)), key, nil, opencode("a"))
	for _, reading := range refresh(t, p, "a", false).Readings {
		if reading.Source != quota.SourceProviderAPI || reading.Class != quota.OK || reading.Scope != quota.ScopeAccount {
			t.Errorf("a reading of %+v", reading)
		}
	}
}

// TestUnconfiguredForgets: an account whose credential is gone may be another's tomorrow.
func TestUnconfiguredForgets(t *testing.T) {
	w := &wallet{now: map[string]string{"a": "good"}}
	p := prober(t, w.transport(new(counter)), w, nil, opencode("a"))
	refresh(t, p, "a", false)
	w.set("a", "")
	if r := refresh(t, p, "a", true); r.Outcome != Unconfigured || r.Readings != nil || !r.At.IsZero() || r.UnavailableRU != "Аккаунт не настроен" || r.Err != nil {
		t.Errorf("%s", tell(r))
	}
}

// TestProjectIsLearntOnce: the project that was found out is used by the looks that follow.
func TestProjectIsLearntOnce(t *testing.T) {
	asked := 0
	p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1internal:loadCodeAssist" {
			asked++
			return answer(200, `{"cloudaicompanionProject":"p1"}`), nil
		}
		return answer(500, "x"), nil
	}), oauth, nil, Target{Profile: "a", Provider: "antigravity"})
	for range 3 {
		if r := refresh(t, p, "a", true); r.Project != "p1" {
			t.Errorf("%s", tell(r))
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
