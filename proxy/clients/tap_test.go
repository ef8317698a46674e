package clients

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// tap stands between a client and the hub and remembers what was asked, also what the hub's log leaves out. Streams pass as
// they come, and a cut one is cut.
type tap struct {
	url string

	mu    sync.Mutex
	calls []string // "GET /v1/models 200", but for chat
}

func (h *hub) tap(t *testing.T) *tap {
	t.Helper()
	target, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval:  -1,
		ModifyResponse: p.remember,
		ErrorLog:       log.New(io.Discard, "", 0),
	})
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *tap) remember(r *http.Response) error {
	path := r.Request.URL.Path
	if strings.HasSuffix(path, "/chat/completions") {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, r.Request.Method+" "+path+" "+strconv.Itoa(r.StatusCode))
	return nil
}

// probes are the kinds of calls there were below the path: "GET v1/models 200".
func (p *tap) probes(path string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, call := range p.calls {
		if before, after, ok := strings.Cut(call, path); ok {
			all = append(all, before+after)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
