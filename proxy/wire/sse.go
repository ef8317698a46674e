package wire

import (
	"bytes"
	"unicode/utf8"
)

// Event is one event of an event stream, looked at in place: its slices are valid until the next Split.
type Event struct {
	Raw  []byte // as it came, its closing blank line included
	Name []byte // value of the last event: line, nil when there was none
	Data []byte // value of the data: lines, joined by newlines; nil when there was none
	// Odd is set when the event holds what some client cannot take: id:, retry:, a byte-order mark, a name without data,
	// bytes that are not UTF-8 (Name and Data are mended then). Its Raw must not be passed on as it is.
	Odd bool
	// Unread is set on the tail of an event that was larger than MaxEvent: nothing is known of it.
	Unread bool
}

// Comment reports whether the event carries nothing but comments or blank lines.
func (e *Event) Comment() bool { return e.Data == nil && e.Name == nil && !e.Odd && !e.Unread }

// MaxEvent is the largest event that is looked at. A larger one is passed on unread, piece by piece.
const MaxEvent = 4 << 20

// byteOrderMark in front of a stream hides its first event from some clients.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Splitter cuts an event stream into events. It keeps no copy of the stream: the caller's buffer holds what is not yet
// complete.
type Splitter struct {
	started bool // the first event was seen, and with it a byte-order mark
	unread  bool // the front of the incomplete event was passed on unread
	scanned int  // bytes of the incomplete event that hold no blank line
	joined  []byte
}

// Split returns the first complete event of buf and how many bytes it takes, or n = 0 when more bytes are needed. A
// stream's last event counts as complete at its end only with its blank line: without one it was cut.
func (s *Splitter) Split(buf []byte) (e Event, n int) {
	n = s.boundary(buf)
	if n == 0 {
		return Event{}, 0
	}
	s.scanned = 0
	e.Raw = buf[:n]
	if !s.started {
		s.started = true
		e.Raw = bytes.TrimPrefix(e.Raw, byteOrderMark)
	}
	if s.unread {
		s.unread = false
		e.Unread = true
		return e, n
	}
	s.lines(&e)
	return e, n
}

// boundary returns the length of the first event: up to and with its blank line, whose line ends may be LF, CRLF or CR.
func (s *Splitter) boundary(buf []byte) int {
	at := max(s.scanned-3, 0) // a blank line may straddle what was scanned before
	for at < len(buf) {
		i := eol(buf[at:])
		if i < 0 {
			break
		}
		end, whole := lineEnd(buf, at+i)
		if !whole {
			s.scanned = at + i
			return 0
		}
		if end == len(buf) {
			s.scanned = at + i
			return 0
		}
		if buf[end] == '\n' || buf[end] == '\r' {
			// A CR at the very end may be the first half of a CRLF; waiting for the other half would hold back the
			// event, and a lone LF in front of the next event is harmless, so it is taken as complete.
			end, _ = lineEnd(buf, end)
			return end
		}
		at = end
	}
	s.scanned = len(buf)
	return 0
}

// lineEnd returns the offset behind the line end at i. whole is false for a CR at the end of buf, which may be half of CRLF.
func lineEnd(buf []byte, i int) (end int, whole bool) {
	if buf[i] == '\n' {
		return i + 1, true
	}
	if i+1 == len(buf) {
		return i + 1, false
	}
	if buf[i+1] == '\n' {
		return i + 2, true
	}
	return i + 1, true
}

// lines reads the event's lines by the rules of the event stream format.
func (s *Splitter) lines(e *Event) {
	rest := e.Raw
	lines := 0
	for len(rest) > 0 {
		line := rest
		if i := eol(rest); i >= 0 {
			line = rest[:i]
			end, _ := lineEnd(rest, i)
			rest = rest[end:]
		} else {
			rest = nil
		}
		field, value := cutField(line)
		switch string(field) {
		case "data":
			lines++
			if lines == 1 {
				e.Data = value
				break
			}
			if lines == 2 {
				s.joined = append(s.joined[:0], e.Data...)
			}
			s.joined = append(append(s.joined, '\n'), value...)
			e.Data = s.joined
		case "event":
			e.Name = value
		case "id", "retry":
			e.Odd = true
		}
	}
	if e.Name != nil && e.Data == nil {
		e.Odd = true
	}
	if !utf8.Valid(e.Raw) {
		e.Odd = true
		e.Name, e.Data = validUTF8(e.Name), validUTF8(e.Data)
	}
}

// validUTF8 is b with the Unicode replacement character for what is not UTF-8, as a browser would read it. nil stays nil.
func validUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\ufffd"))
}

// cutField splits a line at its first colon and drops one space behind it. A comment has an empty field name.
func cutField(line []byte) (field, value []byte) {
	before, after, ok := bytes.Cut(line, []byte{':'})
	if !ok {
		return line, line[len(line):]
	}
	value = after
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return before, value
}

// Overflow returns how many bytes of an incomplete event are to be passed on unread because the event has outgrown
// MaxEvent; the rest of that event then comes from Split marked Unread. 0 means: wait for more.
func (s *Splitter) Overflow(buf []byte) int {
	if len(buf) <= MaxEvent {
		return 0
	}
	s.unread = true
	n := len(buf) - 3 // a blank line may straddle the cut
	s.scanned = max(s.scanned-n, 0)
	return n
}

// eol returns the offset of the first line end in b, or -1.
func eol(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// AppendEvent appends one event in the plainest form that every client reads: a name where there is one, data lines, a
// blank line.
func AppendEvent(dst, name, data []byte) []byte {
	if len(name) > 0 {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		dst = append(append(append(dst, "data: "...), line...), '\n')
	}
	return append(dst, '\n')
}
