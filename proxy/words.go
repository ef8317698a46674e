package proxy

import (
	"time"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/messages"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
	"hermes-hub/router"
)

const (
	pieceOfWords = 1 << 10                // bytes that are handed on at once
	wordsEvery   = 250 * time.Millisecond // for how long fewer are kept back while more are coming
	mostOfCall   = 16 << 10               // bytes of a tool call's arguments
	mostCalls    = 64                     // tool calls of one answer
)

// words are what one answer says. They are heard beside what the client is told, and kept back until it was told: an answer
// that another account's takes the place of was never given. nil hears nothing.
type words struct {
	scribe  *scribe
	record  *record
	decoder neutral.Decoder // of the client's protocol, where its events pass; nil where the tap that translates tells them
	events  []neutral.Event
	text    []byte // of one kind
	kind    saidKind
	calls   []ToolCall
	pieces  []saying // whole, not handed on yet
	handed  time.Time
}

// words are what is to be heard of an attempt's answer; nil = nothing.
func (t *try) words() *words {
	x := t.x
	if x.record == nil || x.settings.Record != KeepWords {
		return nil
	}
	w := &words{scribe: x.p.scribe, record: x.record, handed: t.started}
	if t.call.codec == nil {
		w.decoder = decoderOf(x.surface.protocol)
	}
	return w
}

// decoderOf reads what clients of a protocol are told.
func decoderOf(p router.Protocol) neutral.Decoder {
	switch p {
	case router.ProtocolMessages:
		return messages.NewDecoder()
	case router.ProtocolResponses:
		return &responses.Decoder{}
	default:
		return &chatDecoder{}
	}
}

// pass hears an event that passes to the client as it came.
func (w *words) pass(e *wire.Event) {
	if w == nil || w.decoder == nil || len(e.Data) == 0 {
		return
	}
	var err error
	if w.events, err = w.decoder.Decode(e.Name, e.Data, w.events[:0]); err != nil {
		w.decoder = nil // the client has to make of the rest what it can; here it is not understood
	}
	for i := range w.events {
		w.hear(&w.events[i])
	}
}

// whole hears an answer of the client's protocol that is not streamed, and hands it on.
func (w *words) whole(p router.Protocol, body []byte) {
	if w == nil {
		return
	}
	var events []neutral.Event
	switch p {
	case router.ProtocolMessages:
		events, _ = messages.DecodeAnswer(body, nil)
	case router.ProtocolResponses:
		events, _ = responses.DecodeAnswer(body, nil)
	default:
		events, _ = (&chatDecoder{}).Decode(nil, body, nil)
	}
	for i := range events {
		w.hear(&events[i])
	}
	w.finish()
}

// hear takes one step of the answer.
func (w *words) hear(e *neutral.Event) {
	if w == nil {
		return
	}
	switch e.Kind {
	case neutral.Text, neutral.Refusal:
		w.add(saidText, e.Text)
	case neutral.Reasoning:
		w.add(saidReasoning, e.Text)
	case neutral.ToolStarted:
		for e.Tool >= len(w.calls) && e.Tool < mostCalls {
			w.calls = append(w.calls, ToolCall{})
		}
		if e.Tool >= 0 && e.Tool < len(w.calls) {
			w.calls[e.Tool].ID, w.calls[e.Tool].Name = clip(e.ID, longestFact), clip(e.Name, longestFact)
		}
	case neutral.ToolArguments:
		if e.Tool >= 0 && e.Tool < len(w.calls) {
			text, _ := wire.Text(e.Text)
			c := &w.calls[e.Tool]
			c.Arguments = clip(c.Arguments+string(text), mostOfCall)
		}
	case neutral.Finished:
		w.called()
	}
}

// add takes more text. Text of another kind begins a piece of its own.
func (w *words) add(kind saidKind, literal neutral.Literal) {
	text, ok := wire.Text(literal)
	if !ok || len(text) == 0 {
		return
	}
	if kind != w.kind {
		w.cut()
	}
	w.kind = kind
	w.text = append(w.text, text...)
	if len(w.text) >= pieceOfWords {
		w.cut()
	}
}

// cut makes a piece of the text so far.
func (w *words) cut() {
	if len(w.text) > 0 {
		w.pieces = append(w.pieces, saying{kind: w.kind, text: string(w.text)})
		w.text = w.text[:0]
	}
}

// called makes pieces of the tool calls. A call that was not told to its end is none.
func (w *words) called() {
	w.cut()
	for _, c := range w.calls {
		if c.Name != "" {
			w.pieces = append(w.pieces, saying{kind: saidCall, call: c})
		}
	}
	w.calls = nil
}

// told says that the client was told everything that was heard: what is large or old enough is handed on.
func (w *words) told(now time.Time) {
	if len(w.text) > 0 && now.Sub(w.handed) >= wordsEvery {
		w.cut()
	}
	if len(w.pieces) > 0 {
		w.handed = now
		w.hand()
	}
}

// finish hands on what was heard to the last byte.
func (w *words) finish() {
	if w != nil {
		w.cut()
		w.hand()
	}
}

func (w *words) hand() {
	if len(w.pieces) > 0 {
		w.scribe.say(w.record, w.pieces)
		clear(w.pieces)
		w.pieces = w.pieces[:0]
	}
}
