package wire

import "bytes"

// ResponseFold puts the events of a Responses stream together to the response that the same request would have been
// answered with, had it not been streamed. The items are those that the events told: some servers (ChatGPT's Codex
// backend) leave them out of the response at the end.
type ResponseFold struct {
	items    [][]byte
	response []byte
}

// Add takes the data of one event.
func (f *ResponseFold) Add(data []byte) {
	var kind, item, response []byte
	m := Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "type":
			kind = inner(v)
		case "item":
			item = v
		case "response":
			response = v
		}
	}
	switch string(kind) {
	case "response.output_item.done":
		if len(item) > 0 {
			f.items = append(f.items, bytes.Clone(item))
		}
	case "response.completed", "response.incomplete":
		f.response = bytes.Clone(response)
	}
}

// Append appends the response. ok is false when the stream has not told how it ended.
func (f *ResponseFold) Append(dst []byte) (whole []byte, ok bool) {
	if len(f.response) == 0 || f.response[0] != '{' {
		return dst, false
	}
	output := fields(f.response, Span{0, len(f.response)}, "output")[0]
	items := "[" + string(bytes.Join(f.items, []byte(","))) + "]"
	switch {
	case len(f.items) == 0 || output.Found() && saysAnything(output.In(f.response)):
		return append(dst, f.response...), true
	case output.Found():
		return Splice(dst, f.response, []Edit{{output, items}}), true
	case emptyObject(f.response):
		return append(append(append(dst, `{"output":`...), items...), '}'), true
	}
	return Splice(dst, f.response, []Edit{{Span{1, 1}, `"output":` + items + ","}}), true
}
