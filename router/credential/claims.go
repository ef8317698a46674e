package credential

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/router"
)

const (
	longestToken = 32 << 10 // of those that are looked into
	longestClaim = 320      // the longest e-mail address there may be (RFC 3696)
)

// claims are what a JSON Web Token says. Nothing is verified: the token is the user's own, and what it says is shown and
// compared, never trusted with anything.
type claims jwt.MapClaims

// claimsOf reads a token's claims, nil when it is no JSON Web Token. The algorithm does not matter.
func claimsOf(secret router.Secret) claims {
	token := secret.Reveal()
	if len(token) > longestToken || strings.Count(token, ".") != 2 {
		return nil
	}
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if parsed == nil || err != nil && parsed.Header == nil {
		return nil
	}
	if found, ok := parsed.Claims.(jwt.MapClaims); ok && len(found) > 0 {
		return claims(found)
	}
	return nil
}

// text is the claim at the end of the path, "" when it is no short printable text.
func (c claims) text(path ...string) string {
	var at any = map[string]any(c)
	for _, name := range path {
		block, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = block[name]
	}
	s, _ := at.(string)
	return presentable(s)
}

// presentable is s, "" when it is too long or holds what does not print.
func presentable(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > longestClaim || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// The names under which OpenAI's tokens keep what is theirs.
const (
	openAIAuth    = "https://api.openai.com/auth"
	openAIProfile = "https://api.openai.com/profile"
)

func (c claims) email() string {
	return cmp.Or(c.text("email"), c.text(openAIProfile, "email"), c.text("userinfo", "email"))
}

func (c claims) user() string {
	return cmp.Or(c.text("sub"), c.text("user_id"), c.text("id"))
}

func (c claims) account() string { return c.text(openAIAuth, "chatgpt_account_id") }

func (c claims) plan() string { return c.text(openAIAuth, "chatgpt_plan_type") }

// client is the OAuth client that the token was given to. Of an access token the audience is the API, not the client.
func (c claims) client(isID bool) string {
	if !isID {
		return cmp.Or(c.text("client_id"), c.text("azp"))
	}
	audience := c.text("aud")
	if list, ok := c["aud"].([]any); ok && len(list) == 1 {
		s, _ := list[0].(string)
		audience = presentable(s)
	}
	return cmp.Or(c.text("azp"), audience)
}

// expires is when the token runs out, zero when it does not say.
func (c claims) expires() time.Time {
	seconds, _ := c["exp"].(float64)
	return epoch(seconds)
}

// lastInstant is the end of the year 9999: what lies beyond is no time of ours.
const lastInstant = 253402300799

// epoch is an instant in seconds since 1970, zero when it is none.
func epoch(seconds float64) time.Time {
	if !(seconds > 0 && seconds <= lastInstant) { // NaN too
		return time.Time{}
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// kindOf tells a token of the configuration from a key: by the shape of a JSON Web Token, or by the prefix that Anthropic
// (sk-ant-oat) and Google (ya29.) give access tokens.
func kindOf(secret router.Secret) Kind {
	token := secret.Reveal()
	if strings.HasPrefix(token, "sk-ant-oat") || strings.HasPrefix(token, "ya29.") || claimsOf(secret) != nil {
		return OAuth
	}
	return APIKey
}
