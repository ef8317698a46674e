package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"hermes-hub/proxy/wire"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

const (
	// drainGrace is how long a stream that has told its end may take to end, so that its connection can be used again.
	drainGrace = 100 * time.Millisecond
	// usageGrace is how long a stream whose answer is whole may take to tell what it used, where it has no end mark.
	usageGrace = time.Second
	// heldComments is how many bytes of comments are kept in front of the first content; more are noise.
	heldComments = 16 << 10
	// heldBytes is how much a stream may send without any content before it counts as broken.
	heldBytes = 256 << 10
	// readSize is the least room for one read from the upstream.
	readSize = 4 << 10
)

// stream relays one event stream. Until the first meaningful event everything is held, and the account may still be
// replaced; from then on every read of the upstream becomes at most one write and one flush to the client.
type stream struct {
	t     *try
	res   *http.Response
	body  io.Reader
	split wire.Splitter
	down  downstream
	*streamBuffers

	tap        tap
	last       wire.Event // kept here, or a tap would make every event escape
	gist                  // so far; content in this read
	meaningful bool       // content has come
	torn       bool       // part of an oversized event went out, its end did not
	chat       chatTap    // the tap of most streams
	words      *words     // beside the tap; nil = nobody listens
}

// streamBuffers are a stream's working memory, used again by the next one.
type streamBuffers struct {
	in  []byte // read from upstream, not yet a whole event
	out []byte // to be written to the client
}

var buffers = sync.Pool{New: func() any {
	return &streamBuffers{in: make([]byte, 0, 2*readSize), out: make([]byte, 0, readSize)}
}}

// relay serves a streamed call.
func (t *try) relay(res *http.Response) *failure {
	if !eventStream(res.Header) {
		return t.relayWhole(res)
	}
	body, err := decoded(res)
	if err != nil {
		return t.lost(err, res.StatusCode)
	}
	return t.relayEvents(res, body, t.tap())
}

// relayWhole serves a streamed call whose upstream answered with a whole completion, as some servers do: the client gets the
// stream that says the same. Anything else is no answer.
func (t *try) relayWhole(res *http.Response) *failure {
	if t.call.codec != nil {
		return t.relayTranslated(res)
	}
	body, _, f := t.wholeAnswer(res)
	switch {
	case body == nil:
		return f
	case t.x.surface.protocol != router.ProtocolChat:
		return t.fail(broken("body:not_a_stream"), res.StatusCode, nil)
	default:
		return t.relayEvents(res, bytes.NewReader(wire.AsStream(body)), nil)
	}
}

// relayEvents relays events, whether they came from the wire or were made of a whole answer. between is the tap between the
// account's protocol and the client's; nil = they are chunks of a chat completion.
func (t *try) relayEvents(res *http.Response, body io.Reader, between tap) *failure {
	b := buffers.Get().(*streamBuffers)
	defer b.giveBack()
	s := &stream{t: t, res: res, body: body, tap: between, streamBuffers: b}
	if between == nil {
		s.chat.wantsUse = t.x.req.WantsUse
		s.tap = &s.chat
	}
	if s.words = t.words(); s.words != nil {
		if translation, ok := s.tap.(*translation); ok {
			translation.words = s.words
		}
	}
	s.down = downstream{w: t.x.w, conn: t.x.conn, heartbeat: t.x.surface.dialect.heartbeat, gone: t.stop}
	defer s.down.close()
	f := s.run()
	if t.x.committed {
		s.words.finish()
	}
	return f
}

// tap is the one between the account's protocol and the client's; nil = both are chat completions.
func (t *try) tap() tap {
	switch {
	case t.call.codec != nil:
		return t.translation()
	case t.x.surface.protocol == router.ProtocolMessages:
		return &messagesTap{stepTap{steps: &wire.MessagesReader{}, sealed: t.sealed}}
	case t.x.surface.protocol == router.ProtocolResponses:
		return &responsesTap{stepTap: stepTap{steps: &wire.ResponsesReader{}, sealed: t.sealed}}
	default:
		return nil
	}
}

func (b *streamBuffers) giveBack() {
	if cap(b.in) > 32*readSize || cap(b.out) > 32*readSize {
		return // grown by an unusual stream
	}
	b.in, b.out = b.in[:0], b.out[:0]
	buffers.Put(b)
}

// eventStream reports whether an answer to a streamed call may be an event stream. Some upstreams label theirs as plain
// text or not at all; JSON and HTML are something else.
func eventStream(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return !strings.Contains(kind, "json") && !strings.Contains(kind, "html")
}

func (s *stream) run() *failure {
	for {
		n, err := s.body.Read(s.room())
		s.in = s.in[:len(s.in)+n]
		if s.take() {
			s.t.clock.progress()
		}
		switch {
		case s.trouble != nil:
			return s.failed(s.t.complaint(s.res, s.trouble))
		case s.nonsense != "":
			return s.failed(broken(s.nonsense))
		}
		if s.meaningful && !s.t.x.committed {
			s.commit()
		}
		if s.t.x.committed {
			if gone := s.flush(); gone != nil {
				s.left(gone)
				return nil
			}
		}
		if s.over && s.t.x.committed {
			s.t.clock.finish(usageGrace)
		}
		switch {
		case s.done && s.t.x.committed:
			s.finish()
			return nil
		case s.done, errors.Is(err, io.EOF):
			return s.ended()
		case err != nil:
			return s.broke(err)
		case !s.t.x.committed && len(s.out)+s.dropped > heldBytes:
			return s.failed(broken("stream:no_content"))
		}
	}
}

// room is the free end of the input buffer, with at least readSize bytes. It doubles up to what the largest event takes that
// is looked at.
func (s *stream) room() []byte {
	if cap(s.in)-len(s.in) < readSize {
		size := max(len(s.in)+readSize, min(2*cap(s.in)+readSize, wire.MaxEvent+2*readSize))
		grown := make([]byte, len(s.in), size)
		copy(grown, s.in)
		s.in = grown
	}
	return s.in[len(s.in):cap(s.in)]
}

// take moves every whole event from in to out and reports whether there was content among them.
func (s *stream) take() (content bool) {
	s.content = false
	rest := s.in
	for s.trouble == nil && s.nonsense == "" && !s.done {
		var n int
		if s.last, n = s.split.Split(rest); n == 0 {
			if n = s.split.Overflow(rest); n == 0 {
				break
			}
			s.torn = s.t.call.codec == nil
			s.unread(rest[:n])
		} else {
			s.event(&s.last)
		}
		rest = rest[n:]
	}
	s.in = s.in[:copy(s.in, rest)]
	s.meaningful = s.meaningful || s.content
	return s.content
}

// event decides what becomes of one event: passed on as it came, rebuilt where a client would stumble over it, or dropped.
func (s *stream) event(e *wire.Event) {
	switch {
	case e.Unread:
		s.unread(e.Raw)
		s.torn = false
		return
	case e.Comment():
		if s.t.x.committed || len(s.out)+len(e.Raw) <= heldComments {
			s.out = append(s.out, e.Raw...)
		} else {
			s.dropped += len(e.Raw)
		}
		return
	}
	s.words.pass(e)
	s.out = s.tap.take(e, s.out, &s.gist)
}

// unread passes on bytes of an event too large to be looked at. They count as content. What would have to be translated
// cannot be passed on.
func (s *stream) unread(raw []byte) {
	if s.t.call.codec != nil {
		s.nonsense = "stream:event_too_large"
		return
	}
	s.out = append(s.out, raw...)
	s.content = true
}

// commit sends the answer's head. From here on no other account may answer.
func (s *stream) commit() {
	x := s.t.x
	s.t.told.FirstToken = time.Since(s.t.started)
	s.t.clock.idle(x.settings.IdleTimeout)
	x.commitTo(s.t.n, http.StatusOK)
	h := x.w.Header()
	copyListed(h, s.res.Header, toClient[:])
	h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	x.w.WriteHeader(http.StatusOK)
	s.down.open()
}

// flush writes what is due and pushes it out.
func (s *stream) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	s.t.clock.hold()
	err := s.down.send(s.out, s.torn)
	s.t.clock.resume()
	s.out = s.out[:0]
	if s.words != nil {
		s.words.told(time.Now())
	}
	return err
}

// left ends the exchange of a client that stopped reading.
func (s *stream) left(err error) {
	x := s.t.x
	s.t.told.Outcome = string(telemetry.ClientClosed)
	s.t.told.Usage = telemetry.Usage(s.usage)
	x.told.Outcome, x.told.Err, x.aborted = telemetry.ClientClosed, err.Error(), true
}

// finish settles a whole stream. Reading on to its end gives the connection back.
func (s *stream) finish() {
	s.t.succeed(s.t.measured(s.res), s.usage)
	s.t.clock.finish(drainGrace)
	rest := io.LimitReader(s.body, readSize)
	for {
		if _, err := rest.Read(s.in[:cap(s.in)]); err != nil {
			break
		}
	}
}

// ended is the upstream's own end of the stream: a success only when the protocol's end was seen before it. A What
// the upstream left out of it is added.
func (s *stream) ended() *failure {
	x := s.t.x
	switch {
	case x.committed && s.tap.whole():
		s.out = s.tap.end(s.out)
		if err := s.flush(); err != nil {
			s.left(err)
			return nil
		}
		s.finish()
		return nil
	case x.committed:
		return s.failed(broken("stream:no_end"))
	default:
		return s.failed(broken("stream:empty"))
	}
}

// broke is a stream whose connection failed, or was cut by a deadline or the client.
func (s *stream) broke(err error) *failure {
	x := s.t.x
	switch {
	case x.gone() || errors.Is(context.Cause(s.t.ctx), errStopped):
		s.left(err)
		return nil
	case x.committed && s.tap.whole():
		return s.ended()
	case !x.committed:
		return s.t.lost(err, http.StatusOK)
	case x.ctx.Err() != nil: // the request's own deadline: nobody's fault
		x.told.Err = context.Cause(x.ctx).Error()
		s.t.told.Outcome, s.t.told.Reason = string(quota.Timeout), x.told.Err
		s.interrupt()
		return nil
	default:
		return s.failed(lostReading(context.Cause(s.t.ctx), err))
	}
}

// failed settles a stream that is not whole. Before the commit another account may answer; after it the client is told.
func (s *stream) failed(r quota.Reading) *failure {
	if !s.t.x.committed {
		return s.t.fail(r, http.StatusOK, s.trouble)
	}
	s.t.blame(r)
	s.t.told.Usage = telemetry.Usage(s.usage)
	s.t.x.told.Err = r.Reason
	s.interrupt()
	return nil
}

// interrupt ends a committed stream so that no client can take it for whole: the protocol's error event, then a cut
// connection. No [DONE], no finish reason, no usage.
func (s *stream) interrupt() {
	x := s.t.x
	x.told.Outcome, x.aborted = telemetry.Interrupted, true
	if s.torn {
		s.out = append(s.out, "\n\n"...)
	}
	e := refusal{code: codeInterrupted, message: "connection lost: the upstream broke off in the middle of its answer"}
	s.out = s.tap.fail(s.out, &e, x.told.ID)
	_ = s.flush() // the connection is cut next, whether the client heard it or not
}
