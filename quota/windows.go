package quota

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	bucketLimit = 16 // buckets that the headers of one answer measure
	usageLimit  = 64 // buckets of the answer of a usage endpoint
	windowLimit = 48 // bytes of a window's name
)

// windowField is what one header says of a window.
type windowField uint8

const (
	fieldLimit     windowField = iota
	fieldRemaining             // in the unit of the limit
	fieldReset                 // when the window is full again, in any unit
	fieldAfter                 // how long until then, in seconds; believed where fieldReset says nothing
	fieldUsed                  // in percent
	fieldFraction              // used, of 1; it may exceed that
	fieldMinutes               // how long the window is
	fieldStatus                // "allowed", "rejected"
	fieldLabel                 // the name of the model that the window is for
	fieldSnapshot              // a query string that says it all
	windowFields
)

// window collects the headers of one window.
type window struct {
	name   string // as in the header
	values [windowFields]string
}

// windowSet collects the windows of an answer's headers. It lives on the stack.
type windowSet struct {
	list [bucketLimit]window
	n    int
}

// set notes one header.
func (s *windowSet) set(name string, f windowField, value string) {
	for i := range s.list[:s.n] {
		if s.list[i].name == name {
			s.list[i].values[f] = value
			return
		}
	}
	if s.n < len(s.list) {
		s.list[s.n].name, s.list[s.n].values[f] = name, value
		s.n++
	}
}

// has reports whether a window was seen.
func (s *windowSet) has(name string) bool {
	return slices.ContainsFunc(s.list[:s.n], func(w window) bool { return w.name == name })
}

// windowsOf reads the headers that are about windows: those of the dialect, `x-ratelimit-{limit,remaining,reset}[-<window>]`
// (OpenAI and most others), and the IETF's `ratelimit` and `ratelimit-{limit,remaining,reset}`. The window of headers
// without a name is "ratelimit".
func (s *windowSet) windowsOf(r *rules, h http.Header) {
	for key, values := range h {
		if len(values) == 0 || len(key) > windowLimit+32 {
			continue
		}
		if r.header != nil {
			if name, f, ok := r.header(key); ok {
				s.set(name, f, values[0])
				continue
			}
		}
		if name, f, ok := rateHeader(key); ok {
			s.set(name, f, values[0])
		}
	}
	if !s.has("ratelimit") {
		s.addIETF(h)
	}
}

// rateHeader splits the name of an x-ratelimit header: "X-Ratelimit-Reset-Tokens" is the reset of "Tokens".
func rateHeader(key string) (name string, f windowField, ok bool) {
	rest, ok := strings.CutPrefix(key, "X-Ratelimit-")
	if !ok {
		if rest, ok = strings.CutPrefix(key, "X-Rate-Limit-"); !ok {
			return "", 0, false
		}
	}
	if rest == "Reset-After" {
		return "ratelimit", fieldAfter, true
	}
	field, name, named := strings.Cut(rest, "-")
	if f, ok = fieldNamed(field); !ok {
		return "", 0, false
	}
	if !named {
		name = "ratelimit"
	}
	return name, f, true
}

// fieldNamed is the field that a word in a header's name stands for.
func fieldNamed(word string) (windowField, bool) {
	switch word {
	case "Limit":
		return fieldLimit, true
	case "Remaining":
		return fieldRemaining, true
	case "Reset":
		return fieldReset, true
	}
	return 0, false
}

// addIETF reads the headers of the IETF drafts: one structured header, or three.
func (s *windowSet) addIETF(h http.Header) {
	if value := h.Get("Ratelimit"); value != "" {
		s.addStructured(h.Get("Ratelimit-Policy")) // `"default";q=100;w=60` of the newer drafts
		s.addStructured(value)
		return
	}
	for _, part := range ietfHeaders {
		if value := h.Get(part.key); value != "" {
			s.set("ratelimit", part.field, value)
		}
	}
}

// ietfHeaders are the three headers of the older drafts.
var ietfHeaders = []struct {
	key   string
	field windowField
}{{"Ratelimit-Limit", fieldLimit}, {"Ratelimit-Remaining", fieldRemaining}, {"Ratelimit-Reset", fieldReset}}

// addStructured reads the IETF's single header in both of its forms: `limit=100, remaining=0, reset=50` and
// `"default";r=50;t=30`.
func (s *windowSet) addStructured(value string) {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "limit", "q":
			s.set("ratelimit", fieldLimit, v)
		case "remaining", "r":
			s.set("ratelimit", fieldRemaining, v)
		case "reset", "t":
			s.set("ratelimit", fieldReset, v)
		}
	}
}

// headerBuckets reads what headers measure.
func headerBuckets(d *dialect, h http.Header, at time.Time) []Bucket {
	var s windowSet
	s.windowsOf(&d.rules, h)
	return s.buckets(d, at)
}

// buckets makes Buckets of the windows, in the order of their ids. All ids share one string.
func (s *windowSet) buckets(d *dialect, at time.Time) []Bucket {
	if s.n == 0 {
		return nil
	}
	var out []Bucket
	ids := make([]byte, 0, 32*s.n)
	var ends [bucketLimit]int
	for i := range s.list[:s.n] {
		w := &s.list[i]
		b, ok := w.bucket(at, d.rules.zone)
		if !ok {
			continue
		}
		if out == nil {
			out = make([]Bucket, 0, s.n)
		}
		start := len(ids)
		ids = append(append(ids, d.bucketPrefix()...), '.')
		named := len(ids)
		if ids = s.appendWindow(ids, &d.rules, w); len(ids) == named {
			ids = ids[:start]
			continue
		}
		ends[len(out)] = len(ids)
		out = append(out, b)
	}
	all, start := string(ids), 0
	for i := range out {
		out[i].ID = all[start:ends[i]]
		start = ends[i]
	}
	return byID(out)
}

// labelOf is the name that headers give the limit behind a window: "Codex-Bengalfox" behind "Codex-Bengalfox-Primary".
func (s *windowSet) labelOf(w *window) string {
	limit, _, ok := cutLast(w.name, "-")
	for i := range s.list[:s.n] {
		if ok && s.list[i].name == limit {
			return s.list[i].values[fieldLabel]
		}
	}
	return ""
}

// appendWindow appends what a window is called behind the provider's name: lower case, "-" as "_".
func (s *windowSet) appendWindow(id []byte, r *rules, w *window) []byte {
	if r.windowID != nil {
		return r.windowID(id, *w, s.labelOf(w)) // a copy: pointers that a rule is given live on the heap
	}
	name := w.name[:min(len(w.name), windowLimit)]
	if known, ok := r.windows[name]; ok {
		return append(id, known...)
	}
	return appendName(id, name, '_')
}

// appendName appends a name in lower case, with joint for what joins its words.
func appendName(id []byte, name string, joint byte) []byte {
	for i := range len(name) {
		c := folds[name[i]]
		if c == ' ' {
			c = joint
		}
		id = append(id, c)
	}
	return id
}
