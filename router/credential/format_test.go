package credential

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What the owner has in its file beside its tokens stays as it is, byte for byte.
func TestRefreshedFiles(t *testing.T) {
	day := 24 * time.Hour
	newAccess := webToken(map[string]any{"exp": start.Add(10 * day).Unix()})
	newID := webToken(map[string]any{"email": "new@example.org"})
	f := func(provider, before, answer string, replace ...string) {
		t.Helper()
		e := newEndpoint(t, replies(200, answer))
		b := newBench(t, Source{Provider: provider, Refresh: true, TokenURL: e.URL, ClientID: "client-of-test", ClientSecret: secret("s")}, before)
		if _, err := b.Current(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.NewReplacer(replace...).Replace(before), b.content()); diff != "" {
			t.Errorf("%s:\n%s", provider, diff)
		}
		fresh := newBench(t, Source{Provider: provider}, b.content())
		is, err := b.Current(t.Context(), "one")
		read, err2 := fresh.Current(t.Context(), "one")
		if err != nil || err2 != nil || !is.Token.Equal(read.Token) || !is.ExpiresAt.Equal(read.ExpiresAt) {
			t.Errorf("in memory %v %v, in the file %v %v", is.ExpiresAt, err, read.ExpiresAt, err2)
		}
	}
	f("openai-codex", codexTokens("old", "refresh-0", -day), `{"access_token":"`+newAccess+`","id_token":"`+newID+`","refresh_token":"refresh-1"}`,
		accessOf(codexTokens("old", "", -day)), newAccess, "refresh-0", "refresh-1", "2026-11-20T00:00:00Z", "2026-12-01T12:00:00Z",
		idOf(codexTokens("old", "", -day)), newID)
	f("openai-codex", `{"token":{"refresh_token":"r0","access_token":"`+webToken(map[string]any{"exp": 1})+`"},"email":"a@b.c"}`,
		`{"access_token":"`+newAccess+`"}`,
		webToken(map[string]any{"exp": 1}), newAccess, `"a@b.c"}`, `"a@b.c","last_refresh":"2026-12-01T12:00:00Z"}`)
	f("claude", claudeTokens("old", "refresh-0", -day), `{"access_token":"new","refresh_token":"refresh-1","expires_in":28800}`,
		`"old"`, `"new"`, "refresh-0", "refresh-1", "1796040000000", "1796155200000")
	f("antigravity", googleTokens("old", "refresh-0", -day), `{"access_token":"new","expires_in":3599}`,
		`"old"`, `"new"`, "1796040000000.5", "1796129999000")
	f("antigravity", `{"token":{"access_token":"old","refresh_token":"r","expiry":"2026-12-01T11:00:00.123+02:00"},"auth_method":"consumer","id_token":"x"}`,
		`{"access_token":"new","expires_in":3600,"id_token":"`+newID+`"}`,
		`"old"`, `"new"`, "2026-12-01T11:00:00.123+02:00", "2026-12-01T13:00:00Z", `"x"`, `"`+newID+`"`)
	f("vertex", `{"type":"authorized_user", "refresh_token":"r"}`, `{"access_token":"new","expires_in":3600}`,
		`"r"}`, `"r","expiry_date":1796130000000,"access_token":"new"}`)
	f("grok", "{\n\t\"access_token\" : \"old\", \"refresh_token\":\"r\",\"expires_at\": 1796120000 }", `{"access_token":"new","expires_in":"3600"}`,
		`"old"`, `"new"`, "1796120000", "1796130000")
	f("openai-compatible", `{"tokens":{"accessToken":"old","refreshToken":"r","expiresAt":"2026-11-01T00:00:00Z"}}`, `{"access_token":"new","refresh_token":"r2","expires_in":60.5}`,
		`"old"`, `"new"`, `"r"`, `"r2"`, "2026-11-01T00:00:00Z", "2026-12-01T12:01:00.5Z")
}

func idOf(content string) string {
	_, rest, _ := strings.Cut(content, `"id_token": "`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// Each program's endpoint is asked in its own way, for the client that the tokens belong to, and by the hub's own name.
func TestRefreshRequests(t *testing.T) {
	f := func(src Source, content, want string) {
		t.Helper()
		e := newEndpoint(t, grants)
		src.Refresh, src.TokenURL = true, e.URL
		b := newBench(t, src, content)
		if _, err := b.Current(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if got := e.bodies[0]; got != want || e.agents[0] != "hermes-hub/test" {
			t.Errorf("%s sent %s\nwant %s", e.agents[0], got, want)
		}
	}
	f(Source{Provider: "openai-codex"}, codexTokens("a", "r", 0), `{"client_id":"app_of_test","grant_type":"refresh_token","refresh_token":"r"}`)
	f(Source{Provider: "openai-codex"}, `{"tokens":{"access_token":"`+webToken(map[string]any{"exp": 1, "client_id": "app_x", "aud": "api"})+`","refresh_token":"r"}}`,
		`{"client_id":"app_x","grant_type":"refresh_token","refresh_token":"r"}`)
	f(Source{Provider: "openai-codex"}, `{"tokens":{"access_token":"`+webToken(map[string]any{"exp": 1})+`","refresh_token":"r"}}`,
		`{"client_id":"app_EMoamEEZ73f0CkXaXp7hrann","grant_type":"refresh_token","refresh_token":"r"}`)
	f(Source{Provider: "claude"}, claudeTokens("a", "r", 0), `{"client_id":"9d1c250a-e61b-44d9-88ed-5944d1962f5e","grant_type":"refresh_token","refresh_token":"r"}`)
	f(Source{Provider: "claude"}, strings.Replace(claudeTokens("a", "r", 0), `"scopes"`, `"clientId":"mine","scopes"`, 1), `{"client_id":"mine","grant_type":"refresh_token","refresh_token":"r"}`)
	f(Source{Provider: "antigravity"}, googleTokens("a", "r&", 0), url.Values{
		"client_id": {"cid"}, "client_secret": {"GoogleCanarySecret"}, "grant_type": {"refresh_token"}, "refresh_token": {"r&"},
	}.Encode())
	f(Source{Provider: "antigravity", ClientSecret: secret("own")}, `{"access_token":"a","expiry_date":1,"refresh_token":"r","id_token":"`+webToken(map[string]any{"azp": "g", "aud": "h"})+`"}`,
		"client_id=g&client_secret=own&grant_type=refresh_token&refresh_token=r")
	f(Source{Provider: "grok", ClientID: "xai"}, `{"access_token":"a","expires_at":1,"refresh_token":"r"}`, "client_id=xai&grant_type=refresh_token&refresh_token=r")
}

// What a refresh needs and nothing tells is never guessed.
func TestNotRenewable(t *testing.T) {
	f := func(provider, content, detail string) {
		t.Helper()
		b := newBench(t, Source{Provider: provider, Refresh: true}, content)
		p := b.lacks(ReasonNoRefresh, AuthRequired)
		if got := strings.ReplaceAll(p.Detail, b.file, "FILE"); got != detail || p.Mend == "" {
			t.Errorf("detail %q, mend %q; want %q", got, p.Mend, detail)
		}
	}
	f("claude", claudeTokens("a", "", 0), "FILE holds no refresh token")
	f("antigravity", `{"access_token":"a","refresh_token":"r","expiry_date":1,"client_id":"c"}`,
		"FILE has no client_secret, without which its tokens are not refreshed")
	f("antigravity", `{"access_token":"a","refresh_token":"r","expiry_date":1}`, "FILE does not say which OAuth client its tokens belong to")
	f("grok", `{"access_token":"a","refresh_token":"r","expires_at":1}`, "FILE does not say where its tokens are refreshed")
}

func TestFormats(t *testing.T) {
	access := webToken(map[string]any{"exp": start.Add(time.Hour).Unix()})
	f := func(provider, content, want string) {
		t.Helper()
		r, p := parseFile("FILE", []byte(content), provider, true)
		if p != nil {
			t.Fatal(p)
		}
		name := "a key"
		if r.format != nil {
			name = r.format.name
		}
		got := strings.Join([]string{name, string(r.tokens.kind), r.tokens.access.Reveal(), r.tokens.account, r.tokens.project}, "|")
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("openai-codex", `{"tokens":{"access_token":"`+access+`","account_id":"acc"}}`, "Codex's auth.json|oauth|"+access+"|acc|")
	f("openai", `{"OPENAI_API_KEY":"sk-1","tokens":null}`, "Codex's auth.json|api_key|sk-1||")
	f("openai-codex", `{"OPENAI_API_KEY":"sk-1","tokens":{"access_token":"t"}}`, "Codex's auth.json|oauth|t||")
	f("openai", `{"OPENAI_API_KEY":"sk-1","tokens":{"access_token":"t"}}`, "Codex's auth.json|api_key|sk-1||")
	f("openai-codex", `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1","tokens":{"access_token":"t"}}`, "Codex's auth.json|api_key|sk-1||")
	f("openai", `{"auth_mode":"chatgpt","OPENAI_API_KEY":"sk-1","tokens":{"access_token":"t"}}`, "Codex's auth.json|oauth|t||")
	f("openai-compatible", claudeTokens("a", "r", 0), "Claude Code's .credentials.json|oauth|a||")
	f("claude", `{"access_token":"a"}`, "Claude Code's .credentials.json|oauth|a||")
	f("antigravity", `{"token":{"access_token":"a"},"project_id":"p"}`, "Google's OAuth file|oauth|a||p")
	f("deepseek", `{"access_token":"a"}`, "the OAuth file|oauth|a||")
	f("deepseek", "sk-plain\n", "a key|api_key|sk-plain||")
	f("claude", "sk-ant-oat01-x", "a key|oauth|sk-ant-oat01-x||")
}

func TestInstant(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		r, p := parseFile("FILE", []byte(`{"access_token":"a","expires_at":`+value+`}`), "grok", false)
		if p != nil {
			t.Fatal(p)
		}
		got := ""
		if !r.tokens.expires.IsZero() {
			got = r.tokens.expires.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
	f("1796126400", "2026-12-01T12:00:00Z")
	f("1796126400.25", "2026-12-01T12:00:00.25Z")
	f("1796126400000", "2026-12-01T12:00:00Z")
	f(`"2026-12-01T14:00:00+02:00"`, "2026-12-01T12:00:00Z")
	for _, absurd := range []string{"0", "-1", "1e300", "-1e300", `""`, `"soon"`, "null", "true", "[1]", `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59-12:00"`} {
		f(absurd, "")
	}
}
