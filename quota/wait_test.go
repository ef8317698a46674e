package quota

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// headers makes a header of "name: value" lines.
func headers(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return h
}

// TestWaitPrecedence: of several hints the most exact counts, and one that cannot be true is passed over (Q10).
func TestWaitPrecedence(t *testing.T) {
	limited := `{"error":{"message":"Rate limit exceeded, try again in 40s","type":"rate_limit_error"}}`
	for name, c := range map[string]struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		"instant in the body first": {
			headers("Retry-After: 5"), `{"error":{"type":"usage_limit_reached","message":"x","resets_at":1784981100,"resets_in_seconds":7}}`, 5 * time.Minute,
		},
		"passed instant in the body":      {headers("Retry-After: 5"), `{"error":{"type":"usage_limit_reached","resets_at":1700000000}}`, 5 * time.Second},
		"milliseconds before seconds":     {headers("Retry-After: 1", "Retry-After-Ms: 494"), limited, 494 * time.Millisecond},
		"seconds before the body's delay": {headers("Retry-After: 20"), `{"error":{"type":"rate_limit_error","retry_after":30}}`, 20 * time.Second},
		"the body's delay":                {nil, `{"error":{"type":"rate_limit_error","retry_after":30}}`, 30 * time.Second},
		"the body's delay at the top":     {nil, `{"error":{"type":"rate_limit_error"},"retry_after":"2.5"}`, 2500 * time.Millisecond},
		"the body's delay in ms":          {nil, `{"error":{"type":"rate_limit_error","retry_after_ms":1234.5}}`, 1235 * time.Millisecond},
		"resets_in_seconds of a limit":    {nil, `{"error":{"type":"usage_limit_reached","resets_in_seconds":90}}`, 90 * time.Second},
		"resets_in_seconds of no limit":   {nil, `{"error":{"type":"server_error","resets_in_seconds":90}}`, 0},
		"spent bucket before words":       {headers("X-Ratelimit-Limit: 60", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 50"), limited, 50 * time.Second},
		"unspent bucket is no wait":       {headers("X-Ratelimit-Limit: 60", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 50"), limited, 40 * time.Second},
		"last of the spent buckets": {
			headers("X-Ratelimit-Limit-A: 1", "X-Ratelimit-Remaining-A: 0", "X-Ratelimit-Reset-A: 9s", "X-Ratelimit-Limit-B: 1", "X-Ratelimit-Remaining-B: 0", "X-Ratelimit-Reset-B: 3s"),
			`{}`, 9 * time.Second,
		},
		"words":                  {nil, limited, 40 * time.Second},
		"Retry-After 0":          {headers("Retry-After: 0"), `{}`, 0},
		"Retry-After 0 in ms":    {headers("Retry-After-Ms: 0", "Retry-After: 3"), `{}`, 3 * time.Second},
		"Retry-After negative":   {headers("Retry-After: -5"), `{}`, 0},
		"Retry-After NaN":        {headers("Retry-After: NaN"), `{}`, 0},
		"Retry-After infinite":   {headers("Retry-After: Inf"), `{}`, 0},
		"Retry-After exponent":   {headers("Retry-After: 1e3"), `{}`, 0},
		"Retry-After garbage":    {headers("Retry-After: soon"), `{}`, 0},
		"Retry-After far ahead":  {headers("Retry-After: 34560001"), `{}`, 0}, // 400 days and a second
		"Retry-After of a week":  {headers("Retry-After: 604800"), `{}`, 7 * 24 * time.Hour},
		"Retry-After passed":     {headers("Retry-After: Sat, 25 Jul 2026 11:59:00 GMT"), `{}`, 0},
		"Retry-After IMF":        {headers("Retry-After: Sat, 25 Jul 2026 12:00:30 GMT"), `{}`, 30 * time.Second},
		"Retry-After RFC 850":    {headers("Retry-After: Saturday, 25-Jul-26 12:01:00 GMT"), `{}`, time.Minute},
		"Retry-After asctime":    {headers("Retry-After: Sat Jul 25 12:02:00 2026"), `{}`, 2 * time.Minute},
		"Retry-After RFC 3339":   {headers("Retry-After: 2026-07-25T12:03:00Z"), `{}`, 3 * time.Minute},
		"Retry-After epoch":      {headers("Retry-After: 1784981100"), `{}`, 5 * time.Minute},
		"Retry-After epoch ms":   {headers("Retry-After: 1784981100000"), `{}`, 5 * time.Minute},
		"Retry-After with unit":  {headers("Retry-After: 30s"), `{}`, 30 * time.Second},
		"Retry-After float":      {headers("Retry-After: 0.05"), `{}`, 50 * time.Millisecond},
		"Retry-After with space": {headers("Retry-After:  20 "), `{}`, 20 * time.Second},
		"the server's own clock": {headers("Date: Sat, 25 Jul 2026 12:10:00 GMT", "Retry-After: Sat, 25 Jul 2026 12:10:30 GMT"), `{}`, 30 * time.Second},
	} {
		got := Read(Response{Provider: "x", Status: 429, Header: c.header, Body: []byte(c.body), At: noon})
		if got.RetryAfter != c.want {
			t.Errorf("%s: %v, want %v", name, got.RetryAfter, c.want)
		}
		if want := noon.Add(c.want); c.want > 0 && !got.ResetAt.Equal(want) || c.want == 0 && !got.ResetAt.IsZero() {
			t.Errorf("%s: reset at %v, want %v", name, got.ResetAt, want)
		}
	}
}

// TestWaitNeedsAClock: without the instant of the answer a relative wait stays one, and an absolute one is unknown.
func TestWaitNeedsAClock(t *testing.T) {
	for value, want := range map[string]time.Duration{"20": 20 * time.Second, "1784981100": 0} {
		got := Read(Response{Status: 429, Header: headers("Retry-After: " + value)})
		if got.RetryAfter != want || !got.ResetAt.IsZero() {
			t.Errorf("Retry-After %s: %v and %v, want %v and no instant", value, got.RetryAfter, got.ResetAt, want)
		}
	}
}

// TestWaitOnlyWhereItCures: a wait beside trouble that waiting does not cure is none, unless a header is there for it.
func TestWaitOnlyWhereItCures(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		header http.Header
		class  Class
		want   time.Duration
	}{
		{400, `{"error":{"code":"context_length_exceeded","message":"try again in 5s"}}`, headers("Retry-After: 5"), ContextTooLong, 0},
		{400, `{"error":{"code":"invalid_value","message":"try again in 5s"}}`, headers("Retry-After: 5"), InvalidRequest, 0},
		{401, `{"error":{"message":"try again in 5s"}}`, nil, AuthInvalid, 0},
		{429, `{"error":{"code":"insufficient_quota","message":"x"}}`, headers("X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 9"), Billing, 0},
		{503, ``, headers("Retry-After: 5"), Overloaded, 5 * time.Second},
		{429, `{}`, headers("Retry-After: 5", "X-Should-Retry: true"), RateLimited, 5 * time.Second},
	} {
		got := Read(Response{Status: c.status, Header: c.header, Body: []byte(c.body), At: noon})
		if got.Class != c.class || got.RetryAfter != c.want {
			t.Errorf("%d %s: %s after %v, want %s after %v", c.status, c.body, got.Class, got.RetryAfter, c.class, c.want)
		}
	}
}

// TestShouldRetry: the header withdraws the invitation to the same account but not what is known of the window, and marks
// a conflict that heals.
func TestShouldRetry(t *testing.T) {
	got := Read(Response{Status: 429, Header: headers("Retry-After: 5", "X-Should-Retry: false"), At: noon})
	if got.RetryAfter != 0 || !got.ResetAt.Equal(noon.Add(5*time.Second)) {
		t.Errorf("withdrawn: %v and %v", got.RetryAfter, got.ResetAt)
	}
	for value, want := range map[string]Class{"true": ServerError, "false": InvalidRequest, "": InvalidRequest} {
		if got := Read(Response{Status: 422, Header: headers("X-Should-Retry: " + value), Body: []byte(`{"error":{"message":"Conflict"}}`), At: noon}); got.Class != want {
			t.Errorf("422 with x-should-retry %q is %s, want %s", value, got.Class, want)
		}
	}
}
