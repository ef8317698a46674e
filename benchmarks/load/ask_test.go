package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The book's lines are cut where pages begin and end: no escape may be torn.
func TestBook(t *testing.T) {
	seen := map[string]bool{}
	for at := 0; at < len(book); at += lineSize {
		line := string(book[at : at+lineSize])
		if !strings.HasSuffix(line, `...\n`) || !json.Valid([]byte(`"`+line+`"`)) || seen[line] {
			t.Fatalf("line at %d: %q", at, line)
		}
		seen[line] = true
	}
	if len(seen) != lineCount {
		t.Fatalf("%d lines", len(seen))
	}
}

func TestCallReachesTheUpstream(t *testing.T) {
	f := func(c call, edit func(string) string, want string) {
		t.Helper()
		body := string(c.appendBody(nil))
		if !json.Valid([]byte(body)) {
			t.Fatalf("not JSON: %s", body)
		}
		got, err := readCall([]byte(edit(body)))
		text := fmt.Sprintf("%d %v usage=%t", got.number, got.ask, got.usage)
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
	same := func(body string) string { return body }
	replace := func(old, by string) func(string) string {
		return func(body string) string {
			if !strings.Contains(body, old) {
				t.Fatalf("no %q in %s", old, body)
			}
			return strings.Replace(body, old, by, 1)
		}
	}
	whole := call{ask{size: small}, 7}
	stream := call{ask{size: large, chunks: 50, pace: 20 * time.Millisecond, held: true}, 123456}

	f(whole, same, "7 {1024 0 0 false} usage=false")
	f(stream, same, "123456 {65536 50 20000000 true} usage=false")
	f(stream, replace(`{"messages"`, `{"stream_options":{"include_usage":true},"messages"`), "123456 {65536 50 20000000 true} usage=true")

	f(whole, replace("line 0008", "line 0009"), "prompt of 1088 bytes instead of 1088, different from byte 133")
	f(whole, replace("load 7", "load 8"), "prompt of 1088 bytes instead of 1088, different from byte")
	f(whole, replace(`...\n"}]`, `..."}]`), "prompt of 1088 bytes instead of 1088, different from byte")
	f(whole, func(body string) string { return body[:500] }, "prompt of 499 bytes instead of 1088")
	f(whole, replace(`"stream":false`, `"stream":true`), `request for model "gpt-load", stream true instead of "gpt-load", false`)
	f(whole, replace(`"gpt-load"`, `"other"`), `request for model "other"`)
	f(whole, replace(`"gpt-load"}`, `"gpt-load"`), "read around the prompt: unexpected end of JSON input")
	f(whole, replace("1024 ", "1025 "), "prompt of 1025 bytes cannot be")
	f(whole, replace("1024 ", "-64 "), "prompt's first line has")
	f(whole, func(string) string { return "{}" }, "request without the prompt")
}

func FuzzReadCall(f *testing.F) {
	f.Add(call{ask{size: small}, 1}.appendBody(nil))
	f.Add(call{ask{size: small, chunks: 3}, 5000}.appendBody(nil))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readCall(body)
		if err == nil && !bytes.Contains(body, got.appendPrompt(nil)) {
			t.Errorf("read call %d, whose prompt is not there", got.number)
		}
	})
}

func TestVerify(t *testing.T) {
	whole, stream := call{ask{size: small}, 9}, call{ask{size: small, chunks: 3}, 9}
	events := func(c call, usage bool) string {
		var b []byte
		for i := range c.chunks {
			b = c.appendChunk(b, i)
		}
		return string(c.appendEnd(b, usage))
	}
	f := func(c call, kind, body, want string) {
		t.Helper()
		got := fmt.Sprint(c.verify(kind, []byte(body), nil))
		if !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	answer := string(whole.appendAnswer(nil))
	if !json.Valid([]byte(answer)) || len(answer) < 1000 || len(answer) > 1100 {
		t.Errorf("answer of %d bytes: %s", len(answer), answer)
	}
	f(whole, "application/json", answer, "<nil>")
	f(whole, "text/plain", answer, `answer of type "text/plain"`)
	f(whole, "application/json", answer[:900], fmt.Sprintf("answer of 900 bytes instead of %d, different from byte 900", len(answer)))
	f(whole, "application/json", string(call{whole.ask, 8}.appendAnswer(nil)), fmt.Sprintf("answer of %d bytes instead of %[1]d, different from byte 16", len(answer)))
	f(whole, "application/json", answer+" ", fmt.Sprintf("answer of %d bytes instead of %d", len(answer)+1, len(answer)))

	f(stream, "text/event-stream", events(stream, false), "<nil>")
	f(stream, "text/event-stream", ": keep-alive\n\n"+events(stream, false), "<nil>")
	f(stream, "text/event-stream", strings.Replace(events(stream, false), "\n\ndata", "\n\n: hub\ndata", 2), "<nil>")
	f(stream, "text/event-stream", events(stream, true), "stream of")
	f(stream, "text/event-stream", strings.TrimSuffix(events(stream, false), "data: [DONE]\n\n"), "stream of")
	f(stream, "text/event-stream", strings.Replace(events(stream, false), "word 1 ", "word 2 ", 1), "stream of")
	f(stream, "application/json", answer, `stream of type "application/json"`)
}
