package proxy

import (
	"errors"
	"io"
	"net/http"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// fold puts a stream together to the answer that was asked for: some accounts give nothing but streams.
type fold interface {
	// add takes the next event, and notes in h what it says of the answer.
	add(e *wire.Event, h *gist)
	// answer is the whole answer; ok is false when the stream has not told how it ended.
	answer() (body []byte, ok bool)
}

// gathered reads a stream to its end and makes the whole answer of it. body is nil when it is none: then the attempt is
// settled, and f is what came of it.
func (t *try) gathered(res *http.Response) (body []byte, h gist, f *failure) {
	in, err := decoded(res)
	if err != nil {
		return nil, h, t.lost(err, res.StatusCode)
	}
	into := t.fold()
	err = eachEvent(in, func(e *wire.Event) bool {
		if substantial(e) {
			into.add(e, &h)
		}
		return h.trouble == nil && h.nonsense == "" && !h.done
	})
	body, ok := into.answer()
	switch {
	case h.trouble != nil:
		return nil, h, t.fail(t.complaint(res, h.trouble), res.StatusCode, h.trouble)
	case h.nonsense != "":
		return nil, h, t.fail(broken(h.nonsense), res.StatusCode, nil)
	case ok:
		return body, h, nil
	case err != nil:
		return nil, h, t.lost(err, res.StatusCode)
	default:
		return nil, h, t.fail(broken("stream:no_end"), res.StatusCode, nil)
	}
}

// eachEvent reads the events of a stream until take has enough or the stream ends. What is larger than an answer may be is
// an error.
func eachEvent(r io.Reader, take func(*wire.Event) (more bool)) error {
	var split wire.Splitter
	in, total := make([]byte, 0, 2*readSize), 0
	for {
		if cap(in)-len(in) < readSize {
			in = append(make([]byte, 0, 2*cap(in)+readSize), in...)
		}
		n, err := r.Read(in[len(in):cap(in)])
		in, total = in[:len(in)+n], total+n
		rest := in
		for {
			e, n := split.Split(rest)
			if n == 0 {
				break
			}
			if rest = rest[n:]; !e.Comment() && !take(&e) {
				return nil
			}
		}
		in = in[:copy(in, rest)]
		switch {
		case total > answerLimit:
			return errAnswerTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (t *try) fold() fold {
	if t.call.codec != nil {
		return &translatedFold{decoder: t.call.codec.decoder(t.n.Model), into: t.x.surface.speech.whole(t), sealed: t.sealed}
	}
	return &responseFold{sealed: t.sealed}
}

// translatedFold puts an answer of another protocol together.
type translatedFold struct {
	decoder neutral.Decoder
	into    assembly
	events  []neutral.Event
	sealed  func(value string)
}

func (f *translatedFold) add(e *wire.Event, h *gist) {
	var err error
	if f.events, err = f.decoder.Decode(e.Name, e.Data, f.events[:0]); err != nil {
		h.nonsense = "stream:malformed"
		return
	}
	for i := range f.events {
		if h.note(&f.events[i], f.sealed); h.trouble != nil {
			return
		}
		f.into.Add(&f.events[i])
	}
}

func (f *translatedFold) answer() ([]byte, bool) { return f.into.Append(nil), f.decoder.Whole() }

// responseFold puts a response together.
type responseFold struct {
	steps  wire.ResponsesReader
	into   wire.ResponseFold
	sealed func(value string)
}

func (f *responseFold) add(e *wire.Event, h *gist) {
	step := f.steps.Read(e.Data)
	if step.Failed {
		h.trouble = append(h.trouble, e.Data...)
		return
	}
	if step.Usage.Known {
		h.usage = step.Usage
	}
	for _, value := range step.Sealed {
		f.sealed(string(value))
	}
	f.into.Add(e.Data)
	h.done = step.Done
}

func (f *responseFold) answer() ([]byte, bool) { return f.into.Append(nil) }
