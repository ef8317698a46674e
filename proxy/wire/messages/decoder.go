package messages

import (
	"errors"
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// ErrStream is wrapped by every error of a Decoder: the stream is not what the protocol says.
var ErrStream = errors.New("read a Messages stream")

// Decoder reads one Messages stream. The zero Decoder is ready. What it remembers does not grow with the answer, but with
// one block of it: a seal, or a call's input where a server tells it whole.
type Decoder struct {
	begun, ended, failed bool

	usage  wire.MessagesUsage
	finish neutral.Finish
	calls  int
	block  block
}

// block is the content block that is open.
type block struct {
	open     bool
	index    string
	kind     string
	tool     int    // of a call
	input    string // of a call that came whole
	started  bool   // some of the arguments came
	sealData string
}

// NewDecoder returns a Decoder of one stream.
func NewDecoder() *Decoder { return &Decoder{} }

// Whole reports whether message_stop was seen.
func (d *Decoder) Whole() bool { return d.ended }

// Decode reads one event; see neutral.Decoder.
func (d *Decoder) Decode(name, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	if d.ended || d.failed || string(data) == "[DONE]" { // some gateways add OpenAI's end mark
		return events, nil
	}
	e, err := readEvent(name, data)
	if err != nil {
		return events, err
	}
	switch string(e.kind) {
	case "message_start":
		return d.start(&e, events)
	case "error":
		d.failed = true
		return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: data}), nil
	case "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if !d.begun {
			return events, fmt.Errorf("%w: %s before message_start", ErrStream, e.kind)
		}
	}
	switch string(e.kind) {
	case "content_block_start":
		return d.blockStart(&e, events)
	case "content_block_delta":
		return d.blockDelta(&e, events)
	case "content_block_stop":
		return d.blockStop(&e, events)
	case "message_delta":
		return d.delta(&e, events)
	case "message_stop":
		return d.stop(events)
	}
	return events, nil // ping, and what the protocol has learned since
}

// event is one event's members.
type event struct {
	kind    []byte // the inside of the type's literal
	index   []byte
	message []byte
	block   []byte
	delta   []byte
	usage   []byte
}

func readEvent(name, data []byte) (event, error) {
	e := event{kind: name}
	fault := false
	m := wire.Object(data)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(data)
		switch string(n) {
		case "type":
			if t, ok := wire.Text(v); ok {
				e.kind = t
			}
		case "index":
			e.index = v
		case "message":
			e.message = v
		case "content_block":
			e.block = v
		case "delta":
			e.delta = v
		case "usage":
			e.usage = v
		case "error":
			fault = !wire.Null(v)
		}
	}
	if err := m.Err(); err != nil {
		return e, fmt.Errorf("%w: %w", ErrStream, err)
	}
	if fault {
		e.kind = []byte("error")
	}
	return e, nil
}

func (d *Decoder) start(e *event, events []neutral.Event) ([]neutral.Event, error) {
	if d.begun {
		return events, fmt.Errorf("%w: a second message_start", ErrStream)
	}
	d.begun = true
	started := neutral.Event{Kind: neutral.Started, Tool: -1}
	var usage []byte
	m := wire.Object(e.message)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(e.message)
		switch string(n) {
		case "id":
			started.ID = text(v)
		case "model":
			started.Name = text(v)
		case "usage":
			usage = v
		}
	}
	return d.count(usage, append(events, started)), nil
}

// count tells the usage, where there is news of it.
func (d *Decoder) count(usage []byte, events []neutral.Event) []neutral.Event {
	if u := d.usage.Add(usage); u.Known {
		events = append(events, neutral.Event{Kind: neutral.Counted, Tool: -1, Usage: u})
	}
	return events
}

// delta reads why the answer ends.
func (d *Decoder) delta(e *event, events []neutral.Event) ([]neutral.Event, error) {
	var details []byte
	m := wire.Object(e.delta)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(e.delta)
		switch string(n) {
		case "stop_reason":
			if reason, ok := wire.Text(v); ok && len(reason) > 0 {
				d.finish = finish(string(reason), d.calls)
			}
		case "stop_details":
			details = v
		}
	}
	if d.finish == neutral.FinishRefusal {
		events = refusal(details, events)
	}
	return d.count(e.usage, events), nil
}

// refusal tells why the model declined, in the provider's words, where there are some.
func refusal(details []byte, events []neutral.Event) []neutral.Event {
	m := wire.Object(details)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		if v := value.In(details); string(n) == "explanation" && v[0] == '"' && len(v) > 2 {
			events = append(events, neutral.Event{Kind: neutral.Refusal, Tool: -1, Text: v})
		}
	}
	return events
}

func (d *Decoder) stop(events []neutral.Event) ([]neutral.Event, error) {
	switch {
	case d.block.open:
		return events, fmt.Errorf("%w: message_stop inside a content block", ErrStream)
	case d.finish == 0:
		return events, fmt.Errorf("%w: message_stop without a stop_reason", ErrStream)
	}
	d.ended = true
	return append(events, neutral.Event{Kind: neutral.Finished, Tool: -1, Finish: d.finish}), nil
}

// finish is what a stop_reason means: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. A turn
// with calls in it waits for their results, whatever it says.
func finish(reason string, calls int) neutral.Finish {
	switch reason {
	case "max_tokens", "model_context_window_exceeded", "pause_turn":
		return neutral.FinishLength
	case "refusal":
		return neutral.FinishRefusal
	}
	if calls > 0 {
		return neutral.FinishTools
	}
	return neutral.FinishStop
}

// text is what a JSON string says, "" for anything else.
func text(v []byte) string {
	t, _ := wire.Text(v)
	return string(t)
}
