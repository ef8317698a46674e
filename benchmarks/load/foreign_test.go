package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// foreignBody is a call's request as the hub translates it.
func foreignBody(c call) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"load %s"}]}],"stream":%t}`,
		model, c.appendText(nil), c.chunks > 0)
}

func TestForeignCallReachesTheUpstream(t *testing.T) {
	f := func(c call, old, by, want string) {
		t.Helper()
		body := foreignBody(c)
		if !json.Valid([]byte(body)) || !strings.Contains(body, old) {
			t.Fatalf("not JSON, or no %q in it: %s", old, body)
		}
		m := message{start: []byte("POST /v1/messages HTTP/1.1"), body: []byte(strings.Replace(body, old, by, 1))}
		got, err := m.call()
		text := fmt.Sprintf("%d %v foreign=%t", got.number, got.ask, got.foreign)
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
	stream := call{ask{size: small, chunks: 20}, 7}
	f(stream, "", "", "7 {1024 20 0 false} foreign=true")
	f(stream, `}],"stream"`, `}],"system":"s","stream"`, "7 {1024 20 0 false} foreign=true")

	f(call{ask{size: small}, 7}, "", "", `translated to something else than a stream of "gpt-load"`)
	f(stream, `"stream":true`, `"stream":false`, "translated to something else")
	f(stream, `"user"`, `"assistant"`, "translated to something else")
	f(stream, `"gpt-load"`, `"other"`, "translated to something else")
	f(stream, `"}]}],`, `"},{"type":"text","text":"more"}]}],`, "translated to something else")
	f(stream, "line 0008", "line 0009", "prompt of 1044 bytes instead of 1044, different from byte 91")
	f(stream, `"text":"load `, `"text":"lead `, "translated request without the prompt")
	f(stream, `"stream":true}`, `"stream":true`, "read around the prompt: unexpected end of JSON input")
}

func FuzzReadForeign(f *testing.F) {
	f.Add([]byte(foreignBody(call{ask{size: small, chunks: 3}, 5000})))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readForeign(body)
		if err == nil && !strings.Contains(string(body), string(got.appendText(nil))) {
			t.Errorf("read call %d, whose prompt is not there", got.number)
		}
	})
}

// The upstream's stream is Anthropic's, and its text that of a stream of chat chunks.
func TestForeignStream(t *testing.T) {
	c := call{ask{size: small, chunks: 3}, 9}
	say := received{call: c, foreign: true}.dialect()
	stream := say.begin(nil)
	for i := range c.chunks {
		stream = say.chunk(stream, i)
	}
	stream = say.end(stream)
	var types, text strings.Builder
	for line := range strings.Lines(string(stream)) {
		var event struct {
			Type  string
			Delta struct{ Text string }
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			types.WriteString(event.Type + " ")
			text.WriteString(event.Delta.Text)
		}
	}
	const want = "message_start content_block_start content_block_delta content_block_delta content_block_delta content_block_stop message_delta message_stop "
	if types.String() != want || text.String() != "word 0 of them word 1 of them word 2 of them " {
		t.Errorf("%s %s", &types, &text)
	}
}

func TestVerifyTranslated(t *testing.T) {
	c := call{ask{size: small, chunks: 3}, 9}
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"chatcmpl-x","object":"chat.completion.chunk","created":7,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", model, delta, finish)
	}
	var whole strings.Builder
	whole.WriteString(chunk(`{"role":"assistant","content":""}`, "null"))
	for i := range c.chunks {
		whole.WriteString(chunk(fmt.Sprintf(`{"content":"word %d of them "}`, i), "null"))
	}
	whole.WriteString(chunk("{}", `"stop"`) + "data: [DONE]\n\n")
	f := func(old, by, want string) {
		t.Helper()
		if !strings.Contains(whole.String(), old) {
			t.Fatalf("no %q", old)
		}
		got := fmt.Sprint(c.verifyTranslated("text/event-stream", []byte(strings.Replace(whole.String(), old, by, 1))))
		if !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("", "", "<nil>")
	f("data: ", ": hub\ndata: ", "<nil>")
	f(chunk(`{"content":"word 1 of them "}`, "null"), "", "translated stream of 35 bytes instead of 50, different from byte")
	f("word 1", "word 2", "translated stream of 50 bytes instead of 50, different from byte 20")
	f(`"stop"`, `"length"`, "translated stream of")
	f(chunk("{}", `"stop"`), "", "translated stream of")
	f(chunk("{}", `"stop"`), chunk("{}", `"stop"`)+chunk("{}", `"stop"`), "translated stream of")
	f("data: [DONE]\n\n", "", "translated stream without its end mark")
	f(`"chat.completion.chunk"`, `"chat.completion"`, "chunk of something else")
	f(`"choices":[{`, `"usage":{"prompt_tokens":1},"choices":[{`, "chunk of something else")
	f(`{"id"`, `{"id`, "read chunk: ")
	if err := c.verifyTranslated("application/json", []byte(whole.String())); err == nil {
		t.Error("a whole answer passes for a stream")
	}
}
