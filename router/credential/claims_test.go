package credential

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// identityFrom is who an account is whose Codex file has these two tokens.
func identityFrom(t *testing.T, id, access string) Identity {
	t.Helper()
	r, p := parseFile("FILE", fmt.Appendf(nil, `{"tokens":{"id_token":%q,"access_token":%q}}`, id, access), "openai-codex", false)
	if p != nil {
		t.Fatal(p)
	}
	return identityOf(r.tokens)
}

// TestV08PlanOfClaim (V08, V09): the plan is the claim's, with its source; without the claim it is unknown, and no sign-in
// of the provider is claimed to have said so.
func TestV08PlanOfClaim(t *testing.T) {
	f := func(want string, id, access map[string]any) {
		t.Helper()
		i := identityFrom(t, webToken(id), webToken(access))
		got := fmt.Sprintf("%s %s %s|%s|%s|%s", i.Plan, i.PlanCode, i.PlanSource, i.Email, i.UserID, i.AccountID)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	auth := func(account, plan any) map[string]any {
		return map[string]any{openAIAuth: map[string]any{"chatgpt_account_id": account, "chatgpt_plan_type": plan}}
	}
	some := map[string]any{"iat": 1}
	f("plus PLUS jwt_claim|||acc", auth("acc", "plus"), some)
	f("pro PRO jwt_claim|||acc2", some, auth("acc2", "pro"))
	f("plus PLUS jwt_claim|||acc", auth("acc", "plus"), auth("acc2", "pro"))
	f(" UNKNOWN unknown|||acc", auth("acc", ""), some)
	f(" UNKNOWN unknown|||acc", auth("acc", "unknown"), some)
	f(" UNKNOWN unknown|||", auth(7, map[string]any{"a": 1}), map[string]any{openAIAuth: "text"})
	f(" UNKNOWN unknown|a@b.c|s|", map[string]any{"email": "a@b.c", "sub": "s", "user_id": "u", "id": "i"}, map[string]any{"email": "x@y.z"})
	f(" UNKNOWN unknown|p@b.c|u|", map[string]any{openAIProfile: map[string]any{"email": "p@b.c"}, "user_id": "u", "id": "i"}, map[string]any{"email": "x@y.z", "sub": "s"})
	f(" UNKNOWN unknown|i@b.c|i|", map[string]any{"userinfo": map[string]any{"email": "i@b.c"}, "id": "i"}, some)
	f(" UNKNOWN unknown|x@y.z|s|", map[string]any{"email": ""}, map[string]any{"email": "x@y.z", "sub": "s"})
	f(" UNKNOWN unknown|||", map[string]any{"email": strings.Repeat("a", 321), "sub": "line\nbreak"}, map[string]any{"email": []any{"a@b.c"}, "sub": 1})
}

func TestPlanOfFile(t *testing.T) {
	b := newBench(t, Source{Provider: "claude"}, claudeTokens("a", "r", time.Hour))
	i := b.Identity("one")
	want := Identity{Plan: "max", PlanCode: "MAX", PlanSource: PlanFromProvider, State: Authenticated, ExpiresAt: start.Add(time.Hour)}
	if diff := cmp.Diff(want, i); diff != "" {
		t.Error(diff)
	}
	if i := New(Options{}).Identity("nobody"); i.PlanSource != PlanUnknown || i.PlanCode != PlanCodeUnknown {
		t.Errorf("%+v", i)
	}
	for plan, code := range map[string]string{"Grok Pro": "GROK", "plus": "PLUS", "self_serve": "SELF_SERVE", "": "UNKNOWN", " ": "UNKNOWN"} {
		if got := planCode(presentable(plan)); got != code {
			t.Errorf("%q is %s, want %s", plan, got, code)
		}
	}
}

func TestIdentityKey(t *testing.T) {
	if a, b := (Identity{AccountID: "a", UserID: "u"}).Key(), (Identity{UserID: "u"}).Key(); a != "a" || b != "u" || (Identity{}).Key() != "" {
		t.Errorf("keys %q %q", a, b)
	}
}

func TestIdentityChanges(t *testing.T) {
	b := newBench(t, Source{Provider: "openai-codex"}, codexTokens("first", "r", time.Hour))
	b.put(strings.Replace(codexTokens("first", "r2", time.Hour), `"account_id": "acc-1"`, `"account_id": "acc-2"`, 1))
	b.look()
	if got := b.events(); got != "identity_changed" || b.Identity("one").AccountID != "acc-2" {
		t.Errorf("events %q, identity %+v", got, b.Identity("one"))
	}
}

func TestAbsurdTokens(t *testing.T) {
	part := base64.RawURLEncoding.EncodeToString
	none := part([]byte(`{"alg":"none"}`))
	f := func(token string, understood bool) {
		t.Helper()
		if got := claimsOf(secret(token)); (got != nil) != understood {
			t.Errorf("%.60s: claims %v", token, got)
		}
	}
	body := part([]byte(`{"email":"a@b.c"}`))
	f(none+"."+body+".", true)
	f(part([]byte(`{}`))+"."+body+".x", true)
	f(part([]byte(`{"alg":"made up"}`))+"."+body+".x", true)
	f(none+"."+body, false)
	f(none+"."+body+".x.y", false)
	f("..", false)
	f("...", false)
	f("a.b.c", false)
	f(none+"."+part([]byte(`null`))+".x", false)
	f(none+"."+part([]byte(`[1]`))+".x", false)
	f(none+"."+part([]byte(strings.Repeat(`{"a":`, 9000)))+".x", false)
	f(none+"."+part([]byte(`{"a":"`+strings.Repeat("x", longestToken)+`"}`))+".x", false)
	for _, seconds := range []float64{0, -1, 1e300, math.Inf(1), math.NaN(), lastInstant + 1} {
		if !epoch(seconds).IsZero() {
			t.Errorf("%v is an instant", seconds)
		}
	}
}

func FuzzClaims(f *testing.F) {
	f.Add(webToken(map[string]any{"email": "a@b.c", "exp": 1e18, "aud": []string{"x"}}))
	f.Add("..")
	f.Add(webToken(map[string]any{openAIAuth: []any{1}, "aud": 7, "exp": "soon"}))
	f.Fuzz(func(t *testing.T, token string) {
		c := claimsOf(secret(token))
		for _, s := range []string{c.email(), c.user(), c.account(), c.plan(), c.client(true), c.client(false)} {
			if len(s) > longestClaim || strings.ContainsAny(s, "\r\n\x00") {
				t.Errorf("claim %q", s)
			}
		}
		if at := c.expires(); !at.IsZero() && (at.Unix() < 0 || at.Year() > 9999) {
			t.Errorf("expires %s", at)
		}
		kindOf(secret(token))
	})
}

func FuzzFile(f *testing.F) {
	for _, content := range []string{
		codexTokens("a", "r", time.Hour), claudeTokens("a", "r", time.Hour), googleTokens("a", "r", time.Hour),
		`{"token":{"access_token":"a","expiry":"2026-12-01T12:00:00Z"},"auth_method":""}`, "sk-key", `{"tokens":[{"access_token":1}]}`,
		`{"access_token":"a","access_token":"b","expires_at":1e999}`,
	} {
		for _, provider := range []string{"openai-codex", "claude", "antigravity", "deepseek"} {
			f.Add(content, provider)
		}
	}
	g := grant{access: secret("new-access"), refresh: secret("new-refresh"), id: secret("new-id"), expiresIn: 3600}
	f.Fuzz(func(t *testing.T, content, provider string) {
		r, p := parseFile("FILE", []byte(content), provider, true)
		if p != nil || r.format == nil {
			return
		}
		identityOf(r.tokens)
		after, err := r.format.renewed(r.content, g, start)
		if err != nil {
			return
		}
		again, p := parseFile("FILE", after, provider, false)
		if p != nil {
			t.Fatalf("%s became %s: %v", content, after, p)
		}
		if got := again.tokens; got.kind == OAuth && (!got.access.Equal(g.access) || !got.refresh.Equal(g.refresh)) {
			t.Errorf("%s became %s, read as %q %q", content, after, got.access.Reveal(), got.refresh.Reveal())
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add(200, `{"access_token":"a","expires_in":1e400}`)
	f.Add(400, `{"error":{"code":["invalid_grant"]}}`)
	f.Add(401, `<html>`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		o := judge(status, []byte(body))
		if (o.verdict == granted) == o.grant.access.Empty() || o.verdict != granted && o.why == "" {
			t.Errorf("%+v", o)
		}
		if at := o.grant.expires(start); !at.IsZero() && at.Year() > 9999 {
			t.Errorf("expires %s", at)
		}
		if len(body) > 40 && strings.Contains(o.why, body) {
			t.Errorf("the reason quotes the body: %s", o.why)
		}
	})
}
