package simulator_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// refresh asks the account's token endpoint.
func refresh(t *testing.T, c speaker, form bool, fields map[string]string) (int, string) {
	t.Helper()
	c.path, c.header = "/v1/oauth/token", nil
	values := url.Values{}
	var pairs []string
	for name, value := range fields {
		values.Set(name, value)
		pairs = append(pairs, `"`+name+`":"`+value+`"`)
	}
	body := "{" + strings.Join(pairs, ",") + "}"
	resp, got := c.say(t, body, func(req *http.Request) {
		if form {
			*req = *c.request(t.Context(), t, values.Encode())
			req.URL.Path = c.path
			req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		}
	})
	return resp.StatusCode, got
}

// TestOAuth proves the life of tokens: they run out by the clock, are refreshed, and a refresh token that was used is refused.
func TestOAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory("/v1/chat/completions", nil, simulator.Account{Name: "a", Key: "first", OAuth: &simulator.OAuth{Refresh: "r0", Lifetime: time.Hour}})
		ask := func(token string) string {
			t.Helper()
			resp, got := c.say(t, plainBody, func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+token) })
			return strings.TrimSpace(resp.Status[:3] + " " + member(got, "error.code"))
		}
		f := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
		}
		f("the first token", ask("first"), "200")
		f("a stranger's", ask("second"), "401 invalid_api_key")
		if got := c.Credential("a"); got.Access != "first" || got.Refresh != "r0" || !got.Expires.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("the credential is %+v", got)
		}
		time.Sleep(time.Hour)
		f("the first token an hour later", ask("first"), "401 token_expired")

		status, got := refresh(t, c, false, map[string]string{"grant_type": "refresh_token", "refresh_token": "r0", "client_id": "any"})
		if want := `{"access_token":"access-simulated-a-1","expires_in":3600,"refresh_token":"refresh-simulated-a-1","scope":"simulated","token_type":"Bearer"}`; status != 200 || got != want {
			t.Fatalf("the refresh is %d %s, want %s", status, got, want)
		}
		f("the second token", ask("access-simulated-a-1"), "200")
		status, got = refresh(t, c, true, map[string]string{"grant_type": "refresh_token", "refresh_token": "r0"})
		if status != 400 || member(got, "error") != "invalid_grant" {
			t.Errorf("a used refresh token is %d %s", status, got)
		}
		status, _ = refresh(t, c, true, map[string]string{"grant_type": "refresh_token", "refresh_token": "refresh-simulated-a-1"})
		if status != 200 || c.Credential("a").Refresh != "refresh-simulated-a-2" {
			t.Errorf("the second refresh is %d, the credential %+v", status, c.Credential("a"))
		}
		c.RevokeTokens("a")
		f("a revoked token", ask("access-simulated-a-2"), "401 invalid_api_key")
		if calls := c.Calls("a"); calls[2].Step != "token" || c.Total("a") != 4 || c.Looks("a") != 3 {
			t.Errorf("there are %d calls and %d looks, the third is %+v", c.Total("a"), c.Looks("a"), calls[2])
		}
		c.Reset("a")
		f("the first token after Reset", ask("first"), "200")
	})
}

// TestOAuthOfCodex proves that ChatGPT's tokens tell when they run out, and what a second user of a refresh token meets.
func TestOAuthOfCodex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory("/backend-api/codex/responses", nil, simulator.Account{Name: "a", Key: "first", Codex: true, ChatGPTAccount: "acct", OAuth: &simulator.OAuth{Refresh: "r0", Lifetime: time.Hour}})
		fields := map[string]string{"grant_type": "refresh_token", "refresh_token": "r0"}
		_, got := refresh(t, c, false, fields)
		claims, err := base64.RawURLEncoding.DecodeString(strings.Split(member(got, "access_token"), ".")[1])
		if want := `{"exp":946688400,"https://api.openai.com/auth":{"chatgpt_account_id":"acct","chatgpt_plan_type":"plus"},"jti":"simulated-a-1"}`; err != nil || string(claims) != want {
			t.Errorf("the claims are %s, want %s", claims, want)
		}
		if claims, err := base64.RawURLEncoding.DecodeString(strings.Split(member(got, "id_token"), ".")[1]); err != nil || string(claims) != `{"https://api.openai.com/auth":{"chatgpt_account_id":"acct","chatgpt_plan_type":"plus"}}` {
			t.Errorf("the identity is %s", claims)
		}
		if status, got := refresh(t, c, false, fields); status != 401 || member(got, "error.code") != "refresh_token_reused" {
			t.Errorf("the second use is %d %s", status, got)
		}
		time.Sleep(2 * time.Hour)
		resp, got := c.say(t, "{}", func(req *http.Request) { req.Header.Set("Authorization", "Bearer first") })
		if resp.StatusCode != 401 || member(got, "detail.code") != "token_expired" {
			t.Errorf("an expired token got %s %s", resp.Status, got)
		}
	})
}

// TestOAuthRefusals proves what token endpoints refuse, and that a script of theirs comes first.
func TestOAuthRefusals(t *testing.T) {
	google := simulator.Account{Name: "a", Key: "first", OAuth: &simulator.OAuth{Refresh: "r0", Reusable: true, ClientID: "id", ClientSecret: "secret"}}
	c := inMemory("", nil, google, simulator.Account{Name: "b", Key: "sk-b"})
	f := func(want string, pairs ...string) {
		t.Helper()
		fields := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			fields[pairs[i]] = pairs[i+1]
		}
		status, got := refresh(t, c, true, fields)
		if got := member(got, "error"); status == 200 && want != "ok" || status != 200 && got != want {
			t.Errorf("%s: got %d %s, want %s", pairs, status, got, want)
		}
	}
	f("ok", "grant_type", "refresh_token", "refresh_token", "r0", "client_id", "id", "client_secret", "secret")
	f("ok", "grant_type", "refresh_token", "refresh_token", "r0", "client_id", "id", "client_secret", "secret")
	f("invalid_request", "grant_type", "refresh_token", "refresh_token", "r0", "client_id", "id")
	f("invalid_client", "grant_type", "refresh_token", "refresh_token", "r0", "client_id", "x", "client_secret", "secret")
	f("unsupported_grant_type", "grant_type", "authorization_code", "refresh_token", "r0")
	f("invalid_request", "refresh_token", "r0")
	f("invalid_request", "grant_type", "refresh_token")
	f("invalid_grant", "grant_type", "refresh_token", "refresh_token", "nobody's")
	c.PushAside("a", simulator.ServerError)
	if status, _ := refresh(t, c, true, map[string]string{"grant_type": "refresh_token", "refresh_token": "r0", "client_id": "id", "client_secret": "secret"}); status != 500 {
		t.Errorf("the step was not played: %d", status)
	}
	if got := c.Credential("b"); got != (simulator.Credential{Access: "sk-b"}) {
		t.Errorf("the credential of a key is %+v", got)
	}
}

// TestOAuthOfDeadTokens proves how each provider refuses a refresh token that does not work: who reads the refusal must know
// that only a person can help.
func TestOAuthOfDeadTokens(t *testing.T) {
	f := func(account simulator.Account, token, want string) {
		t.Helper()
		account.Name, account.Key = "a", "first"
		c := inMemory("", nil, account)
		ask := func(token string) (int, string) {
			resp, got := speaker{c.client, "/a/oauth/token", nil}.say(t, `{"grant_type":"refresh_token","refresh_token":"`+token+`"}`)
			return resp.StatusCode, got
		}
		if status, got := ask("r0"); status != 200 {
			t.Fatalf("the first refresh is %d %s", status, got)
		}
		if status, got := ask(token); fmt.Sprint(status, " ", got) != want {
			t.Errorf("%q got\n%d %s\nwant\n%s", token, status, got, want)
		}
	}
	codex := simulator.Account{Codex: true, OAuth: &simulator.OAuth{Refresh: "r0"}}
	f(codex, "r0", `401 {"error":{"message":"Your refresh token has already been used to generate a new access token. Please try signing in again.","type":"invalid_request_error","param":null,"code":"refresh_token_reused"}}`)
	f(codex, "other", `401 {"error":{"message":"Could not validate your token. Please try signing in again.","type":"invalid_request_error","param":null,"code":"token_expired"}}`)
	claude := simulator.Account{OAuth: &simulator.OAuth{Refresh: "r0"}}
	f(claude, "r0", `400 {"error":"invalid_grant","error_description":"Refresh token not found or invalid"}`)
	f(claude, "other", `400 {"error":"invalid_grant","error_description":"Refresh token not found or invalid"}`)
	google := simulator.Account{OAuth: &simulator.OAuth{Refresh: "r0", Reusable: true}}
	f(google, "other", `400 {"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
}
