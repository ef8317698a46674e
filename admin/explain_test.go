package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes-hub/router"
)

// P28, the admin side: the matrix of candidates comes through whole, in the contract's names, unknown as null.
func TestExplain(t *testing.T) {
	chosen, model, reason, detail := "claude-2", "claude-opus-4-5", "quota_exhausted", "429 usage_limit_reached"
	until := testNow.Add(time.Hour).UTC()
	p := newPlane(t, func(o *Options) {
		o.Explainer = explainerFunc(func(q ExplainQuery) (router.Explanation, error) {
			return router.Explanation{
				Role: q.Role, RoleSource: router.RoleExplicit, SnapshotSeq: 7, At: q.At.UTC(), Chosen: &chosen,
				Candidates: []router.Candidate{
					{
						ProfileID: "codex-1", Position: 0, Verdict: router.VerdictSkipped, Reason: &reason, Until: &until,
						Evidence: &router.Evidence{Source: "runtime_event", At: testNow.UTC(), Detail: &detail},
					},
					{ProfileID: chosen, Model: &model, Position: 1, Verdict: router.VerdictSelected},
				},
			}, nil
		})
	})
	got := answer(p.do("POST", "/admin/v1/explain", `{"role":"coder"}`, "Authorization: Bearer "+mint(t, ScopeViewer)))
	want := `200 {"role":"coder","role_source":"explicit","snapshot_seq":7,"at":"2027-01-15T08:00:00Z","request_id":null,"chosen":"claude-2","candidates":[` +
		`{"profile_id":"codex-1","model":null,"position":0,"verdict":"skipped","reason":"quota_exhausted","until":"2027-01-15T09:00:00Z","evidence":{"source":"runtime_event","at":"2027-01-15T08:00:00Z","detail":"429 usage_limit_reached"}},` +
		`{"profile_id":"claude-2","model":"claude-opus-4-5","position":1,"verdict":"selected","reason":null,"until":null,"evidence":null}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExplainQuery(t *testing.T) {
	var asked []ExplainQuery
	var failure error
	p := newPlane(t, func(o *Options) {
		o.Explainer = explainerFunc(func(q ExplainQuery) (router.Explanation, error) {
			asked = append(asked, q)
			return router.Explanation{}, failure
		})
	})
	authorization := "Authorization: Bearer " + mint(t, ScopeViewer)
	f := func(body, want string, headers ...string) {
		t.Helper()
		asked = nil
		got := answer(p.do("POST", "/admin/v1/explain", body, append(headers, authorization)...))
		if len(asked) > 0 && got[:3] == "200" {
			q := asked[0]
			got = fmt.Sprintf("%s|%s|%s|%s|%s", q.Role, q.Model, q.Session, q.At.UTC().Format(time.RFC3339), q.RequestID)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%.60s: got %s, want %s", body, got, want)
		}
	}
	f(`{"role":"coder"}`, "coder|||2027-01-15T08:00:00Z|")
	f(`{"role":"coder","model":"m","session":"s","at":"2026-05-01T12:00:00+02:00"}`, "coder|m|s|2026-05-01T10:00:00Z|")
	f(`{"role":"coder","model":null,"at":null,"request_id":null}`, "coder|||2027-01-15T08:00:00Z|")
	f(`{"role":"","request_id":"req_1"}`, "|||0001-01-01T00:00:00Z|req_1")
	f(`{"role":"coder"}`, "coder|", "Content-Type: application/json; charset=utf-8")
	f(`{}`, "400 invalid-request: role is missing")
	f(`{"role":"coder","profil":"x"}`, `400 invalid-request: the body is no such JSON: unknown field "profil"`)
	f(`{"role":7}`, "400 invalid-request: the body is no such JSON: cannot unmarshal number")
	f(`{"role":"coder"} {}`, "400 invalid-request: the body is no such JSON: something follows the value")
	f(`{"role":"coder"`, "400 invalid-request: the body is no such JSON: unexpected EOF")
	f(``, "400 invalid-request: the body is no such JSON: EOF")
	f(`["coder"]`, "400 invalid-request: ")
	f(`{"role":"coder","at":"tomorrow"}`, `400 invalid-request: at is "tomorrow", which is no RFC 3339 time`)
	f(`{"role":"coder","at":1700000000}`, "400 invalid-request: ")
	f(`role=coder`, "415 not-json: ", "Content-Type: application/x-www-form-urlencoded")
	f(`{"role":"`+strings.Repeat("x", maxBody)+`"}`, "413 too-large: The body has more than 1048576 bytes.")
	failure = fmt.Errorf("explain: %w", &router.UnknownRoleError{Carrier: "role", Name: "ghost"})
	f(`{"role":"ghost"}`, `404 unknown-role: There is no role "ghost".`)
	failure = fmt.Errorf("explain: %w", ErrUnknownRequest)
	f(`{"role":"coder","request_id":"req_9"}`, `404 unknown-request: No request "req_9" is remembered.`)
	failure = errors.New("disk full")
	f(`{"role":"coder"}`, "500 internal: The hub failed")
	if !strings.Contains(p.log.String(), "disk full") {
		t.Errorf("the log does not say why: %s", p.log)
	}
}

// A list that is empty is a list.
func TestExplainWithoutCandidates(t *testing.T) {
	w := newPlane(t, nil).do("POST", "/admin/v1/explain", `{"role":"coder"}`, "Authorization: Bearer "+mint(t, ScopeAdmin))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"candidates":[]`) {
		t.Errorf("got %s", answer(w))
	}
}

// F06: neither a failure's text nor a secret that a client sent comes back or goes to the log.
func TestNoSecretComesBack(t *testing.T) {
	const canary = "CANARYcanary0123456789"
	p := newPlane(t, func(o *Options) { o.Config.Listen, o.Config.MetricsToken = "0.0.0.0:7401", router.NewSecret(canary) })
	headers := []string{"Authorization: Bearer " + canary + "x", "X-Api-Key: " + canary, "Cookie: " + canary}
	for _, route := range p.engine.Routes() {
		w := p.do(route.Method, route.Path+"?token="+canary, canary, headers...)
		if out := w.Body.String() + fmt.Sprint(w.Header()) + p.log.String(); strings.Contains(out, canary) || strings.Contains(out, testSecret) {
			t.Errorf("%s %s: the secret comes out:\n%s", route.Method, route.Path, out)
		}
	}
}
