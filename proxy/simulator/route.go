package simulator

import (
	"net/http"
	"strings"
)

// operation is what a call asks for.
type operation uint8

const (
	opUnknown operation = iota
	opAnswer
	opCount // of the tokens of what would be an opAnswer
	opModels
	opModel
	opUsage // of an account: what is left of its quota
	opToken // a new access token
)

// hasBody reports whether the operation is asked for with a body of its dialect.
func (o operation) hasBody() bool { return o == opAnswer || o == opCount }

// looks reports whether the operation asks about the account and for nothing that it does: its models, what is left of it, a
// token.
func (o operation) looks() bool { return o == opModels || o == opModel || o == opUsage || o == opToken }

// route is what a path asks for, and of whom.
type route struct {
	op       operation
	dialect  *dialect
	prefix   string // the path before what the protocol appends; a segment of it may name an account
	method   string // the one by which it may be asked for
	model    string // that the path names
	streamed bool   // the path asks for a stream
	usage    *usageEndpoint
}

// endpoints is where the protocols are, by how a path ends. The dialect of the first refuses the calls that are for none
// of them.
var endpoints = []struct {
	suffix  string
	op      operation
	dialect *dialect
}{
	{"/chat/completions", opAnswer, &openAI},
	{"/messages", opAnswer, &messages},
	{"/messages/count_tokens", opCount, &messages},
	{"/responses", opAnswer, &responses},
	{"/oauth/token", opToken, &openAI},
	{"/token", opToken, &openAI}, // Google's
}

// routeOf reads a path.
func routeOf(path string, h http.Header) route {
	for _, e := range endpoints {
		if prefix, ok := strings.CutSuffix(path, e.suffix); ok {
			return route{op: e.op, dialect: e.dialect, prefix: prefix, method: http.MethodPost}
		}
	}
	if r, ok := googleRoute(path); ok {
		return r
	}
	if r, ok := usageRoute(path); ok {
		return r
	}
	lists := listsOf(path, h)
	if prefix, model, ok := strings.Cut(path, "/models/"); ok {
		return route{op: opModel, dialect: lists, prefix: prefix, model: model, method: http.MethodGet}
	}
	if prefix, ok := strings.CutSuffix(path, "/models"); ok {
		return route{op: opModels, dialect: lists, prefix: prefix, method: http.MethodGet}
	}
	return route{dialect: lists, prefix: path}
}

// googleMethods are what Google appends to a model, or to the version of Cloud Code.
var googleMethods = map[string]struct {
	op       operation
	streamed bool
}{"generateContent": {opAnswer, false}, "streamGenerateContent": {opAnswer, true}, "countTokens": {opCount, false}}

// googleRoute reads a path of Google's: …/models/MODEL:METHOD, or …/v1internal:METHOD.
func googleRoute(path string) (route, bool) {
	rest, method, ok := cutLast(path, ":")
	to, known := googleMethods[method]
	if !ok || !known {
		return route{}, false
	}
	if prefix, ok := strings.CutSuffix(rest, "/v1internal"); ok {
		return route{op: to.op, dialect: &cloudCode, prefix: prefix, method: http.MethodPost, streamed: to.streamed}, true
	}
	prefix, model, ok := cutLast(rest, "/models/")
	return route{op: to.op, dialect: &gemini, prefix: prefix, method: http.MethodPost, model: model, streamed: to.streamed}, ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// codexPath is where the Codex backend is at ChatGPT.
const codexPath = "/backend-api/codex"

// of is the route for the account: a ChatGPT subscription speaks Responses in its own way.
func (r route) of(a *account) route {
	if r.dialect == &responses && (a.Codex || strings.HasSuffix(r.prefix, codexPath)) {
		r.dialect = &codex
	}
	return r
}

// listsOf is in whose dialect models are listed: the protocols have the path in common and tell themselves apart by their
// headers, and Google by its version, as its key may be elsewhere.
func listsOf(path string, h http.Header) *dialect {
	switch {
	case h.Get("Anthropic-Version") != "":
		return &messages
	case h.Get("X-Goog-Api-Key") != "", strings.Contains(path, "/v1beta/models"):
		return &gemini
	case strings.Contains(path, codexPath):
		return &codex
	}
	return endpoints[0].dialect
}
