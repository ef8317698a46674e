package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestAsStream(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		if got := string(AsStream([]byte(answer))); got != "data: "+want+"\n\ndata: [DONE]\n\n" {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	f(`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"say \"message\""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"say \"message\""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`)
	f("{\n \"choices\": [ {\"message\": {\"tool_calls\": [ {\"id\":\"a\"}, {\"index\":7,\"id\":\"b\"}, {} ]}, \"finish_reason\":\"tool_calls\"} ] }",
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"},{"index":7,"id":"b"},{"index":2}]},"finish_reason":"tool_calls"}]}`)
	f(`{"choices":[{"text":"x","finish_reason":"stop"},{"message":null}]}`, `{"choices":[{"text":"x","finish_reason":"stop"},{"delta":null}]}`)
	f(`{"object":"text_completion","choices":[]}`, `{"object":"text_completion","choices":[]}`)
}

// Whatever valid answer comes, the chunk is one line of valid JSON.
func FuzzAsStream(f *testing.F) {
	f.Add([]byte(`{"object":"chat.completion","choices":[{"message":{"tool_calls":[{"id":"a"},{}]}},{"mess\u0061ge":{}}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if !ReadAnswer(answer).Valid {
			return
		}
		got := AsStream(answer)
		data, ok := bytes.CutSuffix(bytes.TrimPrefix(got, []byte("data: ")), []byte("\n\ndata: [DONE]\n\n"))
		if !ok || !json.Valid(data) || bytes.ContainsAny(data, "\n\r") {
			t.Fatalf("%q became %q", answer, got)
		}
	})
}
