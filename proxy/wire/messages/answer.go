package messages

import (
	"errors"
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// ErrAnswer is wrapped by every error of DecodeAnswer: the body is no answer.
var ErrAnswer = errors.New("read a Messages answer")

// DecodeAnswer appends a whole answer's events, the same that its stream would have.
func DecodeAnswer(body []byte, events []neutral.Event) ([]neutral.Event, error) {
	d := Decoder{begun: true}
	started := neutral.Event{Kind: neutral.Started, Tool: -1}
	var content, usage, reason, details []byte
	kind, fault := "", false
	m := wire.Object(body)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(body)
		switch string(n) {
		case "type":
			kind = text(v)
		case "id":
			started.ID = text(v)
		case "model":
			started.Name = text(v)
		case "content":
			content = v
		case "stop_reason":
			reason = v
		case "stop_details":
			details = v
		case "usage":
			usage = v
		case "error":
			fault = !wire.Null(v)
		}
	}
	switch err := m.Err(); {
	case err != nil:
		return events, fmt.Errorf("%w: %w", ErrAnswer, err)
	case kind == "error" || fault:
		return append(events, neutral.Event{Kind: neutral.Failed, Tool: -1, Fault: body}), nil
	case len(content) == 0 || content[0] != '[':
		return events, fmt.Errorf("%w: no content", ErrAnswer)
	case text(reason) == "":
		return events, fmt.Errorf("%w: no stop_reason", ErrAnswer)
	}
	events, err := d.whole(content, append(events, started))
	if err != nil {
		return events, err
	}
	f := finish(text(reason), d.calls)
	if f == neutral.FinishRefusal {
		events = refusal(details, events)
	}
	return append(d.count(usage, events), neutral.Event{Kind: neutral.Finished, Tool: -1, Finish: f}), nil
}

// whole reads complete content blocks.
func (d *Decoder) whole(content []byte, events []neutral.Event) ([]neutral.Event, error) {
	var err error
	list := wire.Array(content)
	for b, ok := list.Next(); ok; b, ok = list.Next() {
		if events, err = d.blockStart(&event{block: b}, events); err != nil {
			return events, err
		}
		if events, err = d.blockStop(&event{}, events); err != nil {
			return events, err
		}
	}
	return events, nil
}
