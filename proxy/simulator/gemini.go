package simulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// gemini is Google's Gemini API, as https://ai.google.dev/api/generate-content describes it and as its refusals were
// recorded. Thoughts are said where the request includes them; a call of a model that thinks is signed. The steps mean in
// it: the finish reason comes with the last event and there is no last word; a tool call is one piece.
var gemini = dialect{
	protocol: Gemini,
	key: func(in inbound) string {
		return cmp.Or(in.header.Get("X-Goog-Api-Key"), in.query.Get("key"), bearer(in.header))
	},
	parse:     parseGemini,
	whole:     geminiWhole,
	events:    geminiEvents,
	noop:      geminiNoop,
	count:     geminiCount,
	sameIndex: func(wire []byte) []byte { return wire }, // calls have no index
	idHeader:  "X-Request-Id",
	problem:   googleProblem,
	failure: func(_ Request, p *problem, st stamp, _ int) event {
		return event{kind: eventOther, wire: googleFrame(googleProblem(p, st))}
	},
	models:   geminiModels,
	model:    func(model string, _ time.Time) []byte { return encode(geminiModelObject(model)) },
	recorded: geminiRecorded,
	tells:    func(Quota, window, time.Time) http.Header { return nil },
	spent:    geminiSpent,
	wording:  geminiWording,
}

// googleFrame is one event as Google's servers write it.
func googleFrame(data []byte) []byte { return fmt.Appendf(nil, "data: %s\r\n\r\n", data) }

// googleError is Google's error object.
type googleError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

// googleStatus is what Google calls an HTTP status.
var googleStatus = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED", 429: "RESOURCE_EXHAUSTED",
	499: "CANCELLED", 500: "INTERNAL", 501: "UNIMPLEMENTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

func googleProblem(p *problem, _ stamp) []byte {
	out := googleError{Code: p.status, Message: p.message, Status: cmp.Or(googleStatus[p.status], "UNKNOWN")}
	if p.kind != "" && p.kind == strings.ToUpper(p.kind) {
		out.Status = p.kind
	}
	for _, detail := range p.details {
		out.Details = append(out.Details, detail)
	}
	return encode(map[string]googleError{"error": out})
}

// invalidGoogle is a request that Google refuses for what it says.
func invalidGoogle(message string) *problem {
	return &problem{status: http.StatusBadRequest, message: message}
}

// googleDetail is one of the details of an error.
func googleDetail(kind string, members map[string]any) map[string]any {
	members["@type"] = "type.googleapis.com/google.rpc." + kind
	return members
}

// errorInfo is the detail that names a reason.
func errorInfo(reason, domain string, metadata map[string]string) map[string]any {
	members := map[string]any{"reason": reason, "domain": domain}
	if len(metadata) > 0 {
		members["metadata"] = metadata
	}
	return googleDetail("ErrorInfo", members)
}

// violations are complaints about the form of a body, all in one refusal.
func violations(wrong []*problem) *problem {
	var messages []string
	var fields []map[string]string
	for _, p := range wrong {
		messages = append(messages, p.message)
		violation := map[string]string{"description": p.message}
		if p.param != "" {
			violation["field"] = p.param
		}
		fields = append(fields, violation)
	}
	all := invalidGoogle(strings.Join(messages, "\n"))
	all.details = []map[string]any{googleDetail("BadRequest", map[string]any{"fieldViolations": fields})}
	return all
}

// googlePlaces is contents[0].parts[0].function_call: Google names places by its own names of fields, and takes both.
var googlePlaces = placing{
	member:    func(at, name string) string { return joined(at, snake(name)) },
	item:      bracketed.item,
	alias:     snake,
	canonical: camel,
}

// snake is function_call for functionCall.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// camel is functionCall for function_call.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if i > 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// googleComplaints are the words of its reader of JSON.
var googleComplaints = complaints{
	missing: func(n node) *problem { return invalidGoogle("* GenerateContentRequest." + n.at + ": must be set\n") },
	extra: func(at node, name string) *problem {
		place := ""
		if at.at != "" {
			place = " at '" + at.at + "'"
		}
		return &problem{param: at.at, message: fmt.Sprintf("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, place)}
	},
	kind: func(n node, want kinds) *problem {
		if i := strings.LastIndexByte(n.at, '.'); kindOf(n.value) == isArray && want&isArray == 0 && i > 0 {
			return &problem{param: n.at[:i], message: fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': Proto field is not repeating, cannot start list.", camel(n.at[i+1:]), n.at[:i])}
		}
		return &problem{param: n.at, message: fmt.Sprintf("Invalid value at '%s' (%s), %s", n.at, protoKind(want), n.json())}
	},
}

func protoKind(want kinds) string {
	switch {
	case want&isString != 0:
		return "TYPE_STRING"
	case want&isNumber != 0:
		return "TYPE_FLOAT"
	case want&isInteger != 0:
		return "TYPE_INT32"
	case want&isBool != 0:
		return "TYPE_BOOL"
	case want&isArray != 0:
		return "TYPE_LIST"
	}
	return "TYPE_MESSAGE"
}

type geminiModel struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	Input       int      `json:"inputTokenLimit"`
	Output      int      `json:"outputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
}

func geminiModelObject(model string) geminiModel {
	return geminiModel{Name: "models/" + model, Version: "001", DisplayName: model + " (simulated)", Input: 1048576, Output: 65536, Methods: []string{"generateContent", "countTokens"}}
}

func geminiModels(models []string, _ time.Time) []byte {
	list := []geminiModel{}
	for _, m := range models {
		list = append(list, geminiModelObject(m))
	}
	return encode(map[string]json.RawMessage{"models": encode(list)})
}
