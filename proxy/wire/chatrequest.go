package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"
)

// FieldError says which member of a well-formed body cannot be taken, and why.
type FieldError struct {
	Field string // dotted path: "stream_options.include_usage"
	What  string // "must be a string, not a number"
}

// Error prints the member and what is wrong with it.
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.What) }

// ChatRequest is what routing and relaying need to know of a chat completion request. Everything else of the body stays
// unread.
type ChatRequest struct {
	Model    string // "" when absent or null
	Stream   bool
	WantsUse bool // the client asked for the usage chunk of its stream
	Role     string
	// Session is the first of prompt_cache_key, metadata.session_id, metadata.user_id and user.
	Session string

	open    int // offset behind the body's opening brace
	model   Span
	options Span // stream_options
	include Span // stream_options.include_usage
}

// routing are the members that two readers must not be able to read differently: each may stand once, in one spelling.
var routing = [...]string{"model", "stream", "stream_options", "messages", "metadata", "prompt_cache_key", "user"}

// ReadChatRequest walks body once. The error is a *SyntaxError or a *FieldError.
func ReadChatRequest(body []byte) (ChatRequest, error) {
	var r ChatRequest
	if !utf8.Valid(body) {
		return r, &SyntaxError{Offset: invalidAt(body), What: "not UTF-8"}
	}
	var seen [len(routing)]Span
	m := Object(body)
	r.open = m.c.pos
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		i := routingIndex(name)
		if i < 0 {
			continue
		}
		if seen[i].Found() {
			return r, &FieldError{routing[i], "stands twice"}
		}
		if string(name) != routing[i] {
			return r, &FieldError{string(name), fmt.Sprintf("must be spelled %q", routing[i])}
		}
		seen[i] = value
	}
	if err := m.Err(); err != nil {
		return r, err
	}
	return r, r.take(body, seen)
}

func routingIndex(name []byte) int {
	for i, n := range routing {
		if len(n) == len(name) && bytes.EqualFold(name, []byte(n)) {
			return i
		}
	}
	return -1
}

// take checks the kinds of the members that were found and keeps what they say.
func (r *ChatRequest) take(body []byte, seen [len(routing)]Span) error {
	r.model, r.options = seen[0], seen[2]
	var err error
	if r.Model, err = textMember(body, "model", seen[0]); err != nil {
		return err
	}
	if r.Stream, err = boolMember(body, "stream", seen[1]); err != nil {
		return err
	}
	if err := r.takeOptions(body); err != nil {
		return err
	}
	if !seen[3].Found() {
		return &FieldError{"messages", "is missing"}
	}
	if v := seen[3].In(body); v[0] != '[' {
		return &FieldError{"messages", "must be an array, not " + kind(v)}
	}
	cacheKey, err := textMember(body, "prompt_cache_key", seen[5])
	if err != nil {
		return err
	}
	user, err := textMember(body, "user", seen[6])
	if err != nil {
		return err
	}
	sessionID, userID, err := r.takeMetadata(body, seen[4])
	if err != nil {
		return err
	}
	r.Session = cmp.Or(cacheKey, sessionID, userID, user)
	return nil
}

func (r *ChatRequest) takeOptions(body []byte) error {
	if !r.options.Found() || Null(r.options.In(body)) {
		return nil
	}
	text := r.options.In(body)
	if text[0] != '{' {
		return &FieldError{"stream_options", "must be an object, not " + kind(text)}
	}
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) != "include_usage" {
			continue
		}
		if r.include.Found() {
			return &FieldError{"stream_options.include_usage", "stands twice"}
		}
		r.include = Span{r.options.From + value.From, r.options.From + value.To}
	}
	var err error
	r.WantsUse, err = boolMember(body, "stream_options.include_usage", r.include)
	return err
}

func (r *ChatRequest) takeMetadata(body []byte, at Span) (session, user string, err error) {
	if !at.Found() || Null(at.In(body)) {
		return "", "", nil
	}
	text := at.In(body)
	if text[0] != '{' {
		return "", "", &FieldError{"metadata", "must be an object, not " + kind(text)}
	}
	fields := [...]struct {
		name string
		into *string
		seen bool
	}{{"role", &r.Role, false}, {"session_id", &session, false}, {"user_id", &user, false}}
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		for i := range fields {
			f := &fields[i]
			if string(name) != f.name {
				continue
			}
			if f.seen {
				return "", "", &FieldError{"metadata." + f.name, "stands twice"}
			}
			f.seen = true
			if *f.into, err = textMember(text, "metadata."+f.name, value); err != nil {
				return "", "", err
			}
		}
	}
	return session, user, nil
}

// Upstream returns the edits that make the client's body the upstream's: the account's model, and, on a stream, the
// demand for usage. Usage is always asked for, because a stream without it cannot be counted; the tap hides the chunk
// from a client that did not ask.
func (r *ChatRequest) Upstream(body []byte, model string, askUsage bool, edits []Edit) []Edit {
	switch {
	case r.model.Found():
		if r.Model != model {
			edits = append(edits, Edit{r.model, Quote(model)})
		}
	default:
		edits = append(edits, r.insert(`"model":`+Quote(model)))
	}
	if !r.Stream || !askUsage || r.WantsUse {
		return edits
	}
	const on = `"include_usage":true`
	switch {
	case r.include.Found():
		edits = append(edits, Edit{r.include, "true"})
	case !r.options.Found():
		edits = append(edits, r.insert(`"stream_options":{`+on+`}`))
	case Null(r.options.In(body)):
		edits = append(edits, Edit{r.options, "{" + on + "}"})
	case emptyObject(r.options.In(body)):
		edits = append(edits, Edit{r.options, "{" + on + "}"})
	default:
		edits = append(edits, Edit{Span{r.options.From + 1, r.options.From + 1}, on + ","})
	}
	return sorted(edits)
}

// insert puts a member first. A comma always follows: a body without messages was refused.
func (r *ChatRequest) insert(member string) Edit {
	return Edit{Span{r.open, r.open}, member + ","}
}

func emptyObject(text []byte) bool {
	m := Object(text)
	_, _, some := m.Next()
	return !some
}

// sorted orders two or three edits by place; insertions at one place keep their order.
func sorted(edits []Edit) []Edit {
	for i := 1; i < len(edits); i++ {
		for j := i; j > 0 && edits[j].At.From < edits[j-1].At.From; j-- {
			edits[j], edits[j-1] = edits[j-1], edits[j]
		}
	}
	return edits
}

func textMember(body []byte, field string, at Span) (string, error) {
	if !at.Found() || Null(at.In(body)) {
		return "", nil
	}
	text, ok := Text(at.In(body))
	if !ok {
		return "", &FieldError{field, "must be a string, not " + kind(at.In(body))}
	}
	return string(text), nil
}

func boolMember(body []byte, field string, at Span) (bool, error) {
	if !at.Found() {
		return false, nil
	}
	switch v := at.In(body); string(v) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	default:
		return false, &FieldError{field, "must be a boolean, not " + kind(v)}
	}
}

func invalidAt(b []byte) int {
	at := 0
	for {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}
