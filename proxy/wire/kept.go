package wire

// Kept is what a request leaves with the account that answers it, and what it takes from there. Only Responses requests
// have any of it.
type Kept struct {
	Store        bool   // the answer is to be kept: store is true or, which means the same, not said
	Background   bool   // the answer is to be made while nobody listens, and fetched later
	Previous     string // previous_response_id: the answer that this request goes on from
	Conversation string // id of the conversation that it belongs to
	Prompt       string // id of the prompt template that it is made from
}

// Bound reports whether the request goes on with what one account keeps: no other can serve it.
func (k Kept) Bound() bool { return k.Previous != "" || k.Conversation != "" || k.Prompt != "" }

// takeKept reads the members of a kind that is kept, and says whether the request has a beginning without its input.
func (r *Request) takeKept(body []byte, found *members) error {
	k := &r.Kept
	r.store = found[store]
	k.Store = !r.store.Found() || Null(r.store.In(body))
	if !k.Store {
		var err error
		if k.Store, err = boolMember(body, "store", r.store); err != nil {
			return err
		}
	}
	var err error
	if k.Background, err = boolMember(body, "background", found[background]); err != nil {
		return err
	}
	if k.Previous, err = textMember(body, "previous_response_id", found[previousResponse]); err != nil {
		return err
	}
	if k.Conversation, err = idMember(body, "conversation", found[conversation]); err != nil {
		return err
	}
	k.Prompt, err = idMember(body, "prompt", found[promptTemplate])
	return err
}

// idMember reads a member that is an id, or an object with one.
func idMember(body []byte, field string, at Span) (string, error) {
	if !at.Found() || at.In(body)[0] != '{' {
		return textMember(body, field, at)
	}
	object := at.In(body)
	var id Span
	m := Object(object)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) != "id" {
			continue
		}
		if id.Found() {
			return "", &FieldError{field + ".id", "stands twice in the request body"}
		}
		id = value
	}
	return textMember(object, field+".id", id)
}

// Unstored appends the edit that asks an account to keep nothing of a request that may be kept.
func (r *Request) Unstored(body []byte, edits []Edit) []Edit {
	switch {
	case !r.Kept.Store:
		return edits
	case r.store.Found():
		return append(edits, Edit{r.store, "false"})
	default:
		return append(edits, r.insert(`"store":false`))
	}
}
