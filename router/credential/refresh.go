package credential

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/router"
)

const (
	refreshPatience = 30 * time.Second // one request to a token endpoint
	largestAnswer   = 256 << 10
)

// grant is what a token endpoint gives (RFC 6749, 5.1).
type grant struct {
	access    router.Secret
	refresh   router.Secret // empty = the old one stays good
	id        router.Secret
	expiresIn float64 // seconds; 0 = not said
}

// expires is when the new token runs out, zero when that is not known.
func (g grant) expires(now time.Time) time.Time {
	if g.expiresIn > 0 && g.expiresIn < 10*365*24*3600 {
		return now.Add(time.Duration(g.expiresIn * float64(time.Second))).UTC()
	}
	return claimsOf(g.access).expires()
}

// verdict is what came of a refresh.
type verdict string

// The verdicts.
const (
	granted     verdict = "granted"
	dead        verdict = "dead"        // this refresh token gets nothing any more
	unavailable verdict = "unavailable" // nothing was learnt: later
)

// outcome is a verdict with what belongs to it.
type outcome struct {
	verdict verdict
	grant   grant
	why     string        // for logs; of the endpoint's own words only codes of RFC 6749 and known ones
	wait    time.Duration // what the endpoint asks for; 0 = nothing
}

// endpoint is where and for which client a file's tokens are refreshed.
type endpoint struct {
	url          string
	clientID     string
	clientSecret router.Secret
	form         bool
}

// refresh asks the endpoint once.
func (e endpoint) refresh(ctx context.Context, r *rig, proxyURL string, refreshToken router.Secret) outcome {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	req, err := e.request(ctx, refreshToken.Reveal())
	if err != nil {
		return outcome{verdict: unavailable, why: "token_url is no address"}
	}
	req.Header.Set("User-Agent", r.agent)
	client := http.Client{Transport: r.transport(proxyURL), CheckRedirect: stay}
	resp, err := client.Do(req)
	if err != nil {
		return outcome{verdict: unavailable, why: unreached(err)}
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, largestAnswer))
	if err != nil {
		// The token may have been rotated and the new one lost. The next try will tell.
		return outcome{verdict: unavailable, why: "the answer of the token endpoint was cut short"}
	}
	o := judge(resp.StatusCode, body)
	o.wait = retryAfter(resp.Header.Get("Retry-After"))
	return o
}

// stay follows no redirect: where it leads to must not get the token.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (e endpoint) request(ctx context.Context, refreshToken string) (*http.Request, error) {
	fields := map[string]string{"grant_type": "refresh_token", "refresh_token": refreshToken, "client_id": e.clientID}
	if !e.clientSecret.Empty() {
		fields["client_secret"] = e.clientSecret.Reveal()
	}
	var body []byte
	kind := "application/json"
	if e.form {
		kind = "application/x-www-form-urlencoded"
		form := url.Values{}
		for name, value := range fields {
			form.Set(name, value)
		}
		body = []byte(form.Encode())
	} else {
		var err error
		if body, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// unreached says how an endpoint was not reached, without its address: that may hold a password.
func unreached(err error) string {
	how := "cannot be reached"
	if errors.Is(err, context.DeadlineExceeded) {
		how = "does not answer"
	} else if dns, ok := errors.AsType[*net.DNSError](err); ok {
		how += ": " + dns.Err
	} else if number, ok := errors.AsType[syscall.Errno](err); ok {
		how += ": " + number.Error()
	}
	return "the token endpoint " + how
}

// The codes that end a refresh token's life: RFC 6749 (5.2), and OpenAI's (openai/codex, codex-rs/login).
var deadCodes = []string{
	"invalid_grant", "refresh_token_reused", "refresh_token_expired", "refresh_token_invalidated", "refresh_token_revoked",
	"invalid_refresh_token", "token_expired",
}

// The codes that say the request itself is wrong, which asking again does not mend.
var wrongCodes = []string{
	"invalid_client", "unauthorized_client", "invalid_request", "invalid_scope", "unsupported_grant_type",
	"not_found_error", "invalid_request_error", "authentication_error", "permission_error", "access_denied",
}

// judge reads an answer of a token endpoint: a known code first, then the status. A page of HTML comes from what stands
// before the endpoint and says nothing about the token. Anthropic answers 404 not_found_error to a used-up token
// (anthropics/claude-code issue 27933); Codex takes every 401 for final.
func judge(status int, body []byte) outcome {
	doc := gjson.Result{}
	if gjson.ValidBytes(body) {
		doc = gjson.ParseBytes(body)
	}
	at := fmt.Sprintf("the token endpoint answered %d", status)
	code := strings.ToLower(cmp.Or(
		doc.Get("error.code").String(), doc.Get("error.type").String(), textOf(doc.Get("error")), textOf(doc.Get("code")),
	))
	switch {
	case status >= 200 && status < 300 && text(doc, []string{"access_token"}) != "":
		return outcome{verdict: granted, grant: grant{
			access:    router.NewSecret(text(doc, []string{"access_token"})),
			refresh:   router.NewSecret(text(doc, []string{"refresh_token"})),
			id:        router.NewSecret(text(doc, []string{"id_token"})),
			expiresIn: doc.Get("expires_in").Float(),
		}}
	case status == http.StatusTooManyRequests || status >= 500:
		return outcome{verdict: unavailable, why: at}
	case slices.Contains(deadCodes, code) || slices.Contains(wrongCodes, code):
		return outcome{verdict: dead, why: at + " " + code}
	case status == http.StatusUnauthorized && doc.IsObject():
		return outcome{verdict: dead, why: at}
	case status >= 200 && status < 300:
		return outcome{verdict: unavailable, why: at + " without a token"}
	}
	return outcome{verdict: unavailable, why: at}
}

// textOf is the value when it is a text.
func textOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// retryAfter reads the header in seconds, at most an hour; 0 when it says nothing of use.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(header))
	if err != nil || seconds <= 0 {
		return 0
	}
	return min(time.Duration(seconds), 3600) * time.Second
}

// The waits after refreshes that came to nothing: doubled from the first to the longest.
const (
	firstWait   = 5 * time.Second
	longestWait = 5 * time.Minute
)

// nextTry is when an endpoint may be asked again after so many failures in a row.
func nextTry(failures int, asked time.Duration, now time.Time) time.Time {
	wait := min(firstWait<<min(failures-1, 16), longestWait)
	return now.Add(max(wait, asked))
}
