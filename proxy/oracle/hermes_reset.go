package oracle

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest that Hermes sleeps because an answer said so.
const maxWait = 600 * time.Second

// retryAfter is the wait that an answer asks for: the header, in seconds or as a date, else the body's retry_after. What is
// zero or past is ignored.
func (f *fault) retryAfter() time.Duration {
	wait := headerWait(f.header, f.session.Now)
	if wait <= 0 {
		seconds, _ := number(f.payload["retry_after"])
		wait = time.Duration(seconds * float64(time.Second))
	}
	return min(max(wait, 0), maxWait)
}

// headerWait reads Retry-After, 0 when there is none.
func headerWait(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}

// saysWhen reports whether a usage limit is said to pass, in words, in a member or in a header.
func (f *fault) saysWhen() bool {
	if f.has(usageTransientWords) {
		return true
	}
	for _, name := range []string{"resets_in_seconds", "resets_at", "reset_at", "retry_after"} {
		if v, ok := f.payload[name]; ok && v != nil && v != "" {
			return true
		}
	}
	return f.header.Get("Retry-After") != "" || f.header.Get("X-Ratelimit-Reset") != ""
}

var (
	wordsResetsIn   = regexp.MustCompile(`resets?\s+in\s+(?:(\d+(?:\.\d+)?)\s*(?:h|hr|hrs|hour|hours)\b\s*)?(?:(\d+(?:\.\d+)?)\s*(?:m|min|mins|minute|minutes)\b\s*)?(?:(\d+(?:\.\d+)?)\s*(?:s|sec|secs|second|seconds)\b)?`)
	wordsRetryAfter = regexp.MustCompile(`retry\s+(?:after\s+)?(\d+(?:\.\d+)?)\s*(?:sec|secs|seconds|s\b)`)
)

// resetAt is when Hermes thinks that a limit ends: the sources in its order. Zero = it does not know.
func (f *fault) resetAt() time.Time {
	now := f.session.Now
	after := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	for _, name := range []string{"resets_at", "reset_at"} {
		if at, ok := instant(f.payload[name]); ok {
			return at
		}
	}
	for _, name := range []string{"resets_in_seconds", "retry_after"} {
		if seconds, ok := number(f.payload[name]); ok {
			return after(seconds)
		}
	}
	if wait := headerWait(f.header, now); wait > 0 {
		return now.Add(wait)
	}
	for _, name := range []string{"X-Ratelimit-Reset", "X-Ratelimit-Reset-Requests", "X-Ratelimit-Reset-Tokens"} {
		text := f.header.Get(name)
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			return after(seconds)
		}
		if d, err := time.ParseDuration(text); err == nil {
			return now.Add(d)
		}
	}
	for _, name := range []string{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Tokens-Reset"} {
		if at, err := time.Parse(time.RFC3339, f.header.Get(name)); err == nil {
			return at
		}
	}
	if m := wordsResetsIn.FindStringSubmatch(f.text); m != nil && m[1]+m[2]+m[3] != "" {
		return after(parse(m[1])*3600 + parse(m[2])*60 + parse(m[3]))
	}
	if m := wordsRetryAfter.FindStringSubmatch(f.text); m != nil {
		return after(parse(m[1]))
	}
	return time.Time{}
}

// instant reads an epoch in seconds or an ISO date.
func instant(v any) (time.Time, bool) {
	if text, ok := v.(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, true
		}
	}
	seconds, ok := number(v)
	return time.Unix(int64(seconds), 0).UTC(), ok && seconds > 0
}

// number reads a JSON number, or one in a string.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// parse is a number that a regular expression has matched, 0 for none.
func parse(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // it is a number or empty
	return n
}

// windowWords are the ways in which Hermes reads a model's window out of an error (parse_context_limit_from_error).
var windowWords = []*regexp.Regexp{
	regexp.MustCompile(`max_model_len\s*(?:is\s*)?[:=(]?\s*(\d{4,})`),
	regexp.MustCompile(`maximum model length\s*(?:is\s*)?[:=(]?\s*(\d{4,})`),
	regexp.MustCompile(`(?:max(?:imum)?|limit)\s*(?:context\s*)?(?:length|size|window)?\s*(?:is|of|:)?\s*(\d{4,})`),
	regexp.MustCompile(`context\s*(?:length|size|window)\s*(?:is|of|:)?\s*(\d{4,})`),
	regexp.MustCompile(`(\d{4,})\s*(?:token)?\s*(?:context|limit)`),
	regexp.MustCompile(`>\s*(\d{4,})\s*(?:max|limit|token)`),
	regexp.MustCompile(`(\d{4,})\s*(?:max(?:imum)?)\b`),
}

func windowInWords(text string) int {
	for _, w := range windowWords {
		if m := w.FindStringSubmatch(text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n >= 1024 && n <= 10_000_000 {
				return n
			}
		}
	}
	return 0
}
