package quota

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
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

// answer is a Response taken apart once, for the rules of its dialect.
type answer struct {
	Response
	dialect *dialect
	kind    bodyKind
	unread  string // the encoding behind bodyUnread
	root    gjson.Result
	faults  []fault        // the error objects found, innermost first; none on success
	details []gjson.Result // lists of typed details
	lists   []string       // messages that may list what several upstreams said
	silent  bool           // a stream that said nothing
	words   string         // the messages of the faults, or the text that stands for one
	common  []phraseHit
	own     []phraseHit // of the dialect's book
	signs   [signs]bool
	usage   rateUsage
	quotas  []violation // Google's, once measured
	buckets []Bucket
}

// take decodes a response and finds what it complains about.
func take(r Response, d *dialect) *answer {
	a := &answer{Response: r, dialect: d, kind: bodyUnread}
	a.Body, a.unread = decode(r.Header, r.Body)
	if a.unread == "" {
		a.Body = unpython(bytes.TrimLeft(a.Body, "\ufeff \t\r\n"))
		a.kind = kindOf(r.Header.Get("Content-Type"), a.Body)
	}
	a.findFaults()
	a.findHeaderFaults()
	a.findWords()
	a.buckets = a.readBuckets()
	return a
}

// kindOf tells the kind of a body whose leading white space is gone.
func kindOf(contentType string, body []byte) bodyKind {
	contentType = strings.ToLower(contentType)
	switch {
	case len(body) == 0:
		return bodyEmpty
	case beginsJSON(body):
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

// beginsJSON reports whether a body begins as an object or an array does; "[retrying in 5s]" does not.
func beginsJSON(body []byte) bool {
	if body[0] != '{' && body[0] != '[' {
		return false
	}
	rest := bytes.TrimLeft(body[1:], " \t\r\n")
	if len(rest) == 0 || rest[0] == '"' || rest[0] == body[0]+2 { // a member, or the bracket that closes
		return true
	}
	return body[0] == '[' && (rest[0] == '{' || rest[0] == '[' || digit(rest[0]))
}

// unpython makes JSON of an object that Python printed, quotes and all, where that is enough.
func unpython(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("{'")) {
		return body
	}
	if swapped := bytes.ReplaceAll(body, []byte("'"), []byte(`"`)); gjson.ValidBytes(swapped) {
		return swapped
	}
	return body
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
	var c faultCollector
	switch a.kind {
	case bodyJSON:
		c = a.findObjectFaults()
	case bodyStream:
		a.root, c, a.silent = scanEvents(a.Body)
	}
	a.faults, a.details, a.lists = c.faults, c.details, c.lists
	if len(c.header) > 0 {
		merged := a.Header.Clone()
		if merged == nil {
			merged = make(http.Header, len(c.header))
		}
		maps.Copy(merged, c.header)
		a.Header = merged
	}
}

// findObjectFaults looks for them in a body of one object. Under a failing status all of it is about the failure.
func (a *answer) findObjectFaults() (c faultCollector) {
	a.root = gjson.ParseBytes(a.Body)
	if !a.delivered() || complains(a.root) {
		c = faultsOf(a.root)
		if len(c.faults) == 0 && complains(a.root) {
			c.faults = []fault{{object: a.root}}
		}
		return c
	}
	if answered := a.dialect.rules.answered; answered != nil {
		if text := answered(a.root); text != "" {
			c.text(text, 0)
		}
	}
	return c
}

// findHeaderFaults adds what headers say of the error. They are written by the service itself, so they go first:
// x-amzn-errortype names Amazon's exception; x-error-json is Codex's whole error object in base64, under a body that says
// only "Unauthorized" (openai/codex, codex-rs/codex-api api_bridge).
func (a *answer) findHeaderFaults() {
	if a.delivered() && len(a.faults) == 0 {
		return
	}
	var first []fault
	if text := a.Header.Get("X-Error-Json"); text != "" {
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil && gjson.ValidBytes(plain) {
			first = faultsOf(gjson.ParseBytes(plain)).faults
		}
	}
	if name := a.Header.Get("X-Amzn-Errortype"); name != "" {
		var f fault
		f.addCode(name)
		first = append(first, f)
	}
	if len(first) > 0 {
		a.faults = append(first, a.faults...)
	}
}

// delivered reports whether the status says success.
func (a *answer) delivered() bool {
	return a.Status >= 200 && a.Status < 300 || a.Status == http.StatusSwitchingProtocols
}

// findWords collects what the answer says in words and opens the books at it.
func (a *answer) findWords() {
	a.words = a.text()
	if len(a.words) > proseLimit {
		a.words = a.words[:proseLimit]
	}
	if a.words == "" {
		return
	}
	if hidden := a.dialect.rules.wordCode; hidden != nil {
		for i := range a.faults {
			f := &a.faults[i]
			for _, m := range f.messages {
				if code := hidden(m); code != "" {
					f.codes = append([]string{code}, f.codes...)
				}
			}
		}
	}
	a.common, a.own = commonBook.find(a.words), a.dialect.book.find(a.words)
	for _, h := range a.common {
		a.signs[commonBook.groups[h.group].sign] = true
	}
	a.usage = rateUsageIn(a.words)
}

// text is everything in words that the answer says about its trouble, innermost first.
func (a *answer) text() string {
	if len(a.faults) == 0 {
		if a.kind == bodyText || a.kind == bodyHTML {
			return string(a.Body[:min(len(a.Body), proseLimit)])
		}
		return ""
	}
	single, count, size := "", 0, 0
	for _, f := range a.faults {
		for _, m := range f.messages {
			single = m
			count++
			size += len(m) + 1
		}
	}
	if count <= 1 {
		return single
	}
	var b strings.Builder
	b.Grow(size)
	for _, f := range a.faults {
		for _, m := range f.messages {
			b.WriteString(m)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
