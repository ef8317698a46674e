package simulator

import (
	"maps"
	"net/http"
)

const (
	contentJSON   = "application/json"
	contentStream = "text/event-stream; charset=utf-8"
)

// playNormal answers as the account is made to.
func playNormal(x *exchange) error { return x.playAnswer(x.say()) }

// playAnswer answers ans properly.
func (x *exchange) playAnswer(ans Answer) error {
	if x.req.Stream {
		return x.playEvents(contentStream, x.dialect.events(x.req, ans, x.stamp))
	}
	return x.playWhole(x.dialect.whole(x.req, ans, x.stamp))
}

// playWhole answers the JSON.
func (x *exchange) playWhole(json []byte) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	return x.whole(http.StatusOK, x.ok(contentJSON), json)
}

// playEvents answers 200 with the events, each written at once, and ends the answer properly.
func (x *exchange) playEvents(contentType string, events []event) error {
	if err := x.openOK(contentType); err != nil {
		return err
	}
	return x.sendRest(events)
}

// playSome answers 200 with the events, and leaves the answer open.
func (x *exchange) playSome(contentType string, events []event) error {
	if err := x.openOK(contentType); err != nil {
		return err
	}
	return x.each(events, x.send)
}

// sendRest ends an open answer with the events. The last one and the end are one write: a client that leaves at the
// protocol's last word has seen it all.
func (x *exchange) sendRest(events []event) error {
	if len(events) == 0 {
		return x.finish()
	}
	last := len(events) - 1
	for _, e := range events[:last] {
		if err := x.send(e.wire); err != nil {
			return err
		}
		if err := x.pause(x.account.ChunkPace); err != nil {
			return err
		}
	}
	return x.sendLast(events[last].wire)
}

// each writes the events at the account's pace.
func (x *exchange) each(events []event, write func([]byte) error) error {
	for i, e := range events {
		if i > 0 {
			if err := x.pause(x.account.ChunkPace); err != nil {
				return err
			}
		}
		if err := write(e.wire); err != nil {
			return err
		}
	}
	return nil
}

// openOK waits the account's latency and opens a 200.
func (x *exchange) openOK(contentType string) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	return x.open(http.StatusOK, x.ok(contentType))
}

// say is what the account says to the request.
func (x *exchange) say() Answer { return x.account.answer(x.req) }

// counted is an answer of a step's own, with its token counts.
func (x *exchange) counted(ans Answer) Answer { return x.account.counted(x.req, ans) }

// events is the account's answer as the request wants it, in pieces: the events of a stream, or the two halves of a JSON.
func (x *exchange) events(ans Answer) []event {
	if x.req.Stream {
		return x.dialect.events(x.req, ans, x.stamp)
	}
	json := x.dialect.whole(x.req, ans, x.stamp)
	half := len(json) / 2
	return []event{{kind: eventContent, wire: json[:half]}, {kind: eventContent, wire: json[half:]}}
}

// contentType is what the answer to the request is called.
func (x *exchange) contentType() string {
	if x.req.Stream {
		return contentStream
	}
	return contentJSON
}

// ok is the header of a 200.
func (x *exchange) ok(contentType string) http.Header {
	h := http.Header{"Content-Type": {contentType}, "Cache-Control": {"no-cache"}}
	maps.Copy(h, x.header)
	return h
}

// playBytes answers with exactly these bytes, then hangs up.
func playBytes(x *exchange, wire []byte) error {
	if err := x.pause(x.account.Latency); err != nil {
		return err
	}
	x.end(nil)
	if err := x.raw(wire); err != nil {
		return err
	}
	return x.hangUp()
}
