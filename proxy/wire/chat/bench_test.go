package chat

import (
	"fmt"
	"strings"
	"testing"

	"hermes-hub/proxy/wire/neutral"
)

// largeBody is an agent's request of about 200 KB with 60 tools.
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

func BenchmarkDecode200KB(b *testing.B) {
	body := largeBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStreamText(b *testing.B) {
	s := Stream{ID: "chatcmpl-1", Model: "coder", Created: 7}
	e := neutral.Event{Kind: neutral.Text, Tool: -1, Text: neutral.Literal(`" and then some words"`)}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = s.Append(out[:0], &e)
	}
}
