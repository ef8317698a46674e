package proxy

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidwall/gjson"

	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// passOn returns an error that is the client's own, as the upstream told it: another account would say the same. The
// upstream's body passes byte for byte when it is of the client's protocol and every client can read it; anything else is
// put into an error of ours.
func (x *exchange) passOn(f *failure) {
	status := f.status
	if status < 400 || status >= 500 || status == http.StatusUnauthorized || status == http.StatusTooManyRequests {
		status = statusOf(f.reading.Class)
	}
	x.told.Outcome, x.told.Status, x.told.Err = telemetry.InvalidCall, status, f.reading.Reason
	body := x.clean(f.body)
	if f.translated || !x.surface.dialect.legible(body) {
		e := refusal{code: codeOf(f.reading.Class), message: "the provider refused the request: " + plainMessage(body)}
		body = x.surface.dialect.body(&e, x.told.ID)
	}
	if x.committed {
		x.aborted = true
		return
	}
	x.committed = true
	x.setHubHeaders(nil)
	h := x.w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.w.WriteHeader(status)
	_ = writeOut(x.w, x.conn, body) // the client is gone or it is not: nothing is left to be done
}

// clean takes what the accounts were called with out of a text that goes to the client: some providers echo it.
func (x *exchange) clean(body []byte) []byte {
	for _, token := range x.with {
		body = redacted(body, token.Reveal())
	}
	for i := range x.plan.Nodes {
		for _, text := range private(x.plan.Nodes[i].Profile) {
			body = redacted(body, text)
		}
	}
	return body
}

func redacted(body []byte, text string) []byte {
	if len(text) < shortestSecret {
		return body
	}
	return bytes.ReplaceAll(body, []byte(text), []byte("[redacted]"))
}

// shortestSecret is the least that is taken for a secret: less would be found in ordinary words.
const shortestSecret = 8

// private is what only the hub and the account's provider, or the proxy in front of it, may know.
func private(p *router.Profile) []string {
	texts := []string{p.Credential.Reveal()}
	for _, values := range p.Headers {
		texts = append(texts, values...)
	}
	if proxy, err := url.Parse(p.ProxyURL); err == nil {
		password, _ := proxy.User.Password()
		texts = append(texts, password, base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password)))
	}
	return texts
}

// statusOf is the status of an error that came under a status a client would misread.
func statusOf(c quota.Class) int {
	if c == quota.RequestTooLarge {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

func codeOf(c quota.Class) code {
	switch c {
	case quota.RequestTooLarge:
		return codeBodyTooLarge
	case quota.ContextTooLong:
		return codeContextTooLong
	default:
		return codeInvalidRequest
	}
}

// plainMessage finds the words in an error body that is not legible; a page or a riddle has none.
func plainMessage(body []byte) string {
	const limit = 500
	for _, path := range []string{"error.message", "response.error.message", "message", "detail", "error"} {
		if m := gjson.GetBytes(body, path); m.Type == gjson.String && m.Str != "" && gjson.ValidBytes(body) {
			return m.Str[:min(len(m.Str), limit)]
		}
	}
	return "it gave no reason"
}
