package proxy

import (
	"errors"
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
)

// speech is a client's side of a translation: how its request is read into the neutral form, and how neutral events become
// its answer.
type speech struct {
	read  func(body []byte) (*neutral.Request, error)
	tell  func(*try) teller   // of an answer that is streamed
	whole func(*try) assembly // of one that is not
	// word is what the client calls a member that the neutral form knows by its name in a chat completion; nil = the same.
	word func(member string) string
}

// teller writes neutral events as a client's stream.
type teller interface {
	// Append appends what one event is to the client.
	Append(dst []byte, e *neutral.Event) []byte
	// End appends what stands behind the last event of a whole answer.
	End(dst []byte) []byte
	// Held is how many bytes of the answer are kept, because the protocol says them again at its end.
	Held() int
	// fail appends the event by which the client learns that the rest will not come.
	fail(dst []byte, e *refusal, request string) []byte
}

// assembly puts neutral events together to a client's whole answer.
type assembly interface {
	Add(e *neutral.Event)
	Append(dst []byte) []byte
}

// How clients of chat completions and of Responses are served by accounts of other protocols.
var (
	chatSpeech = speech{
		read: chat.Decode,
		tell: func(t *try) teller {
			return &chatTeller{chat.Stream{ID: t.answerID("chatcmpl-"), Model: t.n.Model, Created: t.x.told.Start.Unix(), WantsUse: t.x.req.WantsUse}}
		},
		whole: func(t *try) assembly {
			return &chat.Answer{ID: t.answerID("chatcmpl-"), Model: t.n.Model, Created: t.x.told.Start.Unix()}
		},
	}
	responsesSpeech = speech{
		read:  responses.Decode,
		tell:  func(t *try) teller { return &responsesTeller{t.response()} },
		whole: func(t *try) assembly { return &responses.Answer{Stream: t.response()} },
		word:  responses.Word,
	}
)

// answerID names an answer that came under another protocol's name, or none.
func (t *try) answerID(begins string) string { return begins + t.x.told.ID[len("req_"):] }

// response is a response that is to be told.
func (t *try) response() responses.Stream {
	return responses.Stream{
		ID: t.answerID("resp_"), Model: t.n.Model, Created: t.x.told.Start.Unix(),
		Echo: responses.Echo(t.x.body), Callees: responses.Callees(t.x.neutral),
	}
}

type chatTeller struct{ chat.Stream }

// Held is nothing.
func (t *chatTeller) Held() int { return 0 }

func (t *chatTeller) fail(dst []byte, e *refusal, request string) []byte {
	return wire.AppendEvent(dst, nil, openAI.body(e, request))
}

type responsesTeller struct{ responses.Stream }

func (t *responsesTeller) fail(dst []byte, e *refusal, _ string) []byte {
	return failResponse(dst, t.ID, t.Next(), e)
}

// words names members in the client's words, each once.
func (s *speech) words(names []string) []string {
	if s.word == nil {
		return names
	}
	var own []string
	for _, name := range names {
		if name = s.word(name); !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// wording is an error that names a member, in the client's words.
func (s *speech) wording(err error) error {
	field, ok := errors.AsType[*wire.FieldError](err)
	if !ok || s.word == nil {
		return err
	}
	return &wire.FieldError{Field: s.word(field.Field), What: field.What}
}
