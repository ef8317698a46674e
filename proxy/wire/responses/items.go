package responses

import (
	"errors"
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// kind is what an item is, or, of a thought, which of its two texts a part belongs to.
type kind uint8

const (
	foreign  kind = iota // nothing that was asked for
	message              // content: texts and refusals
	thought              // not known yet which text it tells
	summary              // a thought that tells its summary
	thinking             // a thought that tells itself
	call
)

// item is an item of the output that is open, or a call. Servers change an item's id from event to event, or leave its
// place away, but not both.
type item struct {
	kind   kind
	output int // output_index; -1 = not said
	id     string
	part   int // the part that spoke last; -1 = none has
	tool   int // of a call
	callID string
	argued bool // some of its arguments have come
	closed bool // all of them
	done   bool
}

// part is a piece of an item's text.
type part struct {
	of    kind
	event neutral.EventKind
	at    int // its index
}

var (
	errNoItem   = errors.New("it belongs to an item that was never started")
	errNoString = errors.New("its text is not a string")
	errTwice    = errors.New("the item was started already")
	errClosed   = errors.New("the arguments of this call were complete already")
)

// find returns the open item that an event belongs to; nil when there is none.
func (d *Decoder) find(e *event, k kind) *item {
	var byID, only *item
	for i := range d.items {
		it := &d.items[i]
		if !it.is(k) || it.done {
			continue
		}
		if e.output >= 0 && it.output == e.output {
			return it
		}
		if len(e.itemID) > 0 && it.id == string(e.itemID) {
			byID = it
		}
		only = it
	}
	if byID == nil && e.output < 0 && len(e.itemID) == 0 {
		return only
	}
	return byID
}

// is reports whether an item is of a kind. A thought becomes what it tells first; the other text says the same again.
func (it *item) is(k kind) bool {
	return it.kind == k || isThought(it.kind) && isThought(k)
}

func isThought(k kind) bool { return k == thought || k == summary || k == thinking }

// said is what an item says of itself.
type said struct {
	item
	name                        string
	arguments                   []byte
	content, summary, encrypted []byte
}

func readItem(one []byte, output int) (said, error) {
	s := said{item: item{output: output, part: -1, tool: -1}}
	m := wire.Object(one)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(one)
		switch string(name) {
		case "type":
			s.kind = kindOf(v)
		case "id":
			s.id = text(v)
		case "call_id":
			s.callID = text(v)
		case "name":
			s.name = text(v)
		case "arguments":
			s.arguments = v
		case "content":
			s.content = v
		case "summary":
			s.summary = v
		case "encrypted_content":
			s.encrypted = v
		}
	}
	if m.Err() != nil {
		return s, errors.New("it has no item")
	}
	if s.kind == call && s.callID == "" {
		s.callID = s.id
	}
	if s.kind == call && (s.callID == "" || s.name == "") {
		return s, errors.New("a function_call has no call_id or no name")
	}
	return s, nil
}

func kindOf(v []byte) kind {
	switch string(v) {
	case `"message"`:
		return message
	case `"reasoning"`:
		return thought
	case `"function_call"`:
		return call
	}
	return foreign
}

// added starts an item.
func (d *Decoder) added(e *event, events []neutral.Event) ([]neutral.Event, error) {
	s, err := readItem(e.item, e.output)
	if err != nil {
		return events, err
	}
	if e.output >= 0 {
		for i := range d.items {
			if it := &d.items[i]; it.output == e.output && !it.done {
				return events, errTwice
			}
		}
	}
	return d.open(&s, events)
}

// open remembers an item and tells a call.
func (d *Decoder) open(s *said, events []neutral.Event) ([]neutral.Event, error) {
	d.itemed = true
	switch s.kind {
	case foreign:
		return events, nil
	case call:
		for i := range d.items {
			if d.items[i].kind == call && d.items[i].callID == s.callID {
				return events, fmt.Errorf("two calls have the call_id %q", s.callID)
			}
		}
		s.tool = d.tools
		d.tools++
		events = append(events, neutral.Event{Kind: neutral.ToolStarted, Tool: s.tool, ID: s.callID, Name: s.name})
	}
	d.items = append(d.items, s.item)
	return events, nil
}

// done ends an item, and tells of it what no event before has told.
func (d *Decoder) done(e *event, events []neutral.Event) ([]neutral.Event, error) {
	s, err := readItem(e.item, e.output)
	if err != nil || s.kind == foreign {
		d.itemed = true
		return events, err
	}
	if len(e.itemID) == 0 {
		e.itemID = []byte(s.id)
	}
	it := d.find(e, s.kind)
	if it == nil {
		if events, err = d.open(&s, events); err != nil {
			return events, err
		}
		it = &d.items[len(d.items)-1]
	}
	it.done = true
	switch s.kind {
	case message:
		events, err = d.list(it, s.content, message, events)
	case thought:
		events, err = d.thoughts(it, &s, events)
	case call:
		if !it.argued && !it.closed {
			events, err = d.argue(it, s.arguments, events)
		}
		it.closed = true
		return events, err
	}
	*it = d.items[len(d.items)-1]
	d.items = d.items[:len(d.items)-1]
	return events, err
}
