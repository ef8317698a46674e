package simulator

import (
	"bytes"
	"net/http"
	"strconv"
)

// Status answers with the status, body and header, whatever they are. Without a Content-Type the body is called JSON.
func Status(status int, body string, header http.Header) Step {
	return statusStep{status: status, body: body, header: header.Clone()}
}

type statusStep struct {
	status int
	body   string
	header http.Header
}

func (s statusStep) String() string { return "status " + strconv.Itoa(s.status) }

func (s statusStep) play(x *exchange) error {
	return refusing(&problem{status: s.status, body: []byte(s.body), header: s.header})(x)
}

// Stream answers 200 with a stream of exactly these pieces, each written at once, then ends it properly.
func Stream(pieces ...string) Step { return streamStep(pieces) }

type streamStep []string

func (streamStep) String() string { return "stream" }

func (s streamStep) play(x *exchange) error {
	events := make([]event, 0, len(s))
	for _, piece := range s {
		events = append(events, event{kind: eventOther, wire: []byte(piece)})
	}
	return x.playEvents(contentStream, events)
}

// Raw answers with exactly these bytes, head included, then hangs up.
func Raw(wire string) Step { return rawStep(wire) }

type rawStep string

func (rawStep) String() string { return "raw" }

func (s rawStep) play(x *exchange) error { return playBytes(x, []byte(s)) }

// Malformed answers properly but for the event behind that many pieces of the answer, whose JSON is cut in half. A whole
// answer is cut in half, and ends as if it were complete.
func Malformed(after int) Step { return malformedStep(after) }

type malformedStep int

func (s malformedStep) String() string { return "malformed " + strconv.Itoa(int(s)) }

func (s malformedStep) play(x *exchange) error {
	events := x.events(x.say())
	if !x.req.Stream {
		return x.playWhole(events[0].wire)
	}
	i := min(len(upTo(events, int(s))), len(events)-1)
	wire := bytes.TrimRight(events[i].wire, "\r\n")
	end := events[i].wire[len(wire):]
	start := bytes.IndexByte(wire, '{')
	events[i].wire = append(wire[:start+(len(wire)-start)/2:start+(len(wire)-start)/2], end...)
	return x.playEvents(contentStream, events)
}
