package proxy

import (
	"encoding/json"
	"net/http"
	"strings"

	"hermes-hub/proxy/wire"
)

// longestFact is how many bytes of one thing are kept that a client tells of its call.
const longestFact = 256

// callFields are what Hermes knows of each of its calls (the UI state contract, 10.1). An agent that wants them to be known
// here too sends them in the body's metadata or, as X-Hermes-Task-Id and so on, as headers. The model has a place of its own.
var callFields = [...]struct{ name, header string }{
	{"task_id", "X-Hermes-Task-Id"},
	{"turn_id", "X-Hermes-Turn-Id"},
	{"api_request_id", "X-Hermes-Api-Request-Id"},
	{"session_id", "X-Hermes-Session-Id"},
	{"platform", "X-Hermes-Platform"},
	{"provider", "X-Hermes-Provider"},
	{"base_url", "X-Hermes-Base-Url"},
	{"api_mode", "X-Hermes-Api-Mode"},
	{"api_call_count", "X-Hermes-Api-Call-Count"},
}

// fieldsOf are the fields that a request tells, as an object; nil when it tells none. The body wins. Values that are
// neither strings nor numbers, and long ones, are left out.
func fieldsOf(metadata []byte, h http.Header) json.RawMessage {
	var values [len(callFields)][]byte
	if len(metadata) > 0 && metadata[0] == '{' {
		m := wire.Object(metadata)
		for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
			for i := range callFields {
				if string(name) == callFields[i].name && plainValue(at.In(metadata)) {
					values[i] = at.In(metadata)
				}
			}
		}
	}
	var out []byte
	for i := range callFields {
		value := values[i]
		if text := h[callFields[i].header]; value == nil && len(text) > 0 && text[0] != "" && len(text[0]) <= longestFact {
			value = []byte(wire.Quote(text[0]))
		}
		if value == nil {
			continue
		}
		out = append(out, `,"`...)
		out = append(append(append(out, callFields[i].name...), `":`...), value...)
	}
	if out == nil {
		return nil
	}
	out[0] = '{'
	return append(out, '}')
}

// plainValue reports whether a value is a short string that says something, or a number.
func plainValue(v []byte) bool {
	switch v[0] {
	case '"':
		return len(v) > 2 && len(v) <= longestFact
	case '{', '[', 't', 'f', 'n':
		return false
	default:
		return len(v) <= longestFact
	}
}

// unstored reports whether whoever asks wants nothing of it to be stored.
func unstored(h http.Header) bool {
	for _, line := range h["Cache-Control"] {
		for directive := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(directive), "no-store") {
				return true
			}
		}
	}
	return false
}
