package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Probe is what Hermes finds out of an endpoint before it talks to it.
type Probe struct {
	Server    string // the local server it takes the endpoint for: lm-studio, ollama, llamacpp, vllm, "" = none
	Catalogue Catalogue
	Asked     []string // "GET /api/tags 404 application/json", in order
}

// Probe asks what Hermes asks of an endpoint on a local host: which server it is, the first sign deciding, then its models,
// with /v1 and, when that fails, without.
func (a *Agent) Probe(ctx context.Context) (Probe, error) {
	root := strings.TrimSuffix(a.BaseURL, "/v1")
	var p Probe
	get := func(url string) (status int, body []byte, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, nil, err
		}
		a.dress(req)
		res, err := a.Transport.RoundTrip(req)
		if err != nil {
			return 0, nil, err
		}
		defer res.Body.Close()
		body, err = io.ReadAll(res.Body)
		p.Asked = append(p.Asked, fmt.Sprintf("GET %s %d %s", req.URL.Path, res.StatusCode, res.Header.Get("Content-Type")))
		return res.StatusCode, body, err
	}
	for _, sign := range []struct {
		path, server string
		shows        func([]byte) bool
	}{
		{"/api/v1/models", "lm-studio", func([]byte) bool { return true }},
		{"/api/tags", "ollama", holds("models")},
		{"/v1/props", "llamacpp", showsSettings},
		{"/props", "llamacpp", showsSettings},
		{"/version", "vllm", holds("version")},
	} {
		status, body, err := get(root + sign.path)
		if err != nil {
			return p, err
		}
		if status == http.StatusOK && sign.shows(body) {
			p.Server = sign.server
			break
		}
	}
	for _, base := range []string{a.BaseURL, root} {
		status, body, err := get(base + "/models")
		if err != nil {
			return p, err
		}
		if status == http.StatusOK {
			p.Catalogue, err = ReadModels(body)
			return p, err
		}
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			return p, nil
		}
	}
	return p, nil
}

// holds reports whether a body is an object with the member.
func holds(member string) func([]byte) bool {
	return func(body []byte) bool {
		var object map[string]json.RawMessage
		return json.Unmarshal(body, &object) == nil && object[member] != nil
	}
}

func showsSettings(body []byte) bool {
	return strings.Contains(string(body), "default_generation_settings")
}
