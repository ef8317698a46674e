package simulator

import (
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
