package gemini

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// bigBody is a request of an agent: 60 tools, and a conversation with tools up to 200 KB.
func bigBody(schema string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"coder","stream":true,"reasoning_effort":"medium","messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":"Do it."}`)
	for i := 0; b.Len() < 100<<10; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"Next, \"step\" %d.","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"tool_%d","arguments":"{\"path\":\"/src/%d.go\",\"limit\":10}"}}]}`, i, i, i%60, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":%q}`, i, strings.Repeat("package main // \"quoted\"\n", 60))
	}
	b.WriteString(`],"tools":[`)
	for i := range 60 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"Reads a file of the project, or a part of it, and says what is in it.","parameters":%s}}`, i, schema)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// agentSchema is a schema as MCP servers have them; with dirt, one that needs repair in every model's words.
func agentSchema(dirt string) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 8 {
		fmt.Fprintf(&b, `"option_%d":{"type":"string","description":"What to do when there is more than one match."%s},`, i, dirt)
	}
	b.WriteString(`"edits":{"type":"array","description":"The changes.","items":{"type":"object","properties":{"from":{"type":"integer"},"to":{"type":"integer"},"text":{"type":"string"}},"required":["from","to","text"]}},`)
	b.WriteString(`"path":{"type":"string","description":"Where the file stands."}},"required":["path"]}`)
	return b.String()
}

func BenchmarkEncode(b *testing.B) {
	cases := []struct{ name, model, dirt string }{
		{"gemini clean schemas", "gemini-3-flash-preview", ""},
		{"gemini repaired schemas", "gemini-3-flash-preview", `,"const":"a"`},
		{"claude repaired schemas", "claude-sonnet-4-5", `,"minLength":3,"format":"uri","default":"a"`},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			body := bigBody(agentSchema(c.dirt))
			r, err := chat.Decode(body)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := EncodeCloudCode(r, neutral.Target{Model: c.model, Project: "p"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// textChunk is what Gemini sends for a few words.
const textChunk = `{"candidates": [{"content": {"parts": [{"text": "The file holds a parser, "}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 1203,"candidatesTokenCount": 10,"totalTokenCount": 1390,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1203}],"thoughtsTokenCount": 177},"modelVersion": "gemini-3-flash-preview","responseId": "mIhaaKe5Nqq-jrEPtZWnuAk"}`

func BenchmarkChunk(b *testing.B) {
	for name, c := range map[string]struct {
		wrapped bool
		data    string
	}{
		"gemini":    {data: textChunk},
		"cloudcode": {true, `{"response": ` + textChunk + `,"traceId": "8f2d4c1e"}`},
		"call":      {data: strings.Replace(textChunk, `{"text": "The file holds a parser, "}`, `{"functionCall": {"name": "read","args": {"path": "/src/main.go"}},"thoughtSignature": "`+strings.Repeat("A", 400)+`"}`, 1)},
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(c.data)
			out := chat.Stream{ID: "chatcmpl-1", Model: "coder", Created: 1}
			var d Decoder
			var events []neutral.Event
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				clear(d.calls)
				if events, err = d.decode(data, events[:0], c.wrapped); err != nil {
					b.Fatal(err)
				}
				dst = dst[:0]
				for i := range events {
					dst = out.Append(dst, &events[i])
				}
			}
			if !bytes.HasPrefix(dst, []byte("data: ")) {
				b.Fatalf("wrote %q", dst)
			}
		})
	}
}
