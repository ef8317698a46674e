package quota

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// complains reports whether the JSON of a successful status is an error all the same. It looks at the top of the
// envelope only, in one pass: what a model wrote never decides.
func complains(v gjson.Result) bool {
	if v.IsArray() {
		v = v.Get("0")
	}
	if !v.IsObject() {
		return false
	}
	var refused, payload, code, words bool
	v.ForEach(func(key, val gjson.Result) bool {
		switch key.Str {
		case "error", "errors":
			refused = refused || present(val)
		case "body":
			refused = refused || present(val.Get("error"))
		case "response":
			refused = refused || present(val.Get("error"))
			payload = true
		case "type":
			refused = refused || val.Str == "error" || val.Str == "response.failed"
		case "object":
			refused = refused || val.Str == "error"
			payload = payload || val.Str != "error"
		case "success":
			refused = refused || val.Type == gjson.False
		case "is_error": // the result of an agent's command line: the words are its error
			refused = refused || val.Type == gjson.True
		case "base_resp": // MiniMax says so in every answer
			refused = refused || val.Get("status_code").Num != 0
		case "code", "error_code":
			code = code || refusalCode(val)
		case "status":
			code = code || httpRefusal(val)
		case "message", "msg", "error_msg":
			words = true
		case "detail":
			code, words = code || val.Type == gjson.String, words || val.Type == gjson.String
		case "choices":
			refused = refused || present(val.Get("0.error"))
			payload = payload || present(val)
		case "output", "content", "candidates", "data", "embeddings", "embedding", "usage", "models", "result", "results", "text", "delta":
			payload = payload || present(val) // only an answer has these; an error may carry "data": null
		default:
			refused = refused || val.IsObject() && strings.HasSuffix(key.Str, "Exception") // an event of Amazon's streams
		}
		return !refused
	})
	return refused || code && words && !payload
}

// httpRefusal reports whether a status inside the body is one of HTTP's failures.
func httpRefusal(v gjson.Result) bool {
	n, ok := parseNumber(v.String())
	return ok && n >= 400 && n < 600
}

// refusalCode reports whether a top-level code means anything but success.
func refusalCode(v gjson.Result) bool {
	switch strings.ToLower(v.String()) {
	case "", "0", "200", "ok", "success":
		return false
	}
	return true
}

// scanEvents looks through the server-sent events or JSON lines of a body for the first that is an error. silent means
// that nothing but comments and an end marker came.
func scanEvents(body []byte) (root gjson.Result, found faultCollector, silent bool) {
	silent = true
	var name string
	var data []byte
	dispatch := func() bool {
		event, payload := name, bytes.TrimSpace(data)
		name, data = "", nil
		if len(payload) == 0 || bytes.Equal(payload, []byte("[DONE]")) {
			return false
		}
		silent = false
		root, found = eventFaults(event, payload)
		return len(found.faults) > 0
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
			if dispatch() {
				return root, found, false
			}
		case line[0] == '{':
			name, data = "", line
			if dispatch() {
				return root, found, false
			}
		default:
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, rest...), '\n')
			} else if rest, ok := bytes.CutPrefix(line, []byte("event:")); ok {
				name = string(bytes.TrimSpace(rest))
			}
		}
	}
	dispatch()
	return root, found, silent
}

// eventFaults reads one event. An event that is named an error, or whose envelope is one, always has a fault.
func eventFaults(name string, payload []byte) (root gjson.Result, c faultCollector) {
	if !gjson.ValidBytes(payload) {
		if name == "error" {
			c.faults = []fault{{messages: []string{string(payload[:min(len(payload), proseLimit)])}}}
		}
		return gjson.Result{}, c
	}
	root = gjson.ParseBytes(payload)
	if name != "error" && name != "response.failed" && !complains(root) {
		return root, c
	}
	if c = faultsOf(root); len(c.faults) == 0 {
		c.faults = []fault{{object: root}}
	}
	return root, c
}
