package responses

import (
	"fmt"
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Decoder reads the stream of one response. The zero Decoder is ready. It remembers the items that are open and every
// call, and nothing of what they said.
type Decoder struct {
	items   []item
	tools   int  // calls so far
	started bool // Started was told
	itemed  bool // an item has come
	thought bool // some reasoning was told
	spoke   bool // some text was told
	refused bool // some refusal was told
	whole   bool
}

// Whole reports whether the stream has told how the response ended.
func (d *Decoder) Whole() bool { return d.whole }

// event is what one event says.
type event struct {
	kind             []byte // its type
	response, item   []byte
	delta, text      []byte
	arguments        []byte
	itemID           []byte
	output           int // output_index; -1 = not said
	content, summary int // index of the part
}

// Decode reads one event. Types that are not known are passed over, as the protocol's own clients do: it grows, and the
// Codex backend has some of its own. So is what comes behind the end.
func (d *Decoder) Decode(name, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	if d.whole {
		return events, nil
	}
	e, err := read(data)
	if err != nil {
		return events, fmt.Errorf("decode event of a response: %w", err)
	}
	if len(e.kind) == 0 {
		e.kind = name
	}
	if events, err = d.take(&e, data, events); err != nil {
		return events, fmt.Errorf("decode %s: %w", e.kind, err)
	}
	return events, nil
}

// read finds the members of an event.
func read(data []byte) (event, error) {
	e := event{output: -1}
	m := wire.Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "type":
			e.kind, _ = wire.Text(v)
		case "response":
			e.response = v
		case "item":
			e.item = v
		case "delta":
			e.delta = v
		case "text", "refusal":
			e.text = v
		case "arguments":
			e.arguments = v
		case "item_id":
			e.itemID, _ = wire.Text(v)
		case "output_index":
			e.output = index(v, -1)
		case "content_index":
			e.content = index(v, 0)
		case "summary_index":
			e.summary = index(v, 0)
		}
	}
	return e, m.Err()
}

func index(v []byte, otherwise int) int {
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// take does what an event's type asks for.
func (d *Decoder) take(e *event, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	switch string(e.kind) {
	case "response.created", "response.in_progress", "response.queued":
		return d.start(e.response, events), nil
	case "response.output_item.added":
		return d.added(e, d.start(nil, events))
	case "response.output_item.done":
		return d.done(e, d.start(nil, events))
	case "response.output_text.delta":
		return d.piece(e, part{message, neutral.Text, e.content}, e.delta, events)
	case "response.output_text.done":
		return d.rest(e, part{message, neutral.Text, e.content}, events)
	case "response.refusal.delta":
		return d.piece(e, part{message, neutral.Refusal, e.content}, e.delta, events)
	case "response.refusal.done":
		return d.rest(e, part{message, neutral.Refusal, e.content}, events)
	case "response.reasoning_summary_text.delta":
		return d.piece(e, part{summary, neutral.Reasoning, e.summary}, e.delta, events)
	case "response.reasoning_summary_text.done":
		return d.rest(e, part{summary, neutral.Reasoning, e.summary}, events)
	case "response.reasoning_text.delta":
		return d.piece(e, part{thinking, neutral.Reasoning, e.content}, e.delta, events)
	case "response.reasoning_text.done":
		return d.rest(e, part{thinking, neutral.Reasoning, e.content}, events)
	case "response.function_call_arguments.delta":
		return d.arguments(e, events)
	case "response.function_call_arguments.done":
		return d.argumentsDone(e, events)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		d.whole = true
		return d.end(string(e.kind), e.response, data, d.start(e.response, events))
	case "error":
		d.whole = true
		return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: data}), nil
	}
	return events, nil
}

// start tells that the answer has begun, once.
func (d *Decoder) start(response []byte, events []neutral.Event) []neutral.Event {
	if d.started {
		return events
	}
	d.started = true
	e := neutral.Event{Kind: neutral.Started, Tool: -1}
	if len(response) > 0 {
		m := wire.Object(response)
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			switch string(name) {
			case "id":
				e.ID = text(value.In(response))
			case "model":
				e.Name = text(value.In(response))
			}
		}
	}
	return append(events, e)
}

func text(v []byte) string {
	t, _ := wire.Text(v)
	return string(t)
}
