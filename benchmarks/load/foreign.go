package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// dialect is how the upstream streams an answer. Each appends to what is given.
type dialect struct {
	begin func(b []byte) []byte
	chunk func(b []byte, i int) []byte
	end   func(b []byte) []byte
}

// dialect is that of the protocol in which the call came.
func (r received) dialect() dialect {
	if r.foreign {
		return dialect{r.appendForeignBegin, appendForeignChunk, r.appendForeignEnd}
	}
	return dialect{func(b []byte) []byte { return b }, r.appendChunk, func(b []byte) []byte { return r.appendEnd(b, r.usage) }}
}

const textStart = `"text":"load `

// readForeign reads a body that the hub has translated to Anthropic's protocol, and verifies every byte of the prompt.
func readForeign(body []byte) (received, error) {
	at := bytes.Index(body, []byte(textStart))
	if at < 0 {
		return received{}, errors.New("translated request without the prompt")
	}
	from := at + len(textStart)
	c, err := readPrompt(body[from:])
	if err != nil {
		return received{}, err
	}
	want := append(c.appendText(nil), '"')
	if err := differ("prompt", body[from:min(len(body), from+len(want))], want); err != nil {
		return received{}, err
	}
	var around struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	rest := string(body[:at]) + `"text":"` + string(body[from+len(want)-1:])
	if err := json.Unmarshal([]byte(rest), &around); err != nil {
		return received{}, fmt.Errorf("read around the prompt: %w", err)
	}
	m := around.Messages
	if around.Model != model || !around.Stream || c.chunks == 0 || len(m) != 1 || m[0].Role != "user" || len(m[0].Content) != 1 || m[0].Content[0].Type != "text" {
		return received{}, fmt.Errorf("translated to something else than a stream of %q: %s", model, rest)
	}
	return received{call: c, foreign: true}, nil
}

func (c call) appendForeignBegin(b []byte) []byte {
	b = fmt.Appendf(b, "event: message_start\ndata: "+`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"`+model+
		`","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}`+"\n\n", c.number)
	return append(b, "event: content_block_start\ndata: "+`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`+"\n\n"...)
}

// appendForeignChunk appends the i-th piece: the same text as in appendChunk.
func appendForeignChunk(b []byte, i int) []byte {
	return fmt.Appendf(b, "event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word %d of them "}}`+"\n\n", i)
}

func (c call) appendForeignEnd(b []byte) []byte {
	b = append(b, "event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`+"\n\n"...)
	b = fmt.Appendf(b, "event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}}`+"\n\n", c.chunks)
	return append(b, "event: message_stop\ndata: "+`{"type":"message_stop"}`+"\n\n"...)
}

// foreignChunk is a chunk as the hub makes it of another protocol's event. How its members are ordered is the hub's affair.
type foreignChunk struct {
	Object, Model string
	Choices       []struct {
		Delta  struct{ Content string }
		Finish *string `json:"finish_reason"`
	}
	Usage json.RawMessage
}

// verifyTranslated checks the whole body that the client got where the hub has translated it: every piece in its order, one
// end, the protocol's end mark, and nothing else.
func (c call) verifyTranslated(kind string, body []byte) error {
	if kind != "text/event-stream" {
		return fmt.Errorf("stream of type %q", kind)
	}
	events, ok := bytes.CutSuffix(withoutComments(body), []byte("data: [DONE]\n\n"))
	if !ok {
		return errors.New("translated stream without its end mark")
	}
	var got, want strings.Builder
	for event := range bytes.SplitSeq(bytes.TrimSuffix(events, []byte("\n\n")), []byte("\n\n")) {
		var chunk foreignChunk
		data, _ := bytes.CutPrefix(event, []byte("data: "))
		if err := json.Unmarshal(data, &chunk); err != nil {
			return fmt.Errorf("read chunk: %w: %q", err, event)
		}
		if chunk.Object != "chat.completion.chunk" || chunk.Model != model || len(chunk.Choices) != 1 || chunk.Usage != nil {
			return fmt.Errorf("chunk of something else: %q", event)
		}
		got.WriteString(chunk.Choices[0].Delta.Content)
		if end := chunk.Choices[0].Finish; end != nil {
			got.WriteString("\n" + *end)
		}
	}
	for i := range c.chunks {
		fmt.Fprintf(&want, "word %d of them ", i)
	}
	want.WriteString("\nstop")
	return differ("translated stream", []byte(got.String()), []byte(want.String()))
}
