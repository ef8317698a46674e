package main

import (
	"fmt"
	"strings"
	"time"

	"hermes-hub/quota"
)

// prettyReading tells a reading in a few lines for people.
func prettyReading(q quotaQuestion, r quota.Reading) string {
	var b strings.Builder
	if q.ID != nil {
		fmt.Fprintf(&b, "%s: ", *q.ID)
	}
	fmt.Fprintf(&b, "%s %d means %s", q.Provider, q.Status, r.Class)
	if r.Class != quota.OK {
		fmt.Fprintf(&b, " of the %s", strings.ReplaceAll(string(r.Scope), "_", " "))
		if r.Family != "" && r.Family != quota.Variant {
			fmt.Fprintf(&b, " %s", r.Family)
		}
		if r.Reason != "" {
			fmt.Fprintf(&b, " (%s)", r.Reason)
		}
		b.WriteString("; another account " + map[bool]string{true: "may help", false: "would not help"}[r.Failover])
	}
	b.WriteByte('\n')
	if r.RetryNow {
		b.WriteString("  the same account is invited back at once\n")
	}
	if r.RetryAfter > 0 {
		fmt.Fprintf(&b, "  the same account is invited back in %s\n", r.RetryAfter)
	}
	if !r.ResetAt.IsZero() {
		fmt.Fprintf(&b, "  usable again at %s\n", r.ResetAt.UTC().Format(time.RFC3339Nano))
	}
	for _, bucket := range r.Buckets {
		b.WriteString("  " + prettyBucket(bucket) + "\n")
	}
	return b.String()
}

// prettyBucket tells one window in a line: "openai.tokens: 25% left (10 of 40), resets at …".
func prettyBucket(bucket quota.Bucket) string {
	left := "unknown remainder"
	if bucket.RemainingPercent.Known {
		left = fmt.Sprintf("%.4g%% left", bucket.RemainingPercent.Value)
	}
	switch {
	case bucket.Remaining.Known && bucket.Limit.Known:
		left += fmt.Sprintf(" (%.10g of %.10g)", bucket.Remaining.Value, bucket.Limit.Value)
	case bucket.Remaining.Known:
		left += fmt.Sprintf(" (%.10g)", bucket.Remaining.Value)
	case bucket.Limit.Known:
		left += fmt.Sprintf(" of %.10g", bucket.Limit.Value)
	}
	if !bucket.ResetAt.IsZero() {
		left += ", resets at " + bucket.ResetAt.UTC().Format(time.RFC3339Nano)
	}
	return bucket.ID + ": " + left
}
