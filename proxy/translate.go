package proxy

import (
	"bytes"
	"net/http"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// heldLimit is how much of a streamed answer may be kept for a protocol that says it all again at its end. A model writes no
// tenth of it.
const heldLimit = 16 << 20

// translation makes the stream of an account of another protocol one of the client's.
type translation struct {
	codec   *codec
	decoder neutral.Decoder
	teller  teller
	events  []neutral.Event
	sealed  func(value string) // told of reasoning that only the account can open
	words   *words
	ended   bool
}

func (t *try) translation() *translation {
	c := t.call.codec
	return &translation{codec: c, decoder: c.decoder(t.n.Model), sealed: t.sealed, teller: t.x.surface.speech.tell(t)}
}

func (t *translation) take(e *wire.Event, dst []byte, h *gist) []byte {
	mark := t.codec.mark != "" && string(e.Data) == t.codec.mark
	if !mark && !substantial(e) {
		h.dropped += len(e.Raw)
		return dst
	}
	var err error
	t.events, err = t.decoder.Decode(e.Name, e.Data, t.events[:0])
	for i := range t.events {
		event := &t.events[i]
		if h.note(event, t.sealed); h.trouble != nil {
			return dst
		}
		t.words.hear(event)
		dst = t.teller.Append(dst, event)
	}
	switch {
	case err != nil:
		h.nonsense = "stream:malformed"
	case t.teller.Held() > heldLimit:
		h.nonsense = "stream:too_large"
	case t.decoder.Whole() && (mark || t.codec.marked):
		dst = t.end(dst)
		h.done = true
	case t.decoder.Whole():
		h.over = true
	}
	return dst
}

// substantial reports whether an event has anything to translate. Heartbeats come as data too: null, or words. What begins as
// JSON must be JSON.
func substantial(e *wire.Event) bool {
	data := bytes.TrimLeft(e.Data, " ")
	return len(data) > 0 && (data[0] == '{' || data[0] == '[') && string(data) != "[DONE]"
}

func (t *translation) whole() bool { return t.decoder.Whole() }

func (t *translation) end(dst []byte) []byte {
	if t.ended {
		return dst
	}
	t.ended = true
	return t.teller.End(dst)
}

func (t *translation) fail(dst []byte, e *refusal, request string) []byte {
	return t.teller.fail(dst, e, request)
}

// note keeps what one event says of the answer.
func (h *gist) note(e *neutral.Event, sealed func(value string)) {
	h.content = h.content || e.Substance()
	switch {
	case e.Kind == neutral.Failed:
		h.trouble = append(h.trouble, e.Fault...)
		if h.trouble == nil {
			h.trouble = []byte("{}")
		}
	case e.Kind == neutral.Counted:
		h.usage = e.Usage
	case e.Seal.Is():
		sealed(e.Seal.Data)
	}
}

// translated makes a whole answer of another protocol one of the client's. body is nil when it is none: then the attempt is
// settled, and f is what came of it.
func (t *try) translated(res *http.Response, raw []byte) (body []byte, h gist, f *failure) {
	events, f := t.heard(res, raw, &h)
	if events == nil {
		return nil, h, f
	}
	into := t.x.surface.speech.whole(t)
	for i := range events {
		into.Add(&events[i])
	}
	return into.Append(nil), h, nil
}

// heard are the events of a whole answer of another protocol. They are nil when it is none: then the attempt is settled, and
// f is what came of it.
func (t *try) heard(res *http.Response, raw []byte, h *gist) (events []neutral.Event, f *failure) {
	events, err := t.call.codec.answer(raw, nil)
	if err != nil {
		return nil, t.fail(t.notAnAnswer(res, raw), res.StatusCode, raw)
	}
	for i := range events {
		if h.note(&events[i], t.sealed); h.trouble != nil {
			return nil, t.fail(t.complaint(res, h.trouble), res.StatusCode, h.trouble)
		}
	}
	return events, nil
}

// relayTranslated serves a streamed call whose upstream of another protocol answered with a whole answer: the client gets
// the stream that says the same.
func (t *try) relayTranslated(res *http.Response) *failure {
	raw, err := readWhole(res)
	if err != nil {
		return t.lost(err, res.StatusCode)
	}
	var h gist
	events, f := t.heard(res, raw, &h)
	if events == nil {
		return f
	}
	all := t.translation()
	all.decoder = &toldAtOnce{events: events}
	return t.relayEvents(res, strings.NewReader("data: {}\n\n"), all)
}

// toldAtOnce is the decoder of an answer that has come whole: whatever its first event is, it stands for all of it.
type toldAtOnce struct {
	events []neutral.Event
	told   bool
}

func (a *toldAtOnce) Decode(_, _ []byte, events []neutral.Event) ([]neutral.Event, error) {
	if a.told {
		return events, nil
	}
	a.told = true
	return append(events, a.events...), nil
}

func (a *toldAtOnce) Whole() bool { return a.told }
