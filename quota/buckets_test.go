package quota

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// tell writes buckets as text: "id limit/remaining left% @reset".
func tell(buckets []Bucket) string {
	number := func(n Number) string {
		if !n.Known {
			return "?"
		}
		return fmt.Sprintf("%.6g", n.Value)
	}
	parts := make([]string, 0, len(buckets))
	for _, b := range buckets {
		part := fmt.Sprintf("%s %s/%s %s%%", b.ID, number(b.Remaining), number(b.Limit), number(b.RemainingPercent))
		if !b.ResetAt.IsZero() {
			part += " @" + tellInstant(b.ResetAt)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// tellInstant writes an instant of noon's day as "T13:00:00", another with its date.
func tellInstant(t time.Time) string {
	text := strings.TrimSuffix(t.UTC().Format(time.RFC3339Nano), "Z")
	return strings.TrimPrefix(text, "2026-07-25")
}

// TestHeaderBuckets: the rate limit headers in the spellings and units in use.
func TestHeaderBuckets(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{
			headers("X-Ratelimit-Limit-Requests: 10000", "X-Ratelimit-Remaining-Requests: 9999", "X-Ratelimit-Reset-Requests: 6ms"),
			"p.requests 9999/10000 99.99% @T12:00:00.006",
		},
		{
			headers("X-Ratelimit-Limit-Tokens: 40", "X-Ratelimit-Remaining-Tokens: 10", "X-Ratelimit-Limit-Tokens-Usage-Based: 8", "X-Ratelimit-Remaining-Tokens-Usage-Based: 4"),
			"p.tokens 10/40 25%; p.tokens_usage_based 4/8 50%",
		},
		{headers("X-Ratelimit-Limit-Tokens_usage_based: 8", "X-Ratelimit-Remaining-Tokens_usage_based: 4"), "p.tokens_usage_based 4/8 50%"},
		{headers("X-Ratelimit-Limit: 60", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1784980700"), "p.ratelimit 0/60 0% @T11:58:20"},
		{headers("Ratelimit: limit=100, remaining=0, reset=50"), "p.ratelimit 0/100 0% @T12:00:50"},
		{headers(`Ratelimit: "default";r=50;t=30`), "p.ratelimit 50/? ?% @T12:00:30"},
		{headers("Ratelimit-Limit: 100, 100;w=60", "Ratelimit-Remaining: 25", "Ratelimit-Reset: 50"), "p.ratelimit 25/100 25% @T12:00:50"},
		{headers("Ratelimit-Limit: 7", "X-Ratelimit-Limit: 60", "X-Ratelimit-Remaining: 6"), "p.ratelimit 6/60 10%"},
		{headers("X-Ratelimit-Limit-Tokens: -1", "X-Ratelimit-Remaining-Tokens: -1", "X-Ratelimit-Reset-Tokens: 0"), ""}, // unknown
		{headers("X-Ratelimit-Limit-Tokens: 0", "X-Ratelimit-Remaining-Tokens: 0"), ""},
		{headers("X-Ratelimit-Limit-Requests: 5", "X-Ratelimit-Remaining-Requests: 9"), "p.requests 9/5 100%"},
		{headers("X-Ratelimit-Limit-Requests: many", "X-Ratelimit-Remaining-Requests: NaN"), ""},
		{headers("X-Ratelimit-Reset-Requests: 6ms"), ""},
		{headers("X-Ratelimit-Exceeded: daily", "X-Ratelimit-Limit-"+strings.Repeat("x", 90)+": 5"), ""},
		{nil, ""},
	} {
		if got := tell(headerBuckets(&dialect{name: "p"}, c.header, noon)); got != c.want {
			t.Errorf("%v: %q, want %q", c.header, got, c.want)
		}
	}
}

// TestProseBucket: what a refusal says in numbers, where no header does.
func TestProseBucket(t *testing.T) {
	for text, want := range map[string]string{
		"on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please":                     "p.tokens_per_minute 63/30000 0.21%",
		"on requests per day (RPD): Limit 10000, Used 10000, Requested 1.":                            "p.requests_per_day 0/10000 0%",
		"on tokens per min (TPM): Limit 30000, Requested 36278. The input":                            "p.tokens_per_minute ?/30000 ?%",
		"on requests per min. Limit: 3.000000 / min. Current: 3.000000 / min. Contact":                "p.requests_per_minute 0/3 0%",
		"on input tokens per min: Limit 1,000,000, Used 1,200,000, Requested ~5":                      "p.input_tokens_per_minute 0/1e+06 0%",
		"on tokens per min. Limit: 10000 / min. Please try again in 9.816s.":                          "", // no more than its limit
		"Limit 30000, Used 29937, Requested 385":                                                      "", // of which window?
		"Limited offer on tokens per day: Limit reached. Used cars.":                                  "",
		"on tokens per day (TPD): Limit x. And something else entirely. Limit 5, Used 1, Requested 1": "",
	} {
		got := ""
		if b, ok := rateUsageIn(text).bucket("p"); ok {
			got = tell([]Bucket{b})
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestReadHeaders: a good answer's headers measure; without any there is nothing to tell. The ids begin with the
// configuration's provider.
func TestReadHeaders(t *testing.T) {
	got := ReadHeaders("grok", headers("X-Ratelimit-Limit-Requests: 4", "X-Ratelimit-Remaining-Requests: 1"), noon)
	if got.Class != OK || got.Source != SourceProviderAPI || tell(got.Buckets) != "grok.requests 1/4 25%" {
		t.Errorf("%+v", got)
	}
	if got := ReadHeaders("openai", nil, noon); got.Class != OK || got.Source != SourceNone || got.Buckets != nil || got.Reason != "" {
		t.Errorf("%+v, want a plain success", got)
	}
}
