package chat

import (
	"errors"
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Decoder reads the stream of one chat completion: its first choice. The zero Decoder is ready. It remembers the calls, and
// nothing of what was said.
type Decoder struct {
	id      string // of the completion
	started bool
	spoke   bool // something of an answer was told
	refused bool // some refusal was told
	texts   bool // some text was told
	calls   []callTold
	held    []neutral.Seal // of calls that are still to come
	whole   bool           // it has said why it ended
	broken  bool           // it has told an error
}

// endMark is what stands behind a stream.
const endMark = "[DONE]"

// Whole reports whether the stream has told why the answer ended, or has come to its end mark.
func (d *Decoder) Whole() bool { return d.whole }

// chunk is what one event says.
type chunk struct {
	id, model, choices, usage, fault []byte
}

func readChunk(data []byte) (c chunk, err error) {
	m := wire.Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "id":
			c.id = v
		case "model":
			c.model = v
		case "choices":
			c.choices = v
		case "usage":
			c.usage = v
		case "error":
			if !wire.Null(v) && string(v) != `""` && string(v) != "false" {
				c.fault = v
			}
		}
	}
	return c, m.Err()
}

// Decode reads one event. What it used may be told behind the end.
func (d *Decoder) Decode(name, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	switch {
	case string(data) == endMark:
		return d.marked(events), nil
	case string(name) == "error":
		return d.failed(data, events), nil
	case string(name) == "ping":
		return events, nil
	}
	c, err := readChunk(data)
	if err != nil {
		return events, fmt.Errorf("decode chunk of a chat completion: %w", err)
	}
	if c.fault != nil {
		return d.failed(data, events), nil
	}
	events = d.start(&c, events)
	choices := wire.Array(c.choices)
	for choice, ok := choices.Next(); ok; choice, ok = choices.Next() {
		if events, err = d.choice(choice, data, events); err != nil {
			return events, fmt.Errorf("decode chunk of a chat completion: %w", err)
		}
	}
	if len(c.usage) == 0 || c.usage[0] != '{' {
		return events, nil
	}
	if u := wire.ReadUsage(c.usage); u.Known {
		events = append(events, neutral.Event{Kind: neutral.Counted, Tool: -1, Usage: u})
	}
	return events, nil
}

// marked is the end mark. Behind an answer that has not said why it ended, it says that it did.
func (d *Decoder) marked(events []neutral.Event) []neutral.Event {
	if d.whole || d.broken || !d.spoke {
		return events
	}
	return d.finish("stop", events)
}

func (d *Decoder) failed(fault []byte, events []neutral.Event) []neutral.Event {
	d.broken = true
	return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: fault})
}

// start tells that the answer has begun, once.
func (d *Decoder) start(c *chunk, events []neutral.Event) []neutral.Event {
	if d.started {
		return events
	}
	d.started, d.id = true, said(c.id)
	return append(events, neutral.Event{Kind: neutral.Started, Tool: -1, ID: d.id, Name: said(c.model)})
}

func said(v []byte) string {
	t, _ := wire.Text(v)
	return string(t)
}

// choice reads what one choice says. One that is not the first was not asked for.
func (d *Decoder) choice(choice, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	var delta, finish []byte
	m := wire.Object(choice)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		switch v := value.In(choice); string(name) {
		case "index":
			if string(v) != "0" {
				return events, nil
			}
		case "delta", "message":
			delta = v
		case "finish_reason":
			finish = v
		}
	}
	before := len(events)
	events, err := d.delta(delta, events)
	if err != nil {
		return events, err
	}
	for i := before; i < len(events) && !d.spoke; i++ {
		d.spoke = events[i].Substance()
	}
	if d.whole || len(finish) <= 2 || finish[0] != '"' {
		return events, nil
	}
	switch why := said(finish); why {
	case "error", "error_finish", "insufficient_system_resource":
		return d.failed(data, events), nil
	default:
		return d.finish(why, events), nil
	}
}

// finish tells why the answer ended. Servers call a turn that ends in calls a stop, too.
func (d *Decoder) finish(why string, events []neutral.Event) []neutral.Event {
	d.whole = true
	for _, s := range d.held {
		events = append(events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: s})
	}
	d.held = nil
	f := neutral.FinishStop
	switch why {
	case "length", "max_tokens":
		f = neutral.FinishLength
	case "content_filter", "safety":
		f = neutral.FinishFilter
	default:
		if len(d.calls) > 0 {
			f = neutral.FinishTools
		} else if d.refused && !d.texts {
			f = neutral.FinishRefusal
		}
	}
	return append(events, neutral.Event{Kind: neutral.Finished, Tool: -1, Finish: f})
}

// DecodeAnswer reads a completion that was not streamed. What is no completion is an error.
func DecodeAnswer(body []byte, events []neutral.Event) ([]neutral.Event, error) {
	c, err := readChunk(body)
	switch {
	case err != nil:
		return events, fmt.Errorf("decode chat completion: %w", err)
	case c.fault == nil && (len(c.choices) == 0 || c.choices[0] != '['):
		return events, errors.New("decode chat completion: it has no choices")
	}
	var d Decoder
	if events, err = d.Decode(nil, body, events); err != nil {
		return events, err
	}
	if events = d.marked(events); !d.whole && !d.broken { // a whole object is an end by itself, but not of nothing
		return events, errors.New("decode chat completion: it has no answer")
	}
	return events, nil
}
