package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serving is a Prober of one account of OpenCode Go that asks a real server. Models are answered by it alone.
func serving(t *testing.T, usage http.HandlerFunc) *Prober {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /zen/go/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, openCodeModels) })
	mux.HandleFunc("GET /zen/go/v1/usage", usage)
	mux.HandleFunc("/elsewhere", func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s of the redirect was asked with %q", r.URL, r.Header.Get("Authorization"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a := opencode("a")
	a.BaseURL = server.URL
	return prober(t, server.Client().Transport, key, nil, a)
}

// TestWire: what comes over a real connection, whole and broken.
func TestWire(t *testing.T) {
	zipped := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return b.Bytes()
	}
	bomb := zipped(strings.Repeat(" ", 64<<20))
	long := openCodeUsage[:len(openCodeUsage)-1] + `,"x":"` + strings.Repeat("x", 100<<10) + `"}`
	for _, c := range []struct {
		name, header string
		status       int
		body         []byte
		want         string
	}{
		{"plain", "", 200, []byte(openCodeUsage), "measured"},
		{"gzip", "Content-Encoding: gzip", 200, zipped(openCodeUsage), "measured"},
		{"gzip without a label", "", 200, zipped(openCodeUsage), "measured"},
		{"a label without gzip", "Content-Encoding: gzip", 200, []byte(openCodeUsage), "measured"},
		{"byte-order mark", "", 200, []byte("\ufeff" + openCodeUsage), "measured"},
		{"half a gzip", "Content-Encoding: gzip", 200, zipped(openCodeUsage)[:40], "failed (probe a: ask for usage: no_answer)"},
		{"gzip of 64 MiB", "Content-Encoding: gzip", 200, bomb, "failed (probe a: ask for usage: too_large)"},
		{"2 MiB", "", 200, bytes.Repeat([]byte("[1]"), 700<<10), "failed (probe a: ask for usage: too_large)"},
		{"more than is looked at", "", 200, []byte(long), "failed (probe a: ask for usage: too_large)"},
		{"2 MiB of a page", "Content-Type: text/html", 503, bytes.Repeat([]byte("<p>quota exceeded</p>"), 100<<10), "failed (probe a: ask for usage: status:503)"},
		{"cut", "Content-Length: 4000", 200, []byte(openCodeUsage), "failed (probe a: ask for usage: no_answer)"},
		{"garbage", "", 200, []byte("\x00\x01\x02\xff\xfe"), "failed"},
		{"a page", "Content-Type: text/html", 200, []byte("<!DOCTYPE html><title>Sign in</title>"), "failed"},
		{"nothing", "", 200, nil, "failed"},
		{"redirect", "Location: /elsewhere", 307, nil, "failed (probe a: ask for usage: redirect)"},
		{"moved", "Location: /elsewhere", 301, nil, "failed (probe a: ask for usage: redirect)"},
	} {
		p := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			if name, value, ok := strings.Cut(c.header, ": "); ok {
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
			_, _ = w.Write(c.body)
		})
		r := refresh(t, p, "a", false)
		if first, _, _ := strings.Cut(tell(r), "\n"); !strings.HasPrefix(first, c.want) || len(r.Models) != 2 {
			t.Errorf("%s: %s, want %s", c.name, tell(r), c.want)
		}
	}
}

// TestNamesItself: every request says whose it is and nothing else, and carries the credential as the account's own.
func TestNamesItself(t *testing.T) {
	var got http.Header
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header
		return answer(500, ""), nil
	})
	f := func(target Target, credential keys, want string) {
		t.Helper()
		target.Profile = "a"
		refresh(t, prober(t, transport, credential, nil, target), "a", true)
		var b bytes.Buffer
		if err := got.Write(&b); err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimSpace(strings.ReplaceAll(b.String(), "\r\n", "\n")); text != want {
			t.Errorf("%s sends\n%s\nwant\n%s", target.Provider, text, want)
		}
	}
	const ours = "Accept: application/json\nAccept-Encoding: gzip\n"
	f(Target{Provider: "claude"}, oauth, ours+"Anthropic-Beta: oauth-2025-04-20\nAuthorization: Bearer oauth-canary\nUser-Agent: hermes-hub/1.2.3")
	f(Target{Provider: "openai-codex"}, oauth, ours+"Authorization: Bearer oauth-canary\nChatgpt-Account-Id: acc-1\nUser-Agent: hermes-hub/1.2.3")
	f(Target{Provider: "antigravity"}, oauth, ours+"Authorization: Bearer oauth-canary\nContent-Type: application/json\nUser-Agent: hermes-hub/1.2.3")
	f(Target{Provider: "opencode-go"}, oauth, ours+"Authorization: Bearer oauth-canary\nUser-Agent: hermes-hub/1.2.3")
	f(Target{Provider: "gemini", ServiceURL: "https://generativelanguage.googleapis.com/v1beta"}, keys{Header: "X-Goog-Api-Key", Authorization: "AIza"},
		ours+"User-Agent: hermes-hub/1.2.3\nX-Goog-Api-Key: AIza")
	f(Target{Provider: "ollama", ServiceURL: "http://127.0.0.1:11434/v1"}, keys{}, ours+"User-Agent: hermes-hub/1.2.3")
}

// TestErrorsTellNothing: no address and no credential stands in the text of an error.
func TestErrorsTellNothing(t *testing.T) {
	for _, transport := range []roundTrip{
		func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("dial %s as sk-canary", r.URL.Host)
		},
		func(*http.Request) (*http.Response, error) {
			return answer(401, `{"error":{"code":"sk-canary","message":"key sk-canary of https://opencode.ai is invalid"}}`), nil
		},
	} {
		r := refresh(t, prober(t, transport, key, nil, opencode("a")), "a", false)
		if r.Err == nil || strings.Contains(r.Err.Error(), "canary") || strings.Contains(r.Err.Error(), "opencode.ai") {
			t.Errorf("the error is %v", r.Err)
		}
	}
	broken := opencode("a")
	broken.BaseURL = "http://user:sk-canary@[::1"
	if r := refresh(t, prober(t, nil, key, nil, broken), "a", false); r.Outcome != Failed || strings.Contains(r.Err.Error(), "canary") {
		t.Errorf("a broken address: %s", tell(r))
	}
}
