package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// The ways in which a stream is not what its protocol says.
var (
	errAfterEnd  = errors.New("goes on after its finishReason")
	errPiecemeal = errors.New("sends a call in pieces, which was not asked for")
	errNameless  = errors.New("calls a function without a name")
	errTwice     = errors.New("gives two calls one id")
	errNoAnswer  = errors.New("is no answer: neither candidates nor an error")
	errCut       = errors.New("ends without a finishReason")
)

// Decoder turns the chunks of streamGenerateContent?alt=sse into events. Its zero value is ready. There is no end mark: a
// finishReason is the end. What usage comes behind it is still told.
type Decoder struct {
	Model string // the account's name of the model, for answers that name none

	started bool
	ended   bool // Finished or Failed was told
	whole   bool
	claude  bool
	id      string          // of the answer
	calls   map[string]bool // ids
	usage   wire.Usage
	data    []byte // the chunk that is read
	buf     []byte // holds what the events of one chunk point to
}

var _ neutral.Decoder = (*Decoder)(nil)

// Decode implements neutral.Decoder. Event streams of Google's have no names.
func (d *Decoder) Decode(_, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	return d.decode(data, events, false)
}

// Whole implements neutral.Decoder.
func (d *Decoder) Whole() bool { return d.whole }

// DecodeAnswer appends the events of a whole answer: one of generateContent, or the list that streamGenerateContent gives
// without alt=sse. An error means that it is none.
func DecodeAnswer(body []byte, events []neutral.Event) ([]neutral.Event, error) {
	return decodeAnswer(body, events, false)
}

func decodeAnswer(body []byte, events []neutral.Event, wrapped bool) ([]neutral.Event, error) {
	var d Decoder
	events, err := d.decode(body, events, wrapped)
	switch {
	case err != nil:
		return events, err
	case d.ended:
		return events, nil
	case d.started:
		return events, errCut
	}
	return events, errNoAnswer
}

// decode reads one chunk, or a list of them: errors come as lists too. Of what is not believed nothing is told.
func (d *Decoder) decode(data []byte, events []neutral.Event, wrapped bool) ([]neutral.Event, error) {
	told := len(events)
	events, err := d.read(data, events, wrapped)
	if err != nil {
		return events[:told], err
	}
	return events, nil
}

func (d *Decoder) read(data []byte, events []neutral.Event, wrapped bool) ([]neutral.Event, error) {
	d.buf = d.buf[:0]
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		return d.chunk(data, events, wrapped)
	}
	if err := wellFormedList(data); err != nil {
		return events, err
	}
	list := wire.Array(data)
	for one, ok := list.Next(); ok; one, ok = list.Next() {
		var err error
		if events, err = d.chunk(one, events, wrapped); err != nil {
			return events, err
		}
	}
	return events, nil
}

// wellFormedList proves that data is one JSON array.
func wellFormedList(data []byte) error {
	m := wire.Object(slices.Concat([]byte(`{"":`), data, []byte("}")))
	for {
		if _, _, ok := m.Next(); !ok {
			if err := m.Err(); err != nil {
				return fmt.Errorf("read chunk: %w", err)
			}
			return nil
		}
	}
}

// chunk is where the members of a chunk stand.
type chunk struct {
	candidates, usage, feedback, fault []byte
	model, id                          []byte
}

func (d *Decoder) chunk(data []byte, events []neutral.Event, wrapped bool) ([]neutral.Event, error) {
	if wrapped {
		inner, err := unwrap(data)
		if err != nil {
			return events, err
		}
		data = inner
	}
	c, err := readChunk(data)
	if err != nil {
		return events, err
	}
	if c.fault != nil {
		if d.ended {
			return events, errAfterEnd
		}
		return d.fail(events, data), nil
	}
	if (c.candidates != nil || c.id != nil || c.usage != nil) && !d.started {
		events = d.start(&c, events)
	}
	d.data = data
	finish, fresh, err := d.candidate(c.candidates, &events)
	if err != nil {
		return events, err
	}
	if d.count(c.usage) {
		events = append(events, neutral.Event{Kind: neutral.Counted, Tool: -1, Usage: d.usage})
	}
	switch {
	case d.ended && fresh:
		return events, errAfterEnd
	case d.ended:
		return events, nil
	case len(finish) > 0:
		return d.finish(events, finish), nil
	case c.candidates == nil:
		if reason, ok := wire.Text(memberOf(c.feedback, "blockReason")); ok {
			return d.fail(events, blockOf(reason)), nil
		}
	}
	return events, nil
}

// readChunk finds the members of a chunk.
func readChunk(data []byte) (chunk, error) {
	var c chunk
	m := wire.Object(data)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		v := at.In(data)
		if wire.Null(v) {
			continue
		}
		switch string(name) {
		case "candidates":
			if v[0] == '[' && len(v) > 2 {
				c.candidates = v
			}
		case "usageMetadata":
			c.usage = v
		case "promptFeedback":
			c.feedback = v
		case "modelVersion":
			c.model = v
		case "responseId":
			c.id = v
		case "error":
			c.fault = v
		}
	}
	if err := m.Err(); err != nil {
		return c, fmt.Errorf("read chunk: %w", err)
	}
	return c, nil
}

func (d *Decoder) start(c *chunk, events []neutral.Event) []neutral.Event {
	d.started = true
	name, _ := wire.Text(c.model)
	id, _ := wire.Text(c.id)
	d.id = string(id)
	model := string(name)
	if model == "" {
		model = d.Model
	}
	d.claude = strings.Contains(model, "claude")
	return append(events, neutral.Event{Kind: neutral.Started, Tool: -1, ID: d.id, Name: model})
}

// fail ends the answer with the upstream's own words.
func (d *Decoder) fail(events []neutral.Event, fault []byte) []neutral.Event {
	d.ended = true
	return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: fault})
}
