package neutral

import "hermes-hub/proxy/wire"

// EventKind says which fields of an Event count.
type EventKind uint8

// The kinds of events.
const (
	Started       EventKind = iota + 1 // ID of the answer, Name of the model
	Text                               // Text
	Reasoning                          // Text: thinking, or a summary of it; Seal.Format where a seal over this very text will follow
	Sealed                             // Seal: closes the reasoning before it, or belongs to the call Tool
	ToolStarted                        // Tool, ID, Name; Seal where the call's is known already
	ToolArguments                      // Tool, Text: the next piece of the JSON text of the call's arguments
	Refusal                            // Text
	Counted                            // Usage: all that is known of it so far
	Finished                           // Finish; the last event of a good answer
	Failed                             // Fault; the last event of a bad one
)

// Event is one step of an answer. What it points to is valid until the next call of the decoder that made it.
type Event struct {
	Kind   EventKind
	Tool   int // index of the call in the answer, from 0; -1 = none
	Text   Literal
	ID     string
	Name   string
	Seal   Seal
	Usage  wire.Usage
	Finish Finish
	Fault  []byte // the upstream's error as JSON, to be read by the quota package
}

// Substance reports whether an event is something of an answer, so that a stream may be committed to its client.
func (e *Event) Substance() bool {
	switch e.Kind {
	case Text, Reasoning, Refusal, ToolArguments:
		return !e.Text.Empty()
	case ToolStarted, Sealed, Finished:
		return true
	}
	return false
}

// Finish is why an answer ended.
type Finish uint8

// The reasons.
const (
	FinishStop Finish = iota + 1
	FinishLength
	FinishTools
	FinishFilter  // the provider withheld the rest
	FinishRefusal // the model declined
)

// Decoder turns what one upstream streams into Events. It belongs to one answer.
type Decoder interface {
	// Decode appends what one event of the stream says to events. name is the event's, nil where it has none; data is its
	// data line. An error means that the stream is not what its protocol says: nothing after it is to be believed.
	Decode(name, data []byte, events []Event) ([]Event, error)
	// Whole reports whether the protocol's own end was seen. A stream that ends before is cut.
	Whole() bool
}
