package quota

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// recordedCase is one line of testdata/*.jsonl: what a provider really sent, and what it means.
type recordedCase struct {
	ID       string            `json:"id"`
	Provider string            `json:"provider"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	At       time.Time         `json:"at"`
	Expect   struct {
		Class    Class            `json:"class"`
		AltClass []Class          `json:"alt_class"` // the response alone does not decide
		Scope    Scope            `json:"scope"`
		Failover bool             `json:"failover"`
		RetryMS  *float64         `json:"retry_same_after_ms"`
		ResetAt  *time.Time       `json:"reset_at"`
		Buckets  []recordedBucket `json:"buckets"`
	} `json:"expect"`
}

type recordedBucket struct {
	UsedPercent      *float64   `json:"used_percent"`
	RemainingPercent *float64   `json:"remaining_percent"`
	Limit            *float64   `json:"limit"`
	Remaining        *float64   `json:"remaining"`
	ResetAt          *time.Time `json:"reset_at"`
}

func (c recordedCase) response() Response {
	h := make(http.Header)
	for k, v := range c.Headers {
		h.Set(k, v)
	}
	return Response{Provider: c.Provider, Status: c.Status, Header: h, Body: []byte(c.Body), At: c.At}
}

// recordedCases loads every case of testdata.
func recordedCases(t testing.TB) []recordedCase {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded cases: %v", err)
	}
	var cases []recordedCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var c recordedCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// TestRecordedCases reads what providers really sent (Q08, P22, P23, P24 and the traps of the error corpus).
func TestRecordedCases(t *testing.T) {
	for _, c := range recordedCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			got, want := Read(c.response()), c.Expect
			if got.Class != want.Class && !slices.Contains(want.AltClass, got.Class) {
				t.Errorf("class %s, want %s (%s)", got.Class, want.Class, got.Reason)
			}
			if got.Class == want.Class && (got.Scope != want.Scope || got.Failover != want.Failover) {
				t.Errorf("scope %s failover %v, want %s %v", got.Scope, got.Failover, want.Scope, want.Failover)
			}
			if ms := float64(got.RetryAfter) / 1e6; want.RetryMS == nil && ms != 0 || want.RetryMS != nil && math.Abs(ms-*want.RetryMS) > 1 {
				t.Errorf("retry after %v, want %v ms", got.RetryAfter, want.RetryMS)
			}
			if !sameInstant(got.ResetAt, want.ResetAt) {
				t.Errorf("reset at %v, want %v", got.ResetAt, want.ResetAt)
			}
			if len(got.Buckets) != len(want.Buckets) {
				t.Errorf("%d buckets, want %d: %+v", len(got.Buckets), len(want.Buckets), got.Buckets)
			}
			for _, b := range want.Buckets {
				if !slices.ContainsFunc(got.Buckets, b.matches) {
					t.Errorf("bucket %+v is not among %+v", b, got.Buckets)
				}
			}
			if got.Class != OK && (got.Reason == "" || got.Source != SourceRuntimeEvent) {
				t.Errorf("reason %q source %q of a failure", got.Reason, got.Source)
			}
		})
	}
}

func (b recordedBucket) matches(got Bucket) bool {
	return sameNumber(got.UsedPercent, b.UsedPercent) && sameNumber(got.RemainingPercent, b.RemainingPercent) &&
		sameNumber(got.Limit, b.Limit) && sameNumber(got.Remaining, b.Remaining) && sameInstant(got.ResetAt, b.ResetAt)
}

func sameNumber(got Number, want *float64) bool {
	if want == nil {
		return !got.Known
	}
	return got.Known && math.Abs(got.Value-*want) < 0.01
}

func sameInstant(got time.Time, want *time.Time) bool {
	if want == nil {
		return got.IsZero()
	}
	return got.Sub(*want).Abs() <= time.Millisecond
}

// TestDialectNames looks the names up that people and recordings use.
func TestDialectNames(t *testing.T) {
	for name, want := range map[string]string{
		"openai": "openai", "OpenAI": "openai", "grok": "xai", "xai-oauth": "xai", "codex": "openai-codex", "claude": "claude-subscription",
		"antigravity": "google-cloudcode", "nvidia": "nvidia-nim", "edge-html": "generic", "no-such-provider": "generic", "": "generic",
	} {
		if got := dialectOf(name).name; got != want {
			t.Errorf("dialect of %q is %s, want %s", name, got, want)
		}
	}
	names := 0
	for _, d := range dialects {
		names += 1 + len(d.aliases)
		if d.read == nil {
			t.Errorf("dialect %s has no reader", d.name)
		}
	}
	if names != len(dialectByName) {
		t.Errorf("%d names lead to %d entries: one is there twice", names, len(dialectByName))
	}
}
