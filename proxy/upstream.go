package proxy

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"

	"hermes-hub/router"
)

// upstreamRequest builds the request to an account: the only place where one is built, and where a credential is revealed.
// It starts from nothing and takes what it needs, so that nothing of the client's can slip through: neither its
// credentials nor a header that would strip ours.
//
// The transport gets a body that belongs to it alone: golang/go#40747 cuts streams whose upstream answers while the
// client's body is still being read.
func upstreamRequest(ctx context.Context, p *router.Profile, path string, body []byte, client http.Header, stream bool, agent string) (*http.Request, error) {
	target, err := url.Parse(p.BaseURL + path)
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8+len(p.Headers))
	copyListed(h, client, toUpstream[:])
	h["Content-Type"] = []string{"application/json"}
	h["Accept"] = []string{"application/json"}
	if stream {
		h["Accept"] = []string{"text/event-stream"}
	}
	h["Accept-Encoding"] = []string{"identity"}
	h["User-Agent"] = []string{agent}
	if !p.Credential.Empty() {
		h["Authorization"] = []string{"Bearer " + p.Credential.Reveal()}
	}
	maps.Copy(h, p.Headers)
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
