package simulator

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// reshape plays the account's answer with the events of its stream changed. A whole answer is played as it is.
func reshape(change func([]event) []event) play {
	return func(x *exchange) error {
		if !x.req.Stream {
			return playNormal(x)
		}
		return x.playEvents(contentStream, change(x.events(x.say())))
	}
}

// rewire plays the account's answer with the text of its JSON changed, in a stream that of every event.
func rewire(change func([]byte) []byte) play {
	return func(x *exchange) error { return x.playRewired(x.say(), change) }
}

func (x *exchange) playRewired(ans Answer, change func([]byte) []byte) error {
	if !x.req.Stream {
		return x.playWhole(change(x.dialect.whole(x.req, ans, x.stamp)))
	}
	return x.playEvents(contentStream, rewired(x.events(ans), change))
}

func rewired(events []event, change func([]byte) []byte) []event {
	for i := range events {
		events[i].wire = change(events[i].wire)
	}
	return events
}

func playUsageMissing(x *exchange) error {
	ans := x.say()
	ans.Usage = nil
	return x.playAnswer(ans)
}

// usageBeforeFinish moves the token counts before the reason why the answer ends.
func usageBeforeFinish(events []event) []event {
	var moved, usage []event
	for _, e := range events {
		if e.kind == eventUsage {
			usage = append(usage, e)
		}
	}
	for _, e := range without(events, eventUsage) {
		if e.kind == eventClosing {
			moved, usage = append(moved, usage...), nil
		}
		moved = append(moved, e)
	}
	return moved
}

func finishMissing(events []event) []event { return without(events, eventClosing) }

// idLines numbers the events and begins with a time to wait before reconnecting.
func idLines(events []event) []event {
	numbered := []event{{kind: eventOther, wire: []byte("retry: 3000\n\n")}}
	for i, e := range events {
		e.wire = fmt.Appendf(nil, "id: %d\n%s", i+1, e.wire)
		numbered = append(numbered, e)
	}
	return numbered
}

func crlf(events []event) []event {
	return rewired(events, func(wire []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(wire, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	})
}

func byteOrderMark(events []event) []event {
	events[0].wire = append([]byte("\ufeff"), events[0].wire...)
	return events
}

func noSpace(events []event) []event {
	return rewired(events, func(wire []byte) []byte { return bytes.Replace(wire, []byte("data: "), []byte("data:"), 1) })
}

// between puts the text before every event.
func between(text string) func([]event) []event {
	return func(events []event) []event {
		var mixed []event
		for _, e := range events {
			mixed = append(mixed, event{kind: eventOther, wire: []byte(text)}, e)
		}
		return mixed
	}
}

func errorNull(wire []byte) []byte {
	return bytes.Replace(wire, []byte("{"), []byte(`{"error":null,`), 1)
}

var jsonID = regexp.MustCompile(`"id":"[^"]*"`)

func intIDs(wire []byte) []byte { return jsonID.ReplaceAll(wire, []byte(`"id":7`)) }

// playDuplicateToolIndex calls two tools under one index.
func playDuplicateToolIndex(x *exchange) error {
	ans := x.counted(Answer{ToolCalls: []ToolCall{x.anyTool(0), x.anyTool(1)}})
	return x.playRewired(ans, x.dialect.sameIndex)
}

// playSplitRunes answers in several scripts and cuts the stream inside its characters.
func playSplitRunes(x *exchange) error {
	ans := x.say()
	ans.Text = "Симуляция: 世界 🌍 — " + ans.Text
	var pieces []event
	for _, e := range x.events(ans) {
		for _, piece := range splitInRunes(e.wire) {
			pieces = append(pieces, event{kind: e.kind, wire: piece})
		}
	}
	return x.playEvents(x.contentType(), pieces)
}

// splitInRunes cuts the text after the first byte of every character that has more than one.
func splitInRunes(text []byte) [][]byte {
	var pieces [][]byte
	start := 0
	for i, r := range string(text) {
		if utf8.RuneLen(r) > 1 {
			pieces = append(pieces, text[start:i+1])
			start = i + 1
		}
	}
	return append(pieces, text[start:])
}
