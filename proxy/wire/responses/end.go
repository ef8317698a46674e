package responses

import (
	"errors"
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// response is what a whole response says of its end.
type response struct {
	status, reason string
	fault          []byte
	usage          wire.Usage
	output         []byte
}

func readResponse(body []byte) (response, error) {
	var r response
	if len(body) == 0 {
		return r, nil
	}
	m := wire.Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		switch string(name) {
		case "status":
			r.status = text(v)
		case "error":
			if v[0] == '{' || v[0] == '"' {
				r.fault = v
			}
		case "incomplete_details":
			r.reason = reason(v)
		case "usage":
			if v[0] == '{' {
				r.usage = wire.ReadUsage(v)
			}
		case "output":
			r.output = v
		}
	}
	return r, m.Err()
}

// reason is why a response is incomplete.
func reason(details []byte) (why string) {
	m := wire.Object(details)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) == "reason" {
			why = text(value.In(details))
		}
	}
	return why
}

// end tells how a response ended. data is what an error is told by when the response has none.
func (d *Decoder) end(kind string, body, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	r, err := readResponse(body)
	if err != nil {
		return events, err
	}
	failed := kind == "response.failed" || kind == "response.cancelled" || r.status == "failed" || r.status == "cancelled" || r.fault != nil
	if !failed && !d.itemed { // no events told the items
		if events, err = d.all(r.output, events); err != nil {
			return events, err
		}
	}
	if r.usage.Known {
		events = append(events, neutral.Event{Kind: neutral.Counted, Tool: -1, Usage: r.usage})
	}
	if failed {
		if r.fault != nil {
			data = append(append([]byte(`{"error":`), r.fault...), '}')
		}
		return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: data}), nil
	}
	return append(events, neutral.Event{Kind: neutral.Finished, Tool: -1, Finish: d.finish(kind, &r)}), nil
}

// finish is why a good answer ended.
func (d *Decoder) finish(kind string, r *response) neutral.Finish {
	switch {
	case kind == "response.incomplete" || r.status == "incomplete":
		if r.reason == "content_filter" {
			return neutral.FinishFilter
		}
		return neutral.FinishLength
	case d.tools > 0:
		return neutral.FinishTools
	case d.refused && !d.spoke:
		return neutral.FinishRefusal
	}
	return neutral.FinishStop
}

// all tells the items of a whole response.
func (d *Decoder) all(output []byte, events []neutral.Event) ([]neutral.Event, error) {
	a := wire.Array(output)
	for at := 0; ; at++ {
		one, ok := a.Next()
		if !ok {
			return events, nil
		}
		var err error
		if events, err = d.done(&event{item: one, output: at}, events); err != nil {
			return events, fmt.Errorf("output[%d]: %w", at, err)
		}
	}
}

// DecodeAnswer reads a response that was not streamed. What is not a whole response, or one that is still being made, is an
// error.
func DecodeAnswer(body []byte, events []neutral.Event) ([]neutral.Event, error) {
	r, err := readResponse(body)
	switch {
	case err != nil:
		return events, fmt.Errorf("decode response: %w", err)
	case len(body) == 0 || r.fault == nil && r.status != "failed" && r.status != "cancelled" && (len(r.output) == 0 || r.output[0] != '['):
		return events, errors.New("decode response: it has no output")
	case r.status == "queued" || r.status == "in_progress":
		return events, fmt.Errorf("decode response: its status is %q", r.status)
	}
	var d Decoder
	if events, err = d.end("", body, body, d.start(body, events)); err != nil {
		return events, fmt.Errorf("decode response: %w", err)
	}
	return events, nil
}
