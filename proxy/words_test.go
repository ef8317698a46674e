package proxy

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// asking is a request of a client's protocol that asks for thoughts and may call a tool.
func asking(surface string, stream bool) string {
	const schema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	switch surface {
	case "/v1/messages":
		return fmt.Sprintf(`{"model":"sim-1","max_tokens":4096,"stream":%t,"thinking":{"type":"enabled","budget_tokens":1024},`+
			`"messages":[{"role":"user","content":[{"type":"text","text":"Read it."}]}],"tools":[{"name":"read","input_schema":%s}]}`, stream, schema)
	case "/v1/responses":
		return fmt.Sprintf(`{"model":"sim-1","stream":%t,"store":false,"reasoning":{"effort":"high","summary":"auto"},`+
			`"input":[{"role":"user","content":[{"type":"input_text","text":"Read it."}]}],"tools":[{"type":"function","name":"read","parameters":%s}]}`, stream, schema)
	default:
		return fmt.Sprintf(`{"model":"sim-1","stream":%t,"reasoning_effort":"high",`+
			`"messages":[{"role":"user","content":"Read it."}],"tools":[{"type":"function","function":{"name":"read","parameters":%s}}]}`, stream, schema)
	}
}

// With words, the same is kept of an answer in whatever protocol it is told: streamed or whole, passed through or translated.
func TestRecordedWords(t *testing.T) {
	answer := func(simulator.Request) simulator.Answer {
		return simulator.Answer{
			Reasoning: "It is \"there\".", Text: "I read\nit ☕ now.",
			ToolCalls: []simulator.ToolCall{{ID: "call_1", Name: "read", Arguments: `{"path":"a.go"}`}},
		}
	}
	named := regexp.MustCompile("call_[0-9a-f]+_0")
	f := func(surface string, protocol router.Protocol, thinks bool) {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s over %s, stream %t", surface, protocol, stream), func(t *testing.T) {
				b := &book{}
				s := setup{accounts: []simulator.Account{{Name: "a", Key: "sk", Models: []string{"sim-1"}, Answer: answer}}, profiles: speaking(protocol)}
				bubble(t, recording(s, KeepWords, b), func(t *testing.T, r *rig) {
					if got := r.send(http.MethodPost, surface, asking(surface, stream)); got.status != http.StatusOK || got.err != nil {
						t.Fatalf("%s %s", got.line(), got.body)
					}
					lines := b.read(t, r)
					want := []string{
						fmt.Sprintf(`call %s "sim-1" by "" role main/default_fallback session "" stream %t asks "Read it."`, surface, stream),
						`reasoning "It is \"there\"."`, `text "I read\nit ☕ now."`, `tool call_1 read {"path":"a.go"}`,
						"end success 200 after 1 attempts",
					}
					if !thinks {
						want = append(want[:1], want[2:]...)
					}
					for i := range lines {
						lines[i] = named.ReplaceAllString(lines[i], "call_1") // Gemini's own calls have no names
					}
					wantLines(t, lines, want...)
				})
			})
		}
	}
	f("/v1/chat/completions", router.ProtocolChat, true)
	f("/v1/messages", router.ProtocolMessages, true)
	f("/v1/responses", router.ProtocolResponses, true)
	f("/v1/chat/completions", router.ProtocolMessages, true)
	f("/v1/chat/completions", router.ProtocolResponses, true)
	f("/v1/chat/completions", router.ProtocolGemini, false) // of this model it is not known that it could think
}

func chunkOf(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":` + wire.Quote(text) + `}}]}` + "\n\n"
}

// What was heard of an answer that another took the place of was never said; what a client was told of an answer that broke
// off was. Words come in pieces of a kilobyte, or of a quarter of a second. Other choices than the first are not heard.
func TestRecordedPieces(t *testing.T) {
	f := func(name, body string, steps map[string]simulator.Step, want ...string) {
		t.Run(name, func(t *testing.T) {
			b := &book{}
			s := setup{accounts: []simulator.Account{
				{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: 100 * time.Millisecond}, {Name: "b", Key: "l", Models: []string{"sim-1"}},
			}}
			bubble(t, recording(s, KeepWords, b), func(t *testing.T, r *rig) {
				for account, step := range steps {
					r.sim.Push(account, step)
				}
				r.chat(body)
				lines := b.read(t, r)
				wantLines(t, lines[1:], want...)
			})
		})
	}
	on := func(account string, pieces ...string) map[string]simulator.Step {
		return map[string]simulator.Step{account: simulator.Stream(pieces...)}
	}
	kilo := strings.Repeat("k", 1<<10)
	f("slow", askStream, on("a", chunkOf("1"), chunkOf("2"), chunkOf("3"), chunkOf("4"), chunkOf("5"), chunkFinish+chunkDone),
		`text "1234"`, `text "5"`, "end success 200 after 1 attempts")
	f("large", askStream, on("a", chunkOf(kilo)+chunkOf("2")+chunkFinish+chunkDone), `text "`+kilo+`"`, `text "2"`, "end success 200 after 1 attempts")
	f("other choices", askStream, on("a", `data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}`+"\n\n"+chunkFinish+chunkDone),
		`text "a"`, "end success 200 after 1 attempts")
	f("never said", askStream, map[string]simulator.Step{
		"a": simulator.Stream(chunkOf("wrong") + `data: {"error":{"message":"overloaded","code":503}}` + "\n\n"), "b": simulator.Stream(chunkOf("right") + chunkFinish + chunkDone),
	}, `text "right"`, "end success 200 after 2 attempts")
	f("broken off", askStream, on("a", chunkOf("half"), `data: {"error":{"message":"overloaded","code":503}}`+"\n\n"), `text "half"`, "end interrupted 200 after 1 attempts")
	f("half a call", askStream, on("a", chunkOf("x"), `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}]}}]}`+"\n\n"),
		`text "x"`, "end interrupted 200 after 1 attempts")
}

// The last words of the user are found in the requests of every protocol, and cut where they are long.
func TestLastWords(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := lastWords([]byte(body)); got != want {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
	f(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c\n"},{"role":"tool","content":"d"}]}`, "c\n")
	f(`{"messages":[{"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},{"text":"b"}],"role":"user"}]}`, "a\nb")
	f(`{"messages":[{"role":"user","content":null}]}`, "")
	f(`{"messages":[{"role":"user"},5,"x",null]}`, "")
	f(`{"messages":[]}`, "")
	f(`{"input":"a"}`, "a")
	f(`{"input":[{"role":"user","content":"a"},{"type":"function_call_output","output":"x"}]}`, "a")
	f(`{"prompt":"a"}`, "a")
	f(`{"prompt":["a","b"]}`, "a\nb")
	f(`{"prompt":{"id":"p"},"input":"a"}`, "a")
	f(`{"prompt":5}`, "")
	f(`{"input":"`+strings.Repeat("é", longestInput)+`"}`, strings.Repeat("é", longestInput/2))
}

// Whatever stands in a body, a chunk or in metadata: the readers of words and facts end, without a panic.
func FuzzWords(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"index":0,"delta":{"content":"a","reasoning":"b","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"metadata":{"task_id":"t"}}`, `{"input":[{}],"prompt":[""]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := wire.ReadRequest([]byte(text), wire.Chat); err == nil {
			fields := fieldsOf(r.Metadata.In([]byte(text)), nil)
			if m := wire.Object(fields); fields != nil {
				for _, _, ok := m.Next(); ok; _, _, ok = m.Next() { //nolint:revive // walks to the end
				}
				if m.Err() != nil {
					t.Errorf("%s is no object", fields)
				}
			}
			if said := lastWords([]byte(text)); len(said) > longestInput {
				t.Errorf("%d bytes", len(said))
			}
		}
		w := &words{decoder: &chatDecoder{}}
		w.pass(&wire.Event{Data: []byte(text)})
		w.cut()
		if len(w.calls) > mostCalls {
			t.Errorf("%d calls", len(w.calls))
		}
	})
}

// A chunk that differs from the last in a word alone is not walked again, and says the same as if it were.
func TestChatDecoderRepeats(t *testing.T) {
	d := &chatDecoder{}
	f := func(chunk, want string, again bool) {
		t.Helper()
		if got := d.word([]byte(chunk)) != nil; got != again {
			t.Errorf("%s: taken for a repetition: %t", chunk, got)
		}
		var got strings.Builder
		events, _ := d.Decode(nil, []byte(chunk), nil)
		for _, e := range events {
			text, _ := wire.Text(e.Text)
			fmt.Fprintf(&got, "%d:%s ", e.Kind, text)
		}
		if strings.TrimSpace(got.String()) != want {
			t.Errorf("%s\n got %s\nwant %s", chunk, got.String(), want)
		}
	}
	chunk := func(word string) string {
		return `{"id":"c","choices":[{"index":0,"delta":{"content":"` + word + `"},"finish_reason":null}]}`
	}
	f(chunk("a"), "2:a", false)
	f(chunk("bc"), "2:bc", true)
	f(chunk(""), "", false)
	f(chunk("d"), "2:d", false)
	f(chunk(`e\"f`), `2:e"f`, false)
	f(chunk("g"), "2:g", true)
	f(strings.Replace(chunk("h"), "null", `"stop"`, 1), "2:h 9:", false)
	f(chunk("i"), "2:i", false)
	f(strings.Replace(chunk("j"), `"index":0`, `"index":1`, 1), "", false)
	f(`{"choices":[{"delta":{"content":"k","reasoning":"l"}}]}`, "3:l 2:k", false)
	f(`{"choices":[{"delta":{"content":"k","reasoning":"m"}}]}`, "3:m 2:k", false)
	f(`{"choices":[{"text":"n"}]}`, "2:n", false)
	f(`{"choices":[{"text":"o"}]}`, "2:o", false)
}
