package quota

import (
	"bytes"
	"encoding/base64"
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
	Encoding string            `json:"body_encoding"` // "base64" where the bytes are compressed
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
	body := []byte(c.Body)
	if c.Encoding == "base64" {
		body, _ = base64.StdEncoding.DecodeString(c.Body) // recordedCases has tried it
	}
	return Response{Provider: c.Provider, Status: c.Status, Header: h, Body: body, At: c.At}
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
			if c.Encoding == "base64" {
				if _, err := base64.StdEncoding.DecodeString(c.Body); err != nil {
					t.Fatalf("%s: %s: %v", file, c.ID, err)
				}
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// TestRecordedCases reads what providers really sent, each provider's file beside the others (Q01–Q10, P22–P24).
func TestRecordedCases(t *testing.T) {
	for _, c := range recordedCases(t) {
		t.Run(c.Provider+"/"+c.ID, func(t *testing.T) {
			got, want := Read(c.response()), c.Expect
			if got.Class != want.Class && !slices.Contains(want.AltClass, got.Class) {
				t.Errorf("class %s, want %s (%s)", got.Class, want.Class, got.Reason)
			}
			if got.Class == want.Class && (got.Scope != want.Scope || got.Failover != want.Failover) {
				t.Errorf("scope %s failover %v, want %s %v", got.Scope, got.Failover, want.Scope, want.Failover)
			}
			if said := got.RetryAfter > 0 || got.RetryNow; said != (want.RetryMS != nil) || said && math.Abs(float64(got.RetryAfter)/1e6-*want.RetryMS) > tolerance {
				t.Errorf("retry after %v (now: %v), want %v ms", got.RetryAfter, got.RetryNow, want.RetryMS)
			}
			if !sameInstant(got.ResetAt, want.ResetAt) {
				t.Errorf("reset at %v, want %v", got.ResetAt, want.ResetAt)
			}
			for _, b := range want.Buckets {
				if !slices.ContainsFunc(got.Buckets, b.matches) {
					t.Errorf("bucket %+v is not among %+v", b, got.Buckets)
				}
			}
			for _, b := range got.Buckets {
				// A window that the answer names as spent is told as such; numbers are the answer's own.
				named := b.isSpent() && !b.Limit.Known && !b.Remaining.Known
				if !named && !slices.ContainsFunc(want.Buckets, func(w recordedBucket) bool { return w.matches(b) }) {
					t.Errorf("bucket %+v is invented", b)
				}
			}
			if got.Class != OK && (got.Reason == "" || got.Source != SourceRuntimeEvent) {
				t.Errorf("reason %q source %q of a failure", got.Reason, got.Source)
			}
		})
	}
}

// tolerance is how many milliseconds a recorded wait and ours may differ: servers cut off what is below a second.
const tolerance = 1100

// matches reports whether a bucket says what is recorded. What the recording leaves open may be anything.
func (b recordedBucket) matches(got Bucket) bool {
	return sameNumber(got.UsedPercent, b.UsedPercent) && sameNumber(got.RemainingPercent, b.RemainingPercent) &&
		sameNumber(got.Limit, b.Limit) && sameNumber(got.Remaining, b.Remaining) && (b.ResetAt == nil || sameInstant(got.ResetAt, b.ResetAt))
}

func sameNumber(got Number, want *float64) bool {
	return want == nil || got.Known && math.Abs(got.Value-*want) < 0.6
}

func sameInstant(got time.Time, want *time.Time) bool {
	if want == nil {
		return got.IsZero()
	}
	return got.Sub(*want).Abs() <= tolerance*time.Millisecond
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
	}
	if names != len(dialectByName) {
		t.Errorf("%d names lead to %d entries: one is there twice", names, len(dialectByName))
	}
}
