package simulator

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

const (
	hugeHeader     = 11 << 20 // more than the 10 MiB that Go's client takes
	usualHints     = 10
	usualSlowToken = 3 * time.Second
)

// before plays the end before a byte of the answer.
func before(end play) play {
	return func(x *exchange) error {
		if err := x.pause(x.account.Latency); err != nil {
			return err
		}
		return end(x)
	}
}

// playSlowFirstToken sends the head and who speaks at once, and the answer after a wait.
func playSlowFirstToken(x *exchange, a argument) error {
	events := x.events(x.say())
	opening := upTo(events, 0)
	if err := x.playSome(x.contentType(), opening); err != nil {
		return err
	}
	if err := x.pause(wait(a, usualSlowToken)); err != nil {
		return err
	}
	return x.sendRest(events[len(opening):])
}

func playGarbageHead(x *exchange) error {
	return playBytes(x, []byte("\x16\x03 this is simulated garbage and no HTTP\r\n\r\n"))
}

func playPartialHead(x *exchange) error {
	return playBytes(x, []byte("HTTP/1.1 200 OK\r\nX-Simulated: true\r\nContent-Type: text/ev"))
}

func playHugeHead(x *exchange) error {
	h := with(x.ok(x.contentType()), "X-Padding", strings.Repeat("x", hugeHeader))
	return playBytes(x, x.headText("HTTP/1.1", http.StatusOK, h))
}

// playEarlyHints sends informational answers before the true one.
func playEarlyHints(x *exchange, a argument) error {
	hints := usualHints
	if a.given {
		hints = a.number
	}
	hint := []byte("HTTP/1.1 103 Early Hints\r\nLink: </simulated>; rel=preload\r\n\r\n")
	if err := x.raw(bytes.Repeat(hint, hints)); err != nil {
		return err
	}
	return playNormal(x)
}

// playRedirect sends the client elsewhere: to a path of the same host where the call would be answered, and seen.
func playRedirect(x *exchange) error {
	return refusing(&problem{
		status: http.StatusTemporaryRedirect,
		header: http.Header{"Location": {"http://" + x.call.Host + "/redirected" + x.call.Path}},
		body:   []byte{},
	})(x)
}
