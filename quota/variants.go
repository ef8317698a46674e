package quota

import (
	"slices"
	"strings"
)

// variantLimit is how many upstreams one answer of a gateway may list.
const variantLimit = 8

// variantOf is one of the errors that a gateway lists when all of its upstreams failed: "zai: 429 {…}; ollama1: 403 {…}".
type variantOf struct {
	provider string
	status   int
	body     string
}

// variants finds them in the words of an answer: a name, a colon, a status, an object.
func variants(words string) []variantOf {
	var found []variantOf
	for at := 0; len(found) < variantLimit; {
		open := strings.IndexByte(words[at:], '{')
		if open < 0 {
			break
		}
		open += at
		size := balanced(words[open:])
		if size == 0 {
			break
		}
		at = open + size
		head := strings.TrimRight(words[:open], " ")
		if len(head) < 6 {
			continue
		}
		status, ok := parseNumber(head[len(head)-3:])
		name, colon := strings.CutSuffix(strings.TrimRight(head[:len(head)-3], " "), ":")
		name = name[strings.LastIndexAny(name, " :;,\n")+1:]
		if ok && colon && status >= 400 && name != "" {
			found = append(found, variantOf{provider: strings.ToLower(name), status: int(status), body: words[open:at]})
		}
	}
	return found
}

// readVariants reads an answer that lists what several upstreams said: the one that recovers first decides, each in its own
// provider's dialect (continue#13195). It is all of the gateway's accounts at once.
func (a *answer) readVariants() (Reading, bool) {
	list := variants(a.words)
	if len(list) < 2 {
		return Reading{}, false
	}
	readings := make([]Reading, 0, len(list))
	for _, v := range list {
		rd := Read(Response{Provider: v.provider, Status: v.status, Body: []byte(v.body), At: a.At})
		rd.Scope, rd.Buckets, rd.Family = ScopeProvider, a.buckets, ""
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
	return slices.Index([]Class{Overloaded, ServerError, Timeout, RateLimited, QuotaExhausted, ModelNotFound, AuthExpired, AuthInvalid, Forbidden, Billing}, c)
}
