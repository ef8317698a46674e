package messages

import (
	"fmt"
	"strings"
	"testing"

	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// largeBody is a chat client's request of about 200 KB with 60 tools.
func largeBody() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"coder","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat("You are an agent. ", 500) + `"}`)
	for i := range 40 {
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"text","text":"%s"}]}`, strings.Repeat(`look at \"this\" `, 100))
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"tool_%d","arguments":"{\"path\":\"a.go\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, strings.Repeat(`line of a file\n`, 100))
	}
	b.WriteString(`],"tools":[`)
	for i := range 60 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"%s","parameters":{"type":"object","properties":{"path":{"type":"string","description":"where"},"lines":{"type":"array","items":{"type":"integer"}}},"required":["path"]}}}`, i, strings.Repeat("Does a thing. ", 50))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// benchmarkChunk translates one delta of a block again and again.
func benchmarkChunk(b *testing.B, block string, data []byte) {
	var d Decoder
	s := chat.Stream{ID: "chatcmpl-1", Model: "coder", Created: 7}
	var events []neutral.Event
	var out []byte
	step := func(data []byte) {
		var err error
		if events, err = d.Decode(nil, data, events[:0]); err != nil {
			b.Fatal(err)
		}
		out = out[:0]
		for i := range events {
			out = s.Append(out, &events[i])
		}
	}
	step([]byte(`{"type":"message_start","message":{"id":"m","model":"claude"}}`))
	step([]byte(`{"type":"content_block_start","index":0,"content_block":` + block + `}`))
	b.ReportAllocs()
	for b.Loop() {
		step(data)
	}
	if len(out) == 0 {
		b.Fatal("nothing was translated")
	}
}

// Budget: a chunk translated to its client's in at most 3 µs and 6 allocations.
func BenchmarkChunk(b *testing.B) {
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" and then some \"words\""}}`)
	benchmarkChunk(b, `{"type":"text","text":""}`, data)
}

func BenchmarkChunkArguments(b *testing.B) {
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"path\": \"a.go\","}}`)
	benchmarkChunk(b, `{"type":"tool_use","id":"t","name":"f","input":{}}`, data)
}

// Budget: a request of 200 KB with 60 tools in at most 3 ms.
func BenchmarkEncode200KB(b *testing.B) {
	body := largeBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := chat.Decode(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Encode(r, neutral.Target{Model: "claude-sonnet-4-5", Stream: true}); err != nil {
			b.Fatal(err)
		}
	}
}
