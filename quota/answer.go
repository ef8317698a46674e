package quota

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// bodyKind is what a decoded body looks like. The bytes decide; the label helps only where they do not.
type bodyKind uint8

const (
	bodyEmpty bodyKind = iota
	bodyJSON
	bodyStream // server-sent events, or one JSON value per line
	bodyHTML
	bodyText
	bodyUnread // encoded in a way that is not undone here
)

// answer is a Response taken apart once, for the readers of the dialects.
type answer struct {
	Response
	prefix  string // of the bucket ids
	kind    bodyKind
	unread  string // the encoding behind bodyUnread
	root    gjson.Result
	faults  []fault // the error objects found, innermost first; none on success
	silent  bool    // a stream that said nothing
	prose   prose   // the messages of the faults, or the text that stands for one
	usage   rateUsage
	buckets []Bucket
}

// take decodes a response and finds what it complains about.
func take(r Response, prefix string) *answer {
	a := &answer{Response: r, prefix: prefix}
	plain, unread := decode(r.Header, r.Body)
	a.Body, a.unread = plain, unread
	a.kind = bodyUnread
	if unread == "" {
		a.Body = bytes.TrimLeft(plain, "\ufeff \t\r\n")
		a.kind = kindOf(r.Header.Get("Content-Type"), a.Body)
	}
	a.findFaults()
	a.prose = newProse(a.text())
	a.usage = rateUsageIn(a.prose.raw)
	a.buckets = a.readBuckets()
	return a
}

// kindOf tells the kind of a body whose leading white space is gone.
func kindOf(contentType string, body []byte) bodyKind {
	contentType = strings.ToLower(contentType)
	switch {
	case len(body) == 0:
		return bodyEmpty
	case body[0] == '{' || body[0] == '[':
		if isLines(body) {
			return bodyStream
		}
		return bodyJSON
	case body[0] == '<':
		return bodyHTML
	case isEvents(body) || strings.Contains(contentType, "event-stream"):
		return bodyStream
	case strings.Contains(contentType, "text/html"):
		return bodyHTML
	case body[0] == '"' && gjson.ValidBytes(body):
		return bodyJSON
	}
	return bodyText
}

// isEvents reports whether a body begins with a line of server-sent events.
func isEvents(body []byte) bool {
	for _, field := range []string{"data:", "event:", ":", "id:", "retry:"} {
		if bytes.HasPrefix(body, []byte(field)) {
			return true
		}
	}
	return false
}

// isLines reports whether a body is more than one JSON value, each on a line of its own.
func isLines(body []byte) bool {
	first, rest, more := bytes.Cut(body, []byte("\n"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return more && len(rest) > 0 && rest[0] == '{' && gjson.ValidBytes(first)
}

// findFaults fills in faults, and the JSON of the body or of the event that carries them.
func (a *answer) findFaults() {
	switch a.kind {
	case bodyJSON:
		a.root = gjson.ParseBytes(a.Body)
		if refused := complains(a.root); refused || !a.delivered() {
			a.faults = faultsOf(a.root)
			if refused && len(a.faults) == 0 {
				a.faults = []fault{{object: a.root}}
			}
		}
	case bodyStream:
		a.root, a.faults, a.silent = scanEvents(a.Body)
	}
}

// delivered reports whether the status says success.
func (a *answer) delivered() bool { return a.Status >= 200 && a.Status < 300 || a.Status == 101 }

// text is everything in words that the answer says about its trouble, innermost first.
func (a *answer) text() string {
	if len(a.faults) == 0 {
		if a.kind == bodyText || a.kind == bodyHTML {
			return string(a.Body[:min(len(a.Body), proseLimit)])
		}
		return ""
	}
	var b strings.Builder
	b.Grow(512)
	for _, f := range a.faults {
		for _, m := range f.messages {
			b.WriteString(m)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
