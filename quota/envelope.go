package quota

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

const (
	faultDepth = 4  // how deep errors are looked for inside errors, JSON in strings included
	faultLimit = 12 // how many error objects one answer may hold
	codeLimit  = 80 // a machine code longer than this is not one
)

// fault is one error object: the codes in it, in the order of how much they say, and its words.
type fault struct {
	codes    []string // snake case: "rate_limit_exceeded", "429"
	messages []string // as received
	object   gjson.Result
}

// faultsOf finds the error objects of a body that is known to complain, innermost first. The shapes are those that
// providers, SDKs and gateways put around an error: arrays, error.error, body.error, response.error, detail, errors[], the
// top level itself, and any of these as a JSON string behind any prefix.
func faultsOf(v gjson.Result) []fault {
	var c faultCollector
	c.value(v, 0)
	return c.faults
}

type faultCollector struct{ faults []fault }

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
	if inner, ok := jsonIn(s); ok {
		c.value(inner, depth+1)
	}
	f := fault{messages: []string{s}}
	if !strings.ContainsAny(strings.TrimSpace(s), " \t\n") {
		f.addCode(s)
	}
	c.faults = append(c.faults, f)
}

// object reads an error object and everything nested in it; what is nested goes first.
func (c *faultCollector) object(v gjson.Result, depth int) {
	f := fault{object: v}
	var late []string // codes that only repeat the status or the kind of error
	v.ForEach(func(key, val gjson.Result) bool {
		switch key.Str {
		case "error", "errors", "body", "response", "metadata", "data":
			c.nested(key.Str, val, depth)
		case "detail", "details", "innererror", "inner_error", "cause", "param", "raw":
			c.nested(key.Str, val, depth)
			if key.Str == "detail" && val.Type == gjson.String {
				f.messages = append(f.messages, val.Str)
			}
		case "message", "msg", "error_message", "error_description", "title", "errorMessage", "err_msg":
			if val.Type != gjson.String {
				c.nested("error", val, depth)
				break
			}
			if inner, ok := jsonIn(val.Str); ok {
				c.value(inner, depth+1)
			}
			f.messages = append(f.messages, val.Str)
		case "code", "reason", "error_code", "error_name", "errorCode":
			f.addCode(val.String())
		case "type", "status", "error_type", "name", "__type", "statusCode":
			late = append(late, val.String())
		}
		return true
	})
	for _, s := range late {
		f.addCode(s)
	}
	if len(f.codes) > 0 || len(f.messages) > 0 {
		c.faults = append(c.faults, f)
	}
}

// nested follows the keys of an error object behind which another error may hide.
func (c *faultCollector) nested(key string, v gjson.Result, depth int) {
	switch {
	case key == "param" || key == "metadata" || key == "raw":
		if v.Type == gjson.String {
			if inner, ok := jsonIn(v.Str); ok {
				c.value(inner, depth+1)
			} else if key == "raw" {
				c.faults = append(c.faults, fault{messages: []string{v.Str}})
			}
			return
		}
		if v.IsObject() {
			c.value(v, depth+1)
		}
	case key == "detail" && v.Type == gjson.String:
		if inner, ok := jsonIn(v.Str); ok {
			c.value(inner, depth+1)
		}
	case key == "body" || key == "response" || key == "data":
		if v.IsObject() && present(v.Get("error")) {
			c.value(v.Get("error"), depth+1)
		}
	case key == "details" && v.IsArray():
		for _, detail := range v.Array() {
			c.value(detail, depth+1)
		}
	case present(v):
		c.value(v, depth+1)
	}
}

// addCode adds a machine code in snake case, once.
func (f *fault) addCode(s string) {
	if s = codeName(s); s != "" && s != "error" {
		f.codes = append(f.codes, s)
	}
}

// codeName brings the spellings of a machine code to one: "RateLimitError", "rate-limit-error" and "RATE_LIMIT_ERROR" are
// all "rate_limit_error". It is "" for what cannot be a code.
func codeName(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > codeLimit {
		return ""
	}
	var b strings.Builder
	lower := false // whether the last rune was a lower-case letter or a digit
	for _, r := range s {
		switch {
		case r == '-' || r == ' ' || r == '_':
			b.WriteByte('_')
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
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
		inner := strings.TrimSpace(strings.Trim(v.Raw, "{}[] \t\r\n"))
		return inner != ""
	}
	return false
}

// jsonIn finds a JSON object inside a string, behind any prefix and before any suffix.
func jsonIn(s string) (gjson.Result, bool) {
	for range faultDepth {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return gjson.Result{}, false
		}
		s = s[open:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(s)).Decode(&raw) == nil {
			v := gjson.ParseBytes(raw)
			return v, present(v)
		}
		s = s[1:]
	}
	return gjson.Result{}, false
}
