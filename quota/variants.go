package quota

import (
	"slices"
	"strings"
)

// variantLimit is how many upstreams one answer of a gateway may list.
const variantLimit = 8

// variantOf is one of the errors that a gateway lists when all of its upstreams failed: "zai: 429 {…}; ollama1: 403 {…}",
// "ollama1: … Invalid status code: 400 Bad Request: {…}, zai: …" (continue#13195, #13259).
type variantOf struct {
	provider string // "" = not known
	status   int
	body     string
}

// variants finds them in a message: objects, each behind a status.
func variants(words string) []variantOf {
	var found []variantOf
	for rest := words; len(found) < variantLimit; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		size := balanced(rest[open:])
		if size == 0 {
			break
		}
		head, body := rest[:open], rest[open:open+size]
		rest = rest[open+size:]
		v := variantOf{body: body}
		for word := range strings.FieldsFuncSeq(head, func(r rune) bool { return strings.ContainsRune(" ,;|\n()", r) }) {
			name, colon := strings.CutSuffix(word, ":")
			if n, ok := parseNumber(name); ok && n >= 400 && n < 600 {
				v.status = int(n)
			} else if name = strings.ToLower(name); colon && dialectOf(name).name != dialectOf("").name {
				v.provider = name
			}
		}
		if v.status != 0 {
			found = append(found, v)
		}
	}
	return found
}

// readVariants reads an answer that lists what several upstreams said: the one that recovers first decides, each in its own
// provider's dialect (continue#13195). It is all of the gateway's accounts at once.
func (a *answer) readVariants() (Reading, bool) {
	var list []variantOf
	for _, text := range a.lists {
		if list = variants(text); len(list) > 1 {
			break
		}
	}
	if len(list) < 2 {
		return Reading{}, false
	}
	readings := make([]Reading, 0, len(list))
	for _, v := range list {
		rd := Read(Response{Provider: v.provider, Status: v.status, Body: []byte(v.body), At: a.At})
		rd.Buckets, rd.Family = a.buckets, ""
		if rd.Scope != ScopeRequest {
			rd.Scope = ScopeProvider
		}
		readings = append(readings, rd)
	}
	return slices.MinFunc(readings, func(x, y Reading) int {
		switch {
		case x.ResetAt.IsZero() != y.ResetAt.IsZero():
			if x.ResetAt.IsZero() {
				return 1
			}
			return -1
		case !x.ResetAt.IsZero():
			return x.ResetAt.Compare(y.ResetAt)
		}
		return recovery(x.Class) - recovery(y.Class)
	}), true
}

// recovery orders the classes by how soon they mend by themselves.
func recovery(c Class) int {
	return slices.Index([]Class{
		Overloaded, ServerError, Timeout, RateLimited, QuotaExhausted, ModelNotFound, AuthExpired, AuthInvalid, Forbidden, Billing, RequestTooLarge, ContextTooLong, ContentPolicy, InvalidRequest,
	}, c)
}
