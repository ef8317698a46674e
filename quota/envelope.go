package quota

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	faultDepth = 4  // how deep errors are looked for inside errors, JSON in strings included
	faultLimit = 12 // how many error objects one answer may hold
)

// fault is one error object: the codes in it, in the order of how much they say, its words, and its hints about time.
type fault struct {
	codes    []string // snake case: "rate_limit_exceeded", "429"
	messages []string // as received
	hints    []hint
	object   gjson.Result
}

// faultsOf finds the error objects of a body that is known to complain, innermost first. The shapes are those that
// providers, SDKs and gateways put around an error: arrays, error.error, body.error, response.error, detail, errors[], the
// top level itself, and any of these as a JSON string behind any prefix.
func faultsOf(v gjson.Result) faultCollector {
	var c faultCollector
	c.value(v, 0)
	return c
}

// faultCollector is what was found on the way.
type faultCollector struct {
	faults  []fault
	details []gjson.Result // the lists of typed details: google.rpc.Status has one
	header  http.Header    // what the body carries as headers: those of a WebSocket frame, or of an upstream
	lists   []string       // messages that hold JSON behind words: they may list what several upstreams said
}

// value looks into v, which stands where an error is expected.
func (c *faultCollector) value(v gjson.Result, depth int) {
	if depth > faultDepth || len(c.faults) >= faultLimit {
		return
	}
	switch {
	case v.IsArray():
		c.value(v.Get("0"), depth+1)
	case v.IsObject():
		c.object(v, depth)
	case v.Type == gjson.String:
		c.text(v.Str, depth)
	}
}

// text reads an error that is a bare string: JSON inside it, the code it is, and the words.
func (c *faultCollector) text(s string, depth int) {
	if strings.TrimSpace(s) == "" {
		return
	}
	f := fault{messages: []string{c.wrapped(s, depth)}}
	if !strings.ContainsAny(strings.TrimSpace(s), " \t\n") {
		f.addCode(s)
	}
	c.faults = append(c.faults, f)
}

// wrapped reads the JSON inside a string, and returns the words around it.
func (c *faultCollector) wrapped(s string, depth int) string {
	inner, around, ok := jsonIn(s)
	if !ok {
		return s
	}
	if strings.TrimSpace(around) != "" {
		c.lists = append(c.lists, s)
	}
	c.value(inner, depth+1)
	return around
}

// object reads an error object and everything nested in it; what is nested goes first.
func (c *faultCollector) object(v gjson.Result, depth int) {
	f := fault{object: v}
	var late [4]string // codes that only repeat the status or the kind of error
	n := 0
	v.ForEach(func(key, val gjson.Result) bool {
		switch key.Str {
		case "message", "msg", "error_message", "error_description", "error_msg", "title", "errorMessage", "err_msg", "Message", "status_msg", "result":
			c.message(&f, val, depth)
		case "code", "reason", "error_code", "error_name", "errorCode", "Code":
			f.addCode(val.String())
		case "type", "status", "error_type", "name", "__type", "statusCode", "status_code":
			if n < len(late) {
				late[n] = val.String()
				n++
			}
		case "headers":
			c.headers(val)
		default:
			if kind, ok := hintKeys[key.Str]; ok {
				f.addHint(kind, val)
			} else {
				c.nested(&f, key.Str, val, depth)
			}
		}
		return true
	})
	for _, s := range late[:n] {
		f.addCode(s)
	}
	if len(f.codes) > 0 || len(f.messages) > 0 || len(f.hints) > 0 {
		c.faults = append(c.faults, f)
	}
}

// message reads the words of an error object, which may be another one.
func (c *faultCollector) message(f *fault, v gjson.Result, depth int) {
	if v.Type != gjson.String {
		c.value(v, depth+1)
		return
	}
	f.messages = append(f.messages, c.wrapped(v.Str, depth))
}

// nested follows the keys of an error object behind which another error may hide.
func (c *faultCollector) nested(f *fault, key string, v gjson.Result, depth int) {
	switch key {
	case "error", "errors", "innererror", "inner_error", "cause", "debug", "error_details", "base_resp", "provider_specific_fields":
		if present(v) {
			c.value(v, depth+1)
		}
	case "detail":
		if v.Type == gjson.String {
			f.messages = append(f.messages, c.wrapped(v.Str, depth))
		} else if present(v) {
			c.value(v, depth+1)
		}
	case "details":
		if v.IsArray() {
			c.details = append(c.details, v)
			for _, detail := range v.Array() {
				c.value(detail, depth+1)
			}
		} else if present(v) {
			c.value(v, depth+1)
		}
	case "body", "response", "data":
		if inner := v.Get("error"); v.IsObject() && present(inner) {
			c.value(inner, depth+1)
		}
	case "choices":
		if inner := v.Get("0.error"); present(inner) {
			c.value(inner, depth+1)
		}
	case "raw", "param", "metadata":
		c.sidecar(key, v, depth)
	default:
		// The events of Amazon's streams: {"throttlingException":{"message":…}}.
		if v.IsObject() && strings.HasSuffix(key, "Exception") {
			f.addCode(key)
			c.value(v, depth+1)
		}
	}
}

// sidecar follows the members that hold an upstream's error in some answers, and anything else in others.
func (c *faultCollector) sidecar(key string, v gjson.Result, depth int) {
	switch {
	case v.IsObject():
		c.value(v, depth+1)
	case v.Type != gjson.String:
	case key == "raw":
		c.text(v.Str, depth)
	default:
		c.wrapped(v.Str, depth)
	}
}

// headers takes over what the body carries as headers.
func (c *faultCollector) headers(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	if c.header == nil {
		c.header = make(http.Header)
	}
	v.ForEach(func(name, value gjson.Result) bool {
		if value.IsArray() {
			value = value.Get("0")
		}
		c.header.Set(name.Str, value.String())
		return len(c.header) < 64
	})
}

// present reports whether an error member says anything: error:null, "", false, 0, {} and [] are success.
func present(v gjson.Result) bool {
	switch v.Type {
	case gjson.String:
		return strings.TrimSpace(v.Str) != ""
	case gjson.Number:
		return v.Num != 0
	case gjson.True:
		return true
	case gjson.JSON:
		return strings.TrimLeft(v.Raw, "{}[] \t\r\n") != ""
	}
	return false
}
