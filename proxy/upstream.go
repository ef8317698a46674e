package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hermes-hub/router"
)

// anthropicVersion is what an account of Anthropic's protocol is told where the client said nothing: it needs one, and
// this is the one that every such server knows.
const anthropicVersion = "2023-06-01"

// oauthBeta is what Anthropic wants to hear of with a token that somebody has signed in for.
const oauthBeta = "oauth-2025-04-20"

// upstreamRequest builds the request to an account: the only place where one is built, and where a credential is revealed.
// It starts from nothing and takes what it needs, so that nothing of the client's can slip through: neither its
// credentials nor a header that would strip ours.
//
// The transport gets a body that belongs to it alone: golang/go#40747 cuts streams whose upstream answers while the
// client's body is still being read.
func upstreamRequest(ctx context.Context, p *router.Profile, with Credential, c *call, client http.Header, agent string) (*http.Request, error) {
	target, err := url.Parse(address(p, c.path))
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8+len(p.Headers))
	if c.codec == nil {
		copyListed(h, client, toUpstream[p.Protocol])
	}
	h["Content-Type"] = []string{"application/json"}
	h["Accept"] = []string{"application/json"}
	if c.stream {
		h["Accept"] = []string{"text/event-stream"}
	}
	h["Accept-Encoding"] = []string{"identity"}
	h["User-Agent"] = []string{agent}
	authorize(h, p, with)
	for name, values := range p.Headers {
		if name == headerAnthropicBeta {
			values = bothBetas(h[name], values)
		}
		h[name] = values
	}
	body := c.body
	req := &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          target.Host,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        h,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	return req.WithContext(ctx), nil
}

// address is where a call to an account goes. Anthropic's base URL ends in front of /v1, but many servers that speak its
// protocol publish theirs with it.
func address(p *router.Profile, path string) string {
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok && strings.HasSuffix(p.BaseURL, "/v1") {
		path = "/" + rest
	}
	return p.BaseURL + path
}

// authorize says by what right the account is called.
func authorize(h http.Header, p *router.Profile, with Credential) {
	if p.Protocol == router.ProtocolMessages {
		if h[headerAnthropicVersion] == nil {
			h[headerAnthropicVersion] = []string{anthropicVersion}
		}
		if with.OAuth {
			h[headerAnthropicBeta] = bothBetas(h[headerAnthropicBeta], []string{oauthBeta})
		}
	}
	if with.AccountID != "" && p.Provider.Codex {
		h[headerChatGPTAccount] = []string{with.AccountID}
	}
	if with.Token.Empty() {
		return
	}
	name, value := "Authorization", with.Token.Reveal()
	switch style(p, with) {
	case router.AuthXAPIKey:
		name = "X-Api-Key"
	case router.AuthGoogKey:
		name = "X-Goog-Api-Key"
	case router.AuthAPIKey:
		name = "Api-Key"
	default:
		value = "Bearer " + value
	}
	h[name] = []string{value}
}

// style is how an account's credential travels: a token as a bearer; a key its provider's way in its provider's protocol,
// else the way of the protocol.
func style(p *router.Profile, with Credential) router.Auth {
	switch {
	case with.OAuth:
		return router.AuthBearer
	case p.Protocol == p.Provider.Protocol:
		return p.Provider.Auth
	case p.Protocol == router.ProtocolMessages:
		return router.AuthXAPIKey
	case p.Protocol == router.ProtocolGemini:
		return router.AuthGoogKey
	default:
		return router.AuthBearer
	}
}

// bothBetas is what the client wants of Anthropic's betas, byte for byte, and what the account needs on top.
func bothBetas(wanted, needed []string) []string {
	if len(wanted) == 0 {
		return needed
	}
	all := strings.Join(wanted, ",")
	for _, n := range needed {
		for beta := range strings.SplitSeq(n, ",") {
			if beta = strings.TrimSpace(beta); !slices.Contains(strings.FieldsFunc(all, isListGap), beta) {
				all += "," + beta
			}
		}
	}
	return []string{all}
}

func isListGap(r rune) bool { return r == ',' || r == ' ' }
