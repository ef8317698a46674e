package proxy

import (
	"bytes"
	"net/http"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// translation makes the stream of an account of another protocol a chat completion's.
type translation struct {
	chatTap // how a client of chat completions is told of the end
	marked  bool
	decoder neutral.Decoder
	chunks  chat.Stream
	events  []neutral.Event
	sealed  func(value string) // told of reasoning that only the account can open
	words   *words
	ended   bool
}

func (t *try) translation() *translation {
	c := t.call.codec
	return &translation{
		marked: c.marked, decoder: c.decoder(t.n.Model), sealed: t.sealed,
		chunks: chat.Stream{ID: t.completionID(), Model: t.n.Model, Created: t.x.told.Start.Unix(), WantsUse: t.x.req.WantsUse},
	}
}

// completionID names an answer that came under another protocol's name, or none.
func (t *try) completionID() string { return "chatcmpl-" + t.x.told.ID[len("req_"):] }

func (t *translation) take(e *wire.Event, dst []byte, h *gist) []byte {
	if !substantial(e) {
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
		dst = t.chunks.Append(dst, event)
	}
	switch {
	case err != nil:
		h.nonsense = "stream:malformed"
	case t.decoder.Whole() && t.marked:
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
	return t.chunks.End(dst)
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

// translated makes a whole answer of another protocol a chat completion. body is nil when it is none: then the attempt is
// settled, and f is what came of it.
func (t *try) translated(res *http.Response, raw []byte) (body []byte, h gist, f *failure) {
	events, err := t.call.codec.answer(raw, nil)
	if err != nil {
		return nil, h, t.fail(t.notAnAnswer(res, raw), res.StatusCode, raw)
	}
	a := t.completion()
	for i := range events {
		if h.note(&events[i], t.sealed); h.trouble != nil {
			return nil, h, t.fail(t.complaint(res, h.trouble), res.StatusCode, h.trouble)
		}
		a.Add(&events[i])
	}
	return a.Append(nil), h, nil
}

// completion is a chat completion that is to be put together.
func (t *try) completion() *chat.Answer {
	return &chat.Answer{ID: t.completionID(), Model: t.n.Model, Created: t.x.told.Start.Unix()}
}
