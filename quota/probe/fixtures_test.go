package probe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/quota"
)

// noon is when everything happens that has no clock of its own.
var noon = time.Date(2026, time.July, 25, 12, 0, 0, 0, time.UTC)

// roundTrip is a transport that a test writes.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is a response as a transport gives it.
func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// answering is a transport that gives every request the same, and counts them.
func answering(calls *counter, status int, body string, header ...string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		calls.add(1)
		return answer(status, body, header...), nil
	}
}

// counter counts.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
}

func (c *counter) take() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = 0
	return n
}

// keys are the same credential for every profile.
type keys Credential

func (k keys) Current(context.Context, string) (Credential, error) { return Credential(k), nil }

func (k keys) Refused(context.Context, string, Credential) (Credential, bool) {
	return Credential{}, false
}

var (
	key   = keys{Authorization: "Bearer sk-canary"}
	oauth = keys{Authorization: "Bearer oauth-canary", OAuth: true, AccountID: "acc-1"}
)

// reports collects what a Prober reports.
type reports struct {
	mu   sync.Mutex
	list []Result
}

func (r *reports) add(result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, result)
}

func (r *reports) take() []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// prober is a Prober of the targets that logs to the test.
func prober(t testing.TB, transport http.RoundTripper, credentials Credentials, report func(Result), targets ...Target) *Prober {
	t.Helper()
	p := New(Options{
		Transport: func(string) http.RoundTripper { return transport }, UserAgent: "hermes-hub/1.2.3", Credentials: credentials,
		Report: report, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Jitter: func() float64 { return 0 },
	})
	p.Configure(targets)
	return p
}

// opencode is an account whose row has two steps, without anything particular about it.
func opencode(profile string) Target {
	return Target{Profile: profile, Provider: "opencode-go", ServiceURL: "https://opencode.ai/zen/go/v1"}
}

const (
	openCodeModels = `{"object":"list","data":[{"id":"kimi-k3"},{"id":"glm-6"}]}`
	openCodeUsage  = `{"usage":{"rolling":{"status":"ok","percent":4,"resetsAt":"2026-07-25T14:00:00Z"},"weekly":{"percent":3}}}`
)

// openCode answers as OpenCode Go does.
func openCode(calls *counter) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		calls.add(1)
		if strings.HasSuffix(r.URL.Path, "/models") {
			return answer(200, openCodeModels), nil
		}
		return answer(200, openCodeUsage), nil
	}
}

// refresh looks at a profile and fails the test when nothing comes of it.
func refresh(t testing.TB, p *Prober, profile string, force bool) Result {
	t.Helper()
	r, err := p.Refresh(t.Context(), profile, force)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tell writes a result as text: the outcome and why, and a line for everything it holds.
func tell(r Result) string {
	var b strings.Builder
	b.WriteString(string(r.Outcome))
	if r.Err != nil {
		fmt.Fprintf(&b, " (%v)", r.Err)
	}
	for _, reading := range r.Readings {
		for _, bucket := range reading.Buckets {
			b.WriteString("\n  " + tellBucket(bucket))
		}
	}
	line := func(name, value string) {
		if value != "" {
			b.WriteString("\n  " + name + ": " + value)
		}
	}
	line("models", strings.Join(r.Models, " "))
	line("plan", strings.TrimSpace(r.Plan+" "+r.PlanSource))
	line("project", r.Project)
	line("ru", r.UnavailableRU)
	line("en", r.UnavailableEN)
	return b.String()
}

// tellBucket is "id remaining/limit percent% @reset", "?" for what is unknown.
func tellBucket(b quota.Bucket) string {
	number := func(n quota.Number) string {
		if !n.Known {
			return "?"
		}
		return fmt.Sprintf("%.5g", n.Value)
	}
	text := fmt.Sprintf("%s %s/%s %s%%", b.ID, number(b.Remaining), number(b.Limit), number(b.RemainingPercent))
	if !b.ResetAt.IsZero() {
		text += " @" + b.ResetAt.UTC().Format("2006-01-02T15:04:05")
	}
	return text
}

// sent is a request as text: "METHOD address body".
func sent(t testing.TB, r *http.Request) string {
	t.Helper()
	text := r.Method + " " + r.URL.String()
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		text += " " + string(bytes.TrimSpace(body))
	}
	return text
}
