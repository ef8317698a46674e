package wire

import "bytes"

// ResponsesReader reads the events of one Responses stream, in order.
type ResponsesReader struct {
	sealed [][]byte
}

// Read looks at the data of one event.
func (r *ResponsesReader) Read(data []byte) Step {
	var s Step
	var response, item, fault []byte
	says := false
	m := Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "type":
			s.Type = inner(v)
		case "response":
			response = v
		case "item":
			item = v
		case "delta":
			says = saysAnything(v)
		case "error":
			fault = v
		}
	}
	if m.Err() != nil {
		return Step{}
	}
	r.sealed = r.sealed[:0]
	switch t := s.Type; {
	case string(t) == "error":
		s.Failed = true
	case len(t) > 0 && !bytes.HasPrefix(t, responsePrefix):
		s.Foreign = true
	case string(t) == "response.output_item.added", string(t) == "response.output_item.done":
		s.Content = r.item(item)
	case string(t) == "response.completed", string(t) == "response.incomplete":
		s.Done, s.Content = true, true
		r.end(response, &s)
	case string(t) == "response.failed", string(t) == "response.cancelled":
		s.Failed = true
		r.end(response, &s)
	case bytes.HasSuffix(t, deltaSuffix):
		s.Content = says
	}
	if len(fault) > 0 && !saysNothing(fault) {
		s.Failed = true
	}
	s.Done = s.Done && !s.Failed
	s.Valid = len(s.Type) > 0 || s.Failed
	s.Sealed = r.sealed
	return s
}

var (
	responsePrefix = []byte("response.")
	deltaSuffix    = []byte(".delta")
)

// item looks at an item of the output. A message or a thought is content when it says something; any other item is what the
// model has decided to do.
func (r *ResponsesReader) item(item []byte) (content bool) {
	var kind []byte
	m := Object(item)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(item)
		switch string(name) {
		case "type":
			kind = inner(v)
		case "encrypted_content":
			if sealed := inner(v); len(sealed) > 0 {
				r.sealed = append(r.sealed, sealed)
			}
			content = content || says(v)
		case "content", "summary":
			content = content || says(v)
		}
	}
	if k := string(kind); k == "message" || k == "reasoning" {
		return content
	}
	return content || len(kind) > 0
}

// end looks at the whole response that a stream ends with.
func (r *ResponsesReader) end(response []byte, s *Step) {
	m := Object(response)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(response)
		switch string(name) {
		case "status":
			if status := string(inner(v)); status == "failed" || status == "cancelled" {
				s.Failed = true
			}
		case "error":
			s.Failed = s.Failed || !saysNothing(v)
		case "usage":
			if !Null(v) {
				s.Usage = chatUsage(v)
			}
		case "output":
			a := Array(v)
			for item, ok := a.Next(); ok; item, ok = a.Next() {
				r.item(item)
			}
		}
	}
}
