package simulator_test

import (
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// TestAnswersOnTheWire proves that answers are OpenAI's, whole and streamed, to the byte (P01).
func TestAnswersOnTheWire(t *testing.T) {
	f := func(name string, answer simulator.Answerer, body, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			a := accountA
			a.Answer = answer
			bothWays(t, func(t *testing.T, c client) {
				resp, got, err := c.ask(t, body)
				if err != nil {
					t.Fatal(err)
				}
				if resp.Header.Get("X-Simulated") != "true" || resp.Header.Get("X-Request-Id") != "req_simulated000001" {
					t.Errorf("the head is %v, want it labelled", resp.Header)
				}
				if got := shorten(string(got)); got != want {
					t.Errorf("the answer is\n%s\nwant\n%s", got, want)
				}
			}, a)
		})
	}

	const messages = `"model":"gpt-5.5","messages":[{"role":"user","content":"hello"}]`
	f("plain", simulator.Say("Hi <b>"), `{`+messages+`}`,
		`{…"chat.completion"…,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi <b>","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`)
	f("stream", simulator.Say("Hi <b>"), `{"stream":true,`+messages+`}`, lines(
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"content":"Hi "},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"content":"<b>"},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`,
		`data: [DONE]`))
	f("usage asked for", simulator.Say("Hi"), `{"stream":true,"stream_options":{"include_usage":true},`+messages+`}`, lines(
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
		`data: {…"chat.completion.chunk"…,"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`,
		`data: [DONE]`))
	f("reasoning", simulator.Think("Hm …", "Hi"), `{"stream":true,`+messages+`}`, lines(
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"reasoning_content":"Hm "},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"reasoning_content":"…"},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`,
		`data: [DONE]`))
	f("tool call", simulator.CallTool("get", `{"a":1}`), `{`+messages+`}`,
		`{…"chat.completion"…,"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_simulated000001_1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`)
	f("tool call streamed", simulator.CallTool("get", `{"a":1}`), `{"stream":true,`+messages+`}`, lines(
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_simulated000001_1","type":"function","function":{"name":"get","arguments":""}}]},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]},"logprobs":null,"finish_reason":null}]}`,
		`data: {…"chat.completion.chunk"…,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}]}`,
		`data: [DONE]`))
	f("two choices", simulator.Say("Hi"), `{"n":2,`+messages+`}`,
		`{…"chat.completion"…,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`)
	f("func", func(r simulator.Request) simulator.Answer {
		return simulator.Answer{Text: r.Account + ": " + r.LastUser, Finish: "length", Usage: &simulator.Usage{Prompt: 4, Cached: 3, Completion: 2, Reasoning: 1}}
	}, `{`+messages+`}`,
		`{…"chat.completion"…,"choices":[{"index":0,"message":{"role":"assistant","content":"a: hello","refusal":null},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}}`)
	f("default", nil, `{`+messages+`}`,
		`{…"chat.completion"…,"choices":[{"index":0,"message":{"role":"assistant","content":"This is a simulated answer from account \"a\", model \"gpt-5.5\": no real model was called.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":22,"total_tokens":31,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`)
}

func lines(events ...string) string { return strings.Join(events, "\n\n") + "\n\n" }

// shorten leaves out of an answer's JSON what changes with the clock, and checks what it leaves out.
func shorten(answer string) string {
	for _, object := range []string{"chat.completion.chunk", "chat.completion"} {
		head := regexpFor(object)
		answer = head.ReplaceAllString(answer, `{…"`+object+`"…,`)
	}
	return answer
}

// TestToolsOnOffer proves when an account that is not told what to say calls a tool.
func TestToolsOnOffer(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"get_time"}},{"type":"function","function":{"name":"get_weather","parameters":{"required":["city","days","unit"],"properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"enum":["C","F"]},"why":{"type":"string"}}}}}]`
	f := func(rest, want string) {
		t.Helper()
		bothWays(t, func(t *testing.T, c client) {
			_, body, err := c.ask(t, `{"model":"gpt-5.5",`+rest+`}`)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(body), want) {
				t.Errorf("%s\ngave %s\nwant %s in it", rest, body, want)
			}
		}, accountA)
	}

	const weather = `"name":"get_weather","arguments":"{\"city\":\"simulated\",\"days\":1,\"unit\":\"C\"}"`
	f(`"messages":[{"role":"user","content":"hello"}],`+tools, "simulated answer from account")
	f(`"messages":[{"role":"user","content":"Use get_weather, please"}],`+tools, weather)
	f(`"messages":[{"role":"user","content":[{"type":"text","text":"Use get_weather"}]}],`+tools, weather)
	f(`"messages":[{"role":"user","content":"Call a tool"}],`+tools, `"name":"get_time","arguments":"{}"`)
	f(`"messages":[{"role":"user","content":"hello"}],"tool_choice":"required",`+tools, `"name":"get_time"`)
	f(`"messages":[{"role":"user","content":"hello"}],"tool_choice":{"type":"function","function":{"name":"get_weather"}},`+tools, weather)
	f(`"messages":[{"role":"user","content":"Use get_weather"}],"tool_choice":"none",`+tools, "simulated answer from account")
	f(`"messages":[{"role":"user","content":"Use get_weather"},{"role":"tool","content":"sun"}],`+tools, "simulated answer after a tool's result from account")
	f(`"messages":[{"role":"user","content":"Use get_weather"}]`, "simulated answer from account")
}
