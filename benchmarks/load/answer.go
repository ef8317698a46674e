package main

import (
	"bytes"
	"fmt"
)

// appendAnswer appends the answer to a call that is not streamed, about 1 KB.
func (c call) appendAnswer(b []byte) []byte {
	b = fmt.Appendf(b, `{"id":"chatcmpl-%d","object":"chat.completion","created":1700000000,"model":"`+model+`","choices":[{"index":0,"message":{"role":"assistant","content":"`, c.number)
	b = append(b, page(c.number, answerSize)...)
	return append(b, `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":130,"total_tokens":230}}`...)
}

// appendChunk appends the i-th piece of a streamed answer.
func (c call) appendChunk(b []byte, i int) []byte {
	return fmt.Appendf(b, `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"`+model+`","choices":[{"index":0,"delta":{"content":"word %d of them "},"finish_reason":null}]}`+"\n\n", c.number, i)
}

// appendEnd appends what follows the last piece of a streamed answer: the reason for its end, its usage where that was
// asked for, and the protocol's own end.
func (c call) appendEnd(b []byte, usage bool) []byte {
	b = fmt.Appendf(b, `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"`+model+`","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n", c.number)
	if usage {
		b = fmt.Appendf(b, `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"`+model+`","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", c.number, c.chunks, 100+c.chunks)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// verify checks the whole body that the client got. It did not ask for usage, so it must not see any.
func (c call) verify(kind string, body, scratch []byte) error {
	if c.chunks == 0 {
		if kind != "application/json" {
			return fmt.Errorf("answer of type %q", kind)
		}
		return differ("answer", body, c.appendAnswer(scratch))
	}
	if kind != "text/event-stream" {
		return fmt.Errorf("stream of type %q", kind)
	}
	want := scratch
	for i := range c.chunks {
		want = c.appendChunk(want, i)
	}
	want = c.appendEnd(want, false)
	if bytes.Equal(body, want) {
		return nil
	}
	return differ("stream", withoutComments(body), want)
}

// withoutComments is a stream without its comments, which a proxy may send to keep a silent stream alive, with or without
// a blank line behind them.
func withoutComments(stream []byte) []byte {
	var kept []byte
	blank := true // where the next event begins, a blank line means nothing
	for line := range bytes.Lines(stream) {
		empty := len(line) == 1
		if line[0] == ':' || empty && blank {
			continue
		}
		kept = append(kept, line...)
		blank = empty
	}
	return kept
}
