package benchmarks

import (
	"fmt"
	"strings"
	"testing"
)

const (
	word   = "word"
	pieces = 200 // in a stream
)

// BenchmarkStream is the stream of 200 pieces of a client of chat completions, or of Responses, from accounts of every protocol.
// A chat client's over chat accounts is passed through, the others are translated: in at most 3 µs a piece.
func BenchmarkStream(b *testing.B) {
	for _, w := range translatedWays() {
		b.Run(w.name, func(b *testing.B) {
			s := scriptOf(b, w, word)
			s.check(b, w, word)
			benchmark(b, w.account, s.stream(pieces), w.path, w.ask)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pieces, "ns/piece")
		})
	}
}

// A piece of a stream costs no allocation, whatever it is translated from, but for a buffer that grows now and then: the
// budget is 6. What the request costs as a whole is taken off.
func TestPieceAllocations(t *testing.T) {
	for _, w := range translatedWays() {
		s := scriptOf(t, w, word)
		s.check(t, w, word)
		cost := func(pieces int) float64 {
			h := hub(t, w.account, s.stream(pieces))
			return testing.AllocsPerRun(20, func() { serve(t, h, w.path, w.ask) })
		}
		got := (cost(10*pieces) - cost(pieces)) / (9 * pieces)
		if t.Logf("%s: %.3f", w.name, got); got > 0.5 {
			t.Errorf("%s: %.2f allocations a piece", w.name, got)
		}
	}
}

// BenchmarkLargeRequest is a chat client's request of 200 KB with 60 tools to accounts of every protocol, and a short answer:
// in at most 3 ms.
func BenchmarkLargeRequest(b *testing.B) {
	for _, w := range chatWays() {
		b.Run(w.name, func(b *testing.B) {
			body := largeRequest(w.account.model)
			benchmark(b, w.account, recorded(b, w, body, "Done."), w.path, body)
		})
	}
}

// largeRequest is an agent's: a conversation with tools that has grown to 200 KB, 50 of which are the tools.
func largeRequest(model string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"messages":[{"role":"system","content":%q},{"role":"user","content":"Mend it."}`, model, strings.Repeat("You are an agent. ", 500))
	for i := range 40 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":%q,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"tool_%d","arguments":"{\"path\":\"a.go\",\"lines\":[1,20]}"}}]}`,
			strings.Repeat(`Next, "step". `, 20), i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":%q}`, i, strings.Repeat("package main // \"quoted\"\n", 120))
	}
	b.WriteString(`],"tools":[`)
	for i := range 60 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{`+
			`"path":{"type":"string","description":"where","minLength":1},"lines":{"type":"array","items":{"type":"integer"}},"mode":{"type":"string","enum":["a","b"],"default":"a"}},"required":["path"],"additionalProperties":false}}}`,
			i, strings.Repeat("Does a thing. ", 35))
	}
	b.WriteString(`]}`)
	return b.String()
}
