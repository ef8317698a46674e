package quota

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	bucketLimit = 16 // buckets of one answer
	windowLimit = 48 // bytes of a window's name
)

// readBuckets reads what the headers measure and, of a refusal whose headers measure nothing, what its words do.
func (a *answer) readBuckets() []Bucket {
	buckets := headerBuckets(a.Header, a.prefix, a.At)
	if len(buckets) == 0 {
		if b, ok := a.usage.bucket(a.prefix); ok {
			buckets = append(buckets, b)
		}
	}
	return buckets
}

// window collects the three headers of one window.
type window struct{ limit, remaining, reset string }

// headerBuckets reads `x-ratelimit-{limit,remaining,reset}[-<window>]` (OpenAI and most compatible providers) and the
// IETF's `ratelimit` and `ratelimit-{limit,remaining,reset}`. The window of headers without a name is "ratelimit".
func headerBuckets(h http.Header, prefix string, at time.Time) []Bucket {
	var windows map[string]window
	for key, values := range h {
		field, name, ok := rateHeader(key)
		if !ok || len(values) == 0 {
			continue
		}
		if windows == nil {
			windows = make(map[string]window)
		}
		windows[name] = windows[name].with(field, values[0])
	}
	if _, taken := windows["ratelimit"]; !taken {
		if w := ietfWindow(h); w != (window{}) {
			if windows == nil {
				windows = make(map[string]window)
			}
			windows["ratelimit"] = w
		}
	}
	if len(windows) == 0 {
		return nil
	}
	buckets := make([]Bucket, 0, len(windows))
	for name, w := range windows {
		if b, ok := w.bucket(prefix+"."+name, at); ok {
			buckets = append(buckets, b)
		}
	}
	slices.SortFunc(buckets, compareID)
	return buckets[:min(len(buckets), bucketLimit)]
}

// rateHeader splits the name of an x-ratelimit header: "X-Ratelimit-Reset-Tokens" is the reset of "tokens".
func rateHeader(key string) (field, name string, ok bool) {
	rest, ok := strings.CutPrefix(key, "X-Ratelimit-")
	if !ok || len(rest) > windowLimit {
		return "", "", false
	}
	field, name, named := strings.Cut(strings.ToLower(rest), "-")
	switch field {
	case "limit", "remaining", "reset":
	default:
		return "", "", false
	}
	if !named {
		name = "ratelimit"
	}
	return field, strings.ReplaceAll(name, "-", "_"), true
}

// with returns the window with one field set.
func (w window) with(field, value string) window {
	switch field {
	case "limit":
		w.limit = value
	case "remaining":
		w.remaining = value
	case "reset":
		w.reset = value
	}
	return w
}

// ietfWindow reads the headers of the IETF drafts: one structured header, or three.
func ietfWindow(h http.Header) window {
	if value := h.Get("Ratelimit"); value != "" {
		return structured(value)
	}
	return window{limit: h.Get("Ratelimit-Limit"), remaining: h.Get("Ratelimit-Remaining"), reset: h.Get("Ratelimit-Reset")}
}

// structured reads the IETF's single header in both of its forms: `limit=100, remaining=0, reset=50` and
// `"default";r=50;t=30`.
func structured(value string) window {
	var w window
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "limit", "q":
			w.limit = v
		case "remaining", "r":
			w.remaining = v
		case "reset", "t":
			w.reset = v
		}
	}
	return w
}

// bucket makes a Bucket of a window's headers. A window whose numbers are unknown (-1, empty, no limit) is none. The
// reset may have passed: that the window is full again is what the answer says.
func (w window) bucket(id string, at time.Time) (Bucket, bool) {
	b := Bucket{ID: id}
	// `100, 100;w=60` of the older IETF draft: the first number counts.
	w.limit, _, _ = strings.Cut(w.limit, ",")
	if v, ok := parseNumber(w.limit); ok && v > 0 {
		b.Limit = Known(v)
	}
	if v, ok := parseNumber(w.remaining); ok && (b.Limit.Known || v > 0 || strings.TrimSpace(w.limit) == "") {
		b.Remaining = Known(v)
	}
	if !b.Limit.Known && !b.Remaining.Known {
		return Bucket{}, false
	}
	if t, ok := parseReset(w.reset, at, nil); ok {
		b.ResetAt = t
	}
	return b.withPercent(), true
}

// withPercent fills in the percentages that limit and remainder give. What is used may exceed the limit.
func (b Bucket) withPercent() Bucket {
	if b.Limit.Known && b.Limit.Value > 0 && b.Remaining.Known {
		left := min(100*b.Remaining.Value/b.Limit.Value, 100)
		b.RemainingPercent, b.UsedPercent = Known(left), Known(100-left)
	}
	return b
}
