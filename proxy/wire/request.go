package wire

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// FieldError says which member of a well-formed body cannot be taken, and why.
type FieldError struct {
	Field string // dotted path: "stream_options.include_usage"
	What  string // "must be a string, not a number"
}

// Error prints the member and what is wrong with it.
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s", e.Field, e.What) }

// Request is what routing and relaying need to know of a request of one of these kinds. Everything else of the body stays
// unread.
type Request struct {
	Model    string // "" when absent or null
	Stream   bool
	WantsUse bool // the client asked for the usage chunk of its stream
	Role     string
	// Session is the first of prompt_cache_key, metadata.session_id, metadata.user_id and user.
	Session string
	Kept    Kept
	// Metadata is where the member stands, an object; not found when there is none.
	Metadata Span
	// What the request needs of a model, as far as members at the top tell.
	Tools      bool // there are tools to call
	Structured bool // the answer must be by a JSON schema

	asks    bool // the usage of its stream is told only when asked for
	open    int  // offset behind the body's opening brace
	model   Span
	options Span // stream_options
	include Span // stream_options.include_usage
	store   Span
}

// ReadRequest walks body once. The error is a *SyntaxError or a *FieldError.
func ReadRequest(body []byte, s Shape) (Request, error) {
	var r Request
	if !utf8.Valid(body) {
		return r, &SyntaxError{Offset: invalidAt(body), What: "not UTF-8"}
	}
	var found members
	names := s.spellings()
	m := Object(body)
	r.open = m.c.pos
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		i := routes(name, &names)
		switch {
		case i < 0:
			r.wants(name, value, body)
			continue
		case found[i].Found():
			return r, &FieldError{names[i], "stands twice in the request body"}
		case string(name) != names[i]:
			return r, &FieldError{string(name), fmt.Sprintf("must be spelled %q in the request body", names[i])}
		}
		found[i] = value
	}
	if err := m.Err(); err != nil {
		return r, err
	}
	return r, r.take(body, &found, s)
}

// take checks the kinds of the members that were found and keeps what they say.
func (r *Request) take(body []byte, found *members, s Shape) error {
	r.model, r.options, r.asks = found[model], found[streamOptions], s.Asks
	var err error
	if r.Model, err = textMember(body, "model", found[model]); err != nil {
		return err
	}
	if r.Stream, err = boolMember(body, "stream", found[stream]); err != nil {
		return err
	}
	if r.Stream && !s.Streams {
		return &FieldError{"stream", "cannot be true here: this answer has no stream"}
	}
	if err := r.takeOptions(body); err != nil {
		return err
	}
	if s.Keeps {
		if err := r.takeKept(body, found); err != nil {
			return err
		}
	}
	if err := r.need(body, found[needed], s); err != nil {
		return err
	}
	cacheKey, err := textMember(body, "prompt_cache_key", found[promptCacheKey])
	if err != nil {
		return err
	}
	end, err := textMember(body, "user", found[user])
	if err != nil {
		return err
	}
	sessionID, userID, err := r.takeMetadata(body, found[metadata])
	if err != nil {
		return err
	}
	r.Session = cmp.Or(cacheKey, sessionID, sessionOf(userID), end)
	return nil
}

// need checks the member that every request of the kind has. One that goes on with what the provider has kept may say
// nothing of its own.
func (r *Request) need(body []byte, at Span, s Shape) error {
	if !at.Found() || Null(at.In(body)) {
		if r.Kept.Bound() {
			return nil
		}
		return &FieldError{s.Needs, "is missing from the request body"}
	}
	if v := at.In(body); s.List && v[0] != '[' {
		return &FieldError{s.Needs, "must be an array, not " + Kind(v)}
	}
	return nil
}

func (r *Request) takeOptions(body []byte) error {
	if !r.options.Found() || Null(r.options.In(body)) {
		return nil
	}
	text := r.options.In(body)
	if text[0] != '{' {
		return &FieldError{"stream_options", "must be an object, not " + Kind(text)}
	}
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) != "include_usage" {
			continue
		}
		if r.include.Found() {
			return &FieldError{"stream_options.include_usage", "stands twice in the request body"}
		}
		r.include = Span{r.options.From + value.From, r.options.From + value.To}
	}
	var err error
	r.WantsUse, err = boolMember(body, "stream_options.include_usage", r.include)
	return err
}

func (r *Request) takeMetadata(body []byte, at Span) (session, user string, err error) {
	if !at.Found() || Null(at.In(body)) {
		return "", "", nil
	}
	text := at.In(body)
	if text[0] != '{' {
		return "", "", &FieldError{"metadata", "must be an object, not " + Kind(text)}
	}
	r.Metadata = at
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
				return "", "", &FieldError{"metadata." + f.name, "stands twice in the request body"}
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
// from a client that did not ask. Edits that are there already are kept; all of them come back in order.
func (r *Request) Upstream(body []byte, model string, askUsage bool, edits []Edit) []Edit {
	switch {
	case r.model.Found():
		if r.Model != model {
			edits = append(edits, Edit{r.model, Quote(model)})
		}
	default:
		edits = append(edits, r.insert(`"model":`+Quote(model)))
	}
	if !r.Stream || !r.asks || !askUsage || r.WantsUse {
		return Sorted(edits)
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
	return Sorted(edits)
}

// insert puts a member first. A comma always follows: a body with no member of its own was refused.
func (r *Request) insert(member string) Edit {
	return Edit{Span{r.open, r.open}, member + ","}
}

func emptyObject(text []byte) bool {
	m := Object(text)
	_, _, some := m.Next()
	return !some
}

// Sorted orders edits by place. Insertions at one place keep their order, and stand in front of what is replaced there.
func Sorted(edits []Edit) []Edit {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.At.From, b.At.From), cmp.Compare(a.At.To, b.At.To))
	})
	return edits
}

func textMember(body []byte, field string, at Span) (string, error) {
	if !at.Found() || Null(at.In(body)) {
		return "", nil
	}
	text, ok := Text(at.In(body))
	if !ok {
		return "", &FieldError{field, "must be a string, not " + Kind(at.In(body))}
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
		return false, &FieldError{field, "must be a boolean, not " + Kind(v)}
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
