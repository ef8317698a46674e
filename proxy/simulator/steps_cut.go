package simulator

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// heartbeat is the time between the comments of a stall that keeps the connection alive.
const heartbeat = time.Second

// cut plays the answer up to a point, then the end.
func cut(end play) func(*exchange, argument) error {
	return func(x *exchange, a argument) error {
		events := x.events(x.say())
		if err := x.playSome(x.contentType(), upTo(events, half(events, a))); err != nil {
			return err
		}
		return end(x)
	}
}

// upTo is the events up to the n-th that carries a piece of the answer.
func upTo(events []event, n int) []event {
	last := 0
	for i, e := range events {
		switch {
		case !e.kind.substance():
			continue
		case n == 0:
			return events[:i]
		}
		n, last = n-1, i+1
	}
	return events[:last]
}

// half is the argument, or half of the pieces of the answer.
func half(events []event, a argument) int {
	if a.given {
		return a.number
	}
	return max(1, pieces(events)/2)
}

// pieces is how many of the events carry a piece of the answer.
func pieces(events []event) int {
	n := 0
	for _, e := range events {
		if e.kind.substance() {
			n++
		}
	}
	return n
}

// cutTool plays a tool call without the last piece of its arguments, then the end.
func cutTool(end play) play {
	return func(x *exchange) error {
		events := x.events(x.counted(Answer{ToolCalls: []ToolCall{x.anyTool(0)}}))
		if err := x.playSome(x.contentType(), upTo(events, pieces(events)-1)); err != nil {
			return err
		}
		return end(x)
	}
}

// anyTool is a call of a tool that the request offers, or of an invented one.
func (x *exchange) anyTool(i int) ToolCall {
	name := "simulated_tool"
	if len(x.req.Tools) > 0 {
		name = x.req.Tools[0].Name
	}
	return ToolCall{Name: name, Arguments: fmt.Sprintf(`{"city":"Paris","call":%d}`, i+1)}
}

// beatUntilGone sends comments until the client goes away.
func beatUntilGone(x *exchange) error {
	for {
		if err := x.send([]byte(": simulated heartbeat\n\n")); err != nil {
			return err
		}
		if err := x.pause(heartbeat); err != nil {
			return err
		}
	}
}

// playCutBeforeDone plays everything but the protocol's last word.
func playCutBeforeDone(x *exchange) error {
	return x.playEvents(x.contentType(), without(x.events(x.say()), eventDone))
}

// playTruncatedChunk announces a chunk and hangs up in its middle.
func playTruncatedChunk(x *exchange, a argument) error {
	events := x.events(x.say())
	head := upTo(events, half(events, a))
	if err := x.playSome(x.contentType(), head); err != nil {
		return err
	}
	next := join(events[len(head):])
	x.end(nil)
	if err := x.raw(fmt.Appendf(nil, "%x\r\n%s", len(next), next[:len(next)/2])); err != nil {
		return err
	}
	return x.hangUp()
}

// playShortContentLength promises more bytes than it sends.
func playShortContentLength(x *exchange, a argument) error {
	events := x.events(x.say())
	length := strconv.Itoa(len(join(events)))
	return x.playUnframed("HTTP/1.1", with(x.ok(x.contentType()), "Content-Length", length), upTo(events, half(events, a)))
}

// playHTTP10Half is cut where the protocol cannot tell: the end of the connection is the end of the answer.
func playHTTP10Half(x *exchange, a argument) error {
	events := x.events(x.say())
	return x.playUnframed("HTTP/1.0", x.ok(x.contentType()), upTo(events, half(events, a)))
}

func playHTTP10(x *exchange) error {
	return x.playUnframed("HTTP/1.0", x.ok(x.contentType()), x.events(x.say()))
}

// playUnframed writes the events without any framing and hangs up.
func (x *exchange) playUnframed(proto string, h http.Header, events []event) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	if err := x.raw(x.headText(proto, http.StatusOK, h)); err != nil {
		return err
	}
	if err := x.each(events, x.raw); err != nil {
		return err
	}
	return x.hangUp()
}

// without is the events but those of the kind.
func without(events []event, kind eventKind) []event {
	var kept []event
	for _, e := range events {
		if e.kind != kind {
			kept = append(kept, e)
		}
	}
	return kept
}

func join(events []event) []byte {
	var b bytes.Buffer
	for _, e := range events {
		b.Write(e.wire)
	}
	return b.Bytes()
}
