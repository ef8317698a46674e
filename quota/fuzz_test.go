package quota

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// FuzzRead: whatever an upstream sends, the reading keeps to its vocabulary and claims nothing impossible.
func FuzzRead(f *testing.F) {
	for _, c := range recordedCases(f) {
		f.Add(c.Provider, c.Status, c.Headers["retry-after"], c.Headers["x-ratelimit-reset"], c.Headers["content-encoding"], []byte(c.Body))
	}
	f.Add("generic", 429, "1e9", "-1", "gzip, br", []byte("\x1f\x8b\x08"))
	f.Add("openai", 200, "", "", "", []byte("event: error\ndata: [[[[{\"error\":\"{\\\"error\\\":{}}\"}]]]]\n\n"))
	f.Fuzz(func(t *testing.T, provider string, status int, retryAfter, reset, encoding string, body []byte) {
		h := http.Header{
			"Retry-After": {retryAfter}, "Retry-After-Ms": {reset}, "Ratelimit": {retryAfter}, "Content-Encoding": {encoding}, "Date": {retryAfter},
			"X-Ratelimit-Limit": {"60"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}, "X-Ratelimit-Exceeded": {retryAfter},
			"Anthropic-Ratelimit-Unified-5h-Status": {encoding}, "Anthropic-Ratelimit-Unified-5h-Reset": {reset}, "Anthropic-Ratelimit-Unified-7d-Utilization": {reset},
			"X-Codex-Primary-Used-Percent": {reset}, "X-Codex-Primary-Window-Minutes": {retryAfter}, "X-Codex-Primary-Reset-At": {retryAfter}, "X-Codex-Active-Limit": {encoding},
			"X-Quota-Snapshot-Chat": {retryAfter}, "X-Error-Json": {retryAfter}, "X-Amzn-Errortype": {encoding},
		}
		r := Read(Response{Provider: provider, Status: status, Header: h, Body: body, At: noon})
		if usualScopes[r.Class] == "" {
			t.Errorf("class %q", r.Class)
		}
		if !slices.Contains([]Scope{ScopeRequest, ScopeModel, ScopeFamily, ScopeAccount, ScopeProvider}, r.Scope) {
			t.Errorf("scope %q", r.Scope)
		}
		if !r.ResetAt.IsZero() && (!r.ResetAt.After(noon) || r.ResetAt.Sub(noon) > maxAhead+time.Millisecond) {
			t.Errorf("reset at %v", r.ResetAt)
		}
		if r.RetryAfter < 0 || r.RetryAfter > maxAhead+time.Millisecond {
			t.Errorf("retry after %v", r.RetryAfter)
		}
		if len(r.Buckets) > usageLimit || len(r.Reason) > 200 {
			t.Errorf("%d buckets, a reason of %d bytes", len(r.Buckets), len(r.Reason))
		}
		for _, b := range r.Buckets {
			if len(b.ID) > idLimit {
				t.Errorf("a bucket's id of %d bytes", len(b.ID))
			}
		}
		if r.Class == OK && (r.RetryAfter != 0 || !r.ResetAt.IsZero()) {
			t.Errorf("a success with a wait: %+v", r)
		}
		var s Standing
		s = s.Apply(r, Call{Model: provider, StartedAt: noon, At: noon}, testPolicy)
		if _, err := s.MarshalJSON(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzDuration: a duration is not negative and within reach, and what it leaves is a tail of what it got.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"6m0s", "10h 37m", "3 days 4 hours", "479.417207ms", "1.5.2s", "9999999999999h", "1 hour and 5", "µs1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, rest, ok := leadingDuration(s)
		if d < 0 || d > maxAhead || !ok && d != 0 {
			t.Errorf("%q is %v (%v)", s, d, ok)
		}
		if len(rest) > len(s) || s[len(s)-len(rest):] != rest {
			t.Errorf("%q leaves %q", s, rest)
		}
		if d, ok := proseDuration("try again in " + s); ok && (d <= 0 || d > maxAhead+time.Millisecond) {
			t.Errorf("%q is a wait of %v", s, d)
		}
	})
}

// FuzzInstant: an instant is a real one, in UTC; a reset lies within 400 days of the answer.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{"1749924000", "1744848000000", "2025-06-02T15:15:48Z", "Sat, 25 Jul 2026 12:10:30 GMT", "10:57 PM GMT-3", "2026-08-03 23:59:59 +0800 CST"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := parseInstant(s, nil); ok && (got.Location() != time.UTC || got.IsZero()) {
			t.Errorf("%q is %v", s, got)
		}
		if got, ok := parseReset(s, noon, nil); ok && got.Sub(noon).Abs() > maxAhead+time.Millisecond {
			t.Errorf("%q resets at %v", s, got)
		}
		if got, ok := proseInstant("resets at "+s, noon, nil); ok && got.Location() != time.UTC {
			t.Errorf("%q is %v", s, got)
		}
	})
}
