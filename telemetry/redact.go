package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const redacted = "[redacted]"

// secretNames end the names of attributes, headers and members whose value is never logged, whatever it looks like.
// Names are compared in lower case, without separators: X-Api-Key, api_key and apiKey are one.
var secretNames = []string{
	"authorization", "apikey", "token", "secret", "cookie", "password", "passwd", "credential", "credentials", "privatekey",
}

// credential is a kind of text that looks like a credential wherever it stands.
type credential struct {
	markers []string // in lower case; text without any of them is not searched, which keeps the request's line cheap
	pattern *regexp.Regexp
	replace string
}

// shortestCredential is the length in bytes of the shortest text that is searched: no credential fits into less.
const shortestCredential = len("key=1234")

var credentials = []credential{
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(bearer|basic)\s+[^\s"',;]{4,}`), "$1 " + redacted},
	{[]string{"sk-"}, regexp.MustCompile(`\bsk-[\w-]{6,}`), redacted},
	{[]string{"aiza"}, regexp.MustCompile(`\bAIza[\w-]{6,}`), redacted},
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?`), redacted},
	{[]string{"ya29.", "xai-", "gsk_", "hf_", "nvapi-", "ghp_", "xoxb-"}, regexp.MustCompile(`\b(ya29\.|xai-|gsk_|hf_|nvapi-|ghp_|xoxb-)[\w.-]{8,}`), redacted},
	{[]string{"://"}, regexp.MustCompile(`(://)[^/\s@"]+@`), "${1}" + redacted + "@"},
	{[]string{"cookie"}, regexp.MustCompile(`(?i)(cookie:\s*)[^\r\n"]+`), "${1}" + redacted},
	{
		[]string{"key", "token", "secret", "password", "passwd", "cookie", "authorization", "ticket"},
		regexp.MustCompile(`(?i)((?:\bkey|api[_-]?key|token|secret|passw(?:or)?d|cookie|authorization|ticket)(?:=|["']\s*:\s*["']?|:\s*))([^\s"'&,;}\[][^\s"'&,;}]{3,})`),
		"${1}" + redacted,
	},
}

// redact is the one filter under every log line: slog hands it each attribute, the message included, with its value
// resolved. Numbers, booleans and times pass; everything else is searched.
func redact(groups []string, a slog.Attr) slog.Attr {
	kind := a.Value.Kind()
	if kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	if isSecretName(a.Key) || slices.ContainsFunc(groups, isSecretName) {
		if kind == slog.KindString && a.Value.String() == "" || kind == slog.KindAny && a.Value.Any() == nil {
			return a
		}
		return slog.String(a.Key, redacted)
	}
	if kind == slog.KindString {
		return slog.String(a.Key, redactText(a.Value.String()))
	}
	return slog.Any(a.Key, redactAny(a.Value.Any()))
}

// redactAny makes any value into text, or into plain JSON values, in which nothing secret is left. A value whose own
// method panics, as a nil pointer's may, costs its text and not the request.
func redactAny(v any) (clean any) {
	defer func() {
		if recover() != nil {
			clean = fmt.Sprintf("!panic in %T", v)
		}
	}()
	switch v := v.(type) {
	case nil:
		return nil
	case error:
		return redactText(v.Error())
	case []byte:
		return redactText(string(v))
	case fmt.Stringer:
		return redactText(v.String())
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return redactText(fmt.Sprintf("%+v", v))
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return redactText(string(raw))
	}
	return redactTree(tree)
}

func redactTree(v any) any {
	switch v := v.(type) {
	case string:
		return redactText(v)
	case []any:
		for i := range v {
			v[i] = redactTree(v[i])
		}
	case map[string]any:
		for name, member := range v {
			if isSecretName(name) && member != nil {
				v[name] = redacted
			} else {
				v[name] = redactTree(member)
			}
		}
	}
	return v
}

// redactText blots out what looks like a credential and what a terminal would act upon. Newlines and ESC are escaped by
// slog's own handlers; the control and direction characters above ASCII are not, so they are replaced here.
func redactText(s string) string {
	if len(s) < shortestCredential {
		return strings.Map(harmless, s)
	}
	low := strings.ToLower(s)
	for _, c := range credentials {
		if slices.ContainsFunc(c.markers, func(marker string) bool { return strings.Contains(low, marker) }) {
			s = c.pattern.ReplaceAllString(s, c.replace)
		}
	}
	return strings.Map(harmless, s)
}

func harmless(r rune) rune {
	if r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
		return unicode.ReplacementChar
	}
	return r
}

func isSecretName(name string) bool {
	bare := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == '.' || r == ' ':
			return -1
		}
		return r
	}, name)
	return slices.ContainsFunc(secretNames, func(s string) bool { return strings.HasSuffix(bare, s) })
}
