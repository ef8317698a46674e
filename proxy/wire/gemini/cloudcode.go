package gemini

import (
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// EncodeCloudCode writes r as the body of v1internal:generateContent and v1internal:streamGenerateContent
// (google-gemini/gemini-cli packages/core/src/code_assist/converter.ts): {"model": …, "project": …, "request": {…}}. The
// project is left out where the account has none. What the official clients say about themselves is no part of it.
func EncodeCloudCode(r *neutral.Request, t neutral.Target) (neutral.Encoded, error) {
	e := newEncoder(r, t, modelOf(t.Model))
	e.raw("{")
	e.member("model")
	e.quote(t.Model)
	if t.Project != "" {
		e.member("project")
		e.quote(t.Project)
	}
	e.member("request")
	e.request()
	e.raw("}")
	return e.encoded()
}

// CloudCodeDecoder turns the chunks that Cloud Code streams into events. Its zero value is ready.
type CloudCodeDecoder struct{ Decoder }

var _ neutral.Decoder = (*CloudCodeDecoder)(nil)

// Decode implements neutral.Decoder.
func (d *CloudCodeDecoder) Decode(_, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	return d.decode(data, events, true)
}

// DecodeCloudCodeAnswer reads a whole answer of Cloud Code, as DecodeAnswer does one of the Gemini API.
func DecodeCloudCodeAnswer(body []byte, events []neutral.Event) ([]neutral.Event, error) {
	return decodeAnswer(body, events, true)
}

// unwrap returns what stands in the envelope of one chunk, and the chunk itself where there is no envelope: an error has
// none.
func unwrap(data []byte) ([]byte, error) {
	inner := data
	m := wire.Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if v := value.In(data); string(name) == "response" && !wire.Null(v) {
			inner = v
		}
	}
	if err := m.Err(); err != nil {
		return nil, fmt.Errorf("read chunk: %w", err)
	}
	return inner, nil
}
