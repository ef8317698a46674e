package simulator

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// OAuth makes an account's access tokens run out and be refreshed at …/oauth/token (or …/token), as RFC 6749 says and as the
// providers do it: in JSON or as a form, and every refresh token works once.
type OAuth struct {
	Refresh      string        // the first refresh token
	Lifetime     time.Duration // of an access token, by the Provider's clock, the first one's from the first call; 0 = for ever
	Reusable     bool          // a refresh token works for ever, and none is given with a new access token (Google)
	ClientID     string        // that must be sent; "" = any
	ClientSecret string        // likewise
}

// Credential is what an account's credential file would hold now.
type Credential struct {
	Access  string
	Refresh string    // "" = the account has no OAuth
	Expires time.Time // of Access; zero = never
}

// Credential is the account's newest credential: tests write it to where the client under test reads it, or compare.
func (p *Provider) Credential(name string) Credential {
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	if a.OAuth == nil {
		return Credential{Access: a.Key}
	}
	a.tokens.begin(a.Account, now)
	return Credential{Access: a.tokens.newest, Refresh: a.tokens.current, Expires: a.tokens.access[a.tokens.newest]}
}

// RevokeTokens makes every access token of the account invalid, as a sign-out elsewhere does. The refresh token stays good.
func (p *Provider) RevokeTokens(name string) {
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	a.tokens.begin(a.Account, now)
	for token := range a.tokens.access {
		a.tokens.old[token] = true
	}
	clear(a.tokens.access)
}

// grants are the tokens of an account. Provider.mu guards them.
type grants struct {
	begun   bool
	serial  int
	access  map[string]time.Time // → when it runs out, zero = never
	newest  string
	current string          // the refresh token that works
	old     map[string]bool // refresh tokens that were used, access tokens that were revoked
}

// begin issues the first tokens.
func (t *grants) begin(a Account, now time.Time) {
	if t.begun || a.OAuth == nil {
		return
	}
	*t = grants{begun: true, access: map[string]time.Time{a.Key: a.OAuth.end(now)}, newest: a.Key, current: a.OAuth.Refresh, old: map[string]bool{}}
}

// issued reports whether the token, which is no access token that is known, was ever given out.
func (t *grants) issued(token string) bool {
	return token != "" && (token == t.current || t.old[token])
}

// expired reports whether the access token was good and is no more.
func (t *grants) expired(access string, now time.Time) bool {
	end := t.access[access]
	return !end.IsZero() && !now.Before(end)
}

func (o *OAuth) end(now time.Time) time.Time {
	if o.Lifetime <= 0 {
		return time.Time{}
	}
	return now.Add(o.Lifetime)
}

// tokenRequest is what was sent to the token endpoint.
type tokenRequest struct {
	grant, refresh, client, secret string
	readable                       bool
}

// tokenRequestOf reads JSON or a form.
func tokenRequestOf(call *Call) tokenRequest {
	fields := map[string]string{}
	readable := true
	if media, _, _ := mime.ParseMediaType(call.Header.Get("Content-Type")); media == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(call.Body))
		readable = err == nil
		for name := range form {
			fields[name] = form.Get(name)
		}
	} else {
		readable = json.Unmarshal(call.Body, &fields) == nil
	}
	return tokenRequest{grant: fields["grant_type"], refresh: fields["refresh_token"], client: fields["client_id"], secret: fields["client_secret"], readable: readable}
}

// grant gives a new access token for a refresh token, or says why not. The caller holds Provider.mu.
func (a *account) grant(r tokenRequest, st stamp) play {
	if wrong := a.deny(r); wrong != nil {
		return refusing(wrong)
	}
	t := &a.tokens
	t.serial++
	t.newest = a.accessToken(t.serial, a.OAuth.end(st.created))
	t.access[t.newest] = a.OAuth.end(st.created)
	answer := map[string]any{"access_token": t.newest, "token_type": "Bearer", "scope": "simulated"}
	if a.Codex {
		answer["id_token"] = webToken(a.chatGPTClaims())
	}
	if a.OAuth.Lifetime > 0 {
		answer["expires_in"] = seconds(a.OAuth.Lifetime)
	}
	if !a.OAuth.Reusable {
		t.old[t.current] = true
		t.current = fmt.Sprintf("refresh-simulated-%s-%d", a.Name, t.serial)
		answer["refresh_token"] = t.current
	}
	return answering(encode(answer))
}

// deny is why there is no new token, nil when there is one.
func (a *account) deny(r tokenRequest) *problem {
	switch {
	case !r.readable || r.grant == "" || r.refresh == "":
		return oauthProblem("invalid_request", "The request is missing a required parameter.")
	case r.grant != "refresh_token":
		return oauthProblem("unsupported_grant_type", "The simulation knows refresh_token alone.")
	case a.OAuth == nil:
		return a.denyToken(r.refresh) // it is nobody's
	case a.OAuth.ClientSecret != "" && r.secret == "":
		return oauthProblem("invalid_request", "client_secret is missing.") // xiufengsun/TokenTracker 610
	case a.OAuth.ClientID != "" && a.OAuth.ClientID != r.client, a.OAuth.ClientSecret != "" && a.OAuth.ClientSecret != r.secret:
		p := oauthProblem("invalid_client", "The OAuth client was not found.")
		p.status = http.StatusUnauthorized
		return p
	case r.refresh != a.tokens.current:
		return a.denyToken(r.refresh)
	}
	return nil
}

// denyToken is the refusal of a refresh token that does not work, in its provider's words. OpenAI tells one that was used
// (openai/codex, codex-rs/login: what a second process meets that refreshes with the same file) from one that it does not
// know (decolua/9router 1821).
func (a *account) denyToken(refresh string) *problem {
	chatGPT := func(code, message string) *problem {
		return &problem{excused: true, status: http.StatusUnauthorized, kind: "invalid_request_error", code: code, message: message}
	}
	switch {
	case a.Codex && a.tokens.old[refresh]:
		return chatGPT("refresh_token_reused", "Your refresh token has already been used to generate a new access token. Please try signing in again.")
	case a.Codex:
		return chatGPT("token_expired", "Could not validate your token. Please try signing in again.")
	case a.OAuth != nil && a.OAuth.Reusable:
		return oauthProblem("invalid_grant", "Token has been expired or revoked.")
	}
	return oauthProblem("invalid_grant", "Refresh token not found or invalid")
}

// oauthProblem is a refusal as RFC 6749 has it.
func oauthProblem(code, description string) *problem {
	return &problem{excused: true, status: http.StatusBadRequest, message: description, body: encode(map[string]string{"error": code, "error_description": description})}
}

// accessToken makes a token that no other is like. ChatGPT's are JSON Web Tokens, which tell when they run out and whose
// they are.
func (a *account) accessToken(serial int, end time.Time) string {
	if !a.Codex {
		return fmt.Sprintf("access-simulated-%s-%d", a.Name, serial)
	}
	claims := a.chatGPTClaims()
	claims["jti"] = fmt.Sprintf("simulated-%s-%d", a.Name, serial)
	if !end.IsZero() {
		claims["exp"] = epoch(end)
	}
	return webToken(claims)
}

// chatGPTClaims are what ChatGPT's tokens tell of the account.
func (a *account) chatGPTClaims() map[string]any {
	auth := map[string]string{"chatgpt_plan_type": "plus"}
	if a.ChatGPTAccount != "" {
		auth["chatgpt_account_id"] = a.ChatGPTAccount
	}
	return map[string]any{"https://api.openai.com/auth": auth}
}

// webToken is a JSON Web Token that nobody signed.
func webToken(claims map[string]any) string {
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(encode(v)) }
	return part(map[string]string{"alg": "none", "typ": "JWT"}) + "." + part(claims) + ".simulated"
}
