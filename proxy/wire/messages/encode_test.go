package messages

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

const (
	user = `{"role":"user","content":"hi"}`
	tool = `"tools":[{"type":"function","function":{"name":"f"}}]`
)

// What the protocol cannot say is refused in the words of the chat client, and nothing is forwarded.
func TestEncodeRefuses(t *testing.T) {
	f := func(model, messages, members, want string) {
		t.Helper()
		body, _, refused := encoded(t, `{"messages":[`+messages+`]`+members+`}`, neutral.Target{Model: model})
		if refused != want || body != "" {
			t.Errorf("%s %s %s\n\tgot  %s %s\n\twant %s", model, messages, members, refused, body, want)
		}
	}
	image := func(url string) string {
		return `{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}`
	}
	file := func(data string) string {
		return `{"role":"user","content":[{"type":"file","file":{` + data + `}}]}`
	}
	call := user + `,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]}`
	const new, old = "claude-opus-5", "claude-sonnet-4"

	f(new, `{"role":"user","content":" \n"}`, "", "messages say nothing that a user or an assistant has said")
	f(new, image("http://e/x.png"), "", "messages[0].content[0].image_url must be an https URL, or a data: URL with base64, for this account")
	f(new, image("data:image/tiff;base64,AA=="), "", "messages[0].content[0].image_url must be a jpeg, png, gif or webp image for this account")
	f(new, file(`"file_id":"file-1"`), "", "messages[0].content[0].file must be a PDF or plain text, as base64 in file_data, for this account")
	f(new, file(`"file_data":"data:text/csv;base64,AA=="`), "", "messages[0].content[0].file must be a PDF or plain text, as base64 in file_data, for this account")
	f(new, `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]}`, "", "messages[0].content[0] is of a kind that this account's protocol does not have")
	f(new, call, "", "messages[1].tool_calls[0] has no result in the messages after it")
	f(new, call+`,{"role":"tool","tool_call_id":"a","content":"x"},`+user, "", "messages[1].tool_calls[1] has no result in the messages after it")
	f(new, user+`,{"role":"assistant","content":"So "}`, "", "messages[1] must not be the assistant's: this model does not go on from its own turn")
	f(new, user, `,"tools":[{"type":"function","function":{"name":"a.b"}}]`, "tools[0].function.name must be 1 to 128 letters, digits, _ or - for this account")
	f(new, user, `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"array"}}}]`, "tools[0].function.parameters must be an object's schema")
	schema := func(s string) string {
		return `,"response_format":{"type":"json_schema","json_schema":{"name":"r","schema":` + s + `}}`
	}
	f(new, user, schema(`{"type":"object","additionalProperties":{"type":"number"}}`), "response_format.json_schema.schema must name every member of every object (additionalProperties: false) for this account")
	f(old, user, schema(`{"type":"object","properties":{}}`), "response_format cannot be held by this model: it has no structured outputs")
}

// How a model is told to think, and what the rest of the request has to give way.
func TestEncodeThinking(t *testing.T) {
	f := func(model, members, want string) {
		t.Helper()
		body, dropped, refused := encoded(t, `{"messages":[`+user+`],`+members+`}`, neutral.Target{Model: model})
		get := func(path string) string { return gjson.Get(body, path).Raw }
		got := strings.Join(strings.Fields(fmt.Sprintf("%s %s effort=%s max=%s T=%s | %s %s", get("thinking.type"), get("thinking.budget_tokens"),
			get("output_config.effort"), get("max_tokens"), get("temperature"), dropped, refused)), " ")
		if got != want {
			t.Errorf("%s %s\n\tgot  %s\n\twant %s", model, members, got, want)
		}
	}
	const haiku, opus46, opus48, opus5, fable, sonnet55 = "claude-haiku-4-5-20251001", "claude-opus-4-6", "claude-opus-4-8", "claude-opus-5", "claude-fable-5", "claude-sonnet-5-5"

	// By budget: less than max_tokens, never less than the API takes.
	f(haiku, `"reasoning_effort":"minimal"`, `"enabled" 1024 effort= max=32000 T= |`)
	f(haiku, `"reasoning_effort":"xhigh"`, `"enabled" 32000 effort= max=36096 T= |`)
	f(haiku, `"reasoning_effort":"high","max_tokens":4000`, `"enabled" 3000 effort= max=4000 T= |`)
	f(haiku, `"reasoning_effort":"high","max_tokens":1200`, `effort= max=1200 T= | reasoning_effort`)
	f(haiku, `"reasoning":{"max_tokens":20000},"max_tokens":8000`, `"enabled" 6000 effort= max=8000 T= | reasoning.max_tokens`)
	f(haiku, `"reasoning":{"max_tokens":500}`, `"enabled" 1024 effort= max=32000 T= |`)
	f(haiku, `"reasoning_effort":"none"`, `"disabled" effort= max=32000 T= |`)
	f(haiku, `"reasoning_effort":"low","temperature":0.2,"top_k":3`, `"enabled" 4096 effort= max=32000 T= | temperature, top_k`)
	f(haiku, `"reasoning_effort":"low","temperature":1,"top_p":0.97`, `"enabled" 4096 effort= max=32000 T= |`)
	f(haiku, `"temperature":0.2,"top_p":0.5`, `effort= max=32000 T=0.2 | top_p`)

	// By itself: xhigh is max where it is not known.
	f(opus46, `"reasoning_effort":"xhigh","temperature":0.2`, `"adaptive" effort="max" max=32000 T= | temperature`)
	f(opus48, `"reasoning_effort":"xhigh"`, `"adaptive" effort="xhigh" max=32000 T= |`)
	f(opus48, `"reasoning_effort":"minimal"`, `"adaptive" effort="low" max=32000 T= |`)
	f(opus48, `"reasoning":{"max_tokens":60000}`, `"adaptive" effort="xhigh" max=32000 T= |`)
	f(opus48, `"temperature":1`, `effort= max=32000 T= |`)
	f(opus48, `"temperature":0`, `effort= max=32000 T= | temperature`)

	// Off, as far as it can be.
	f(opus5, `"reasoning_effort":"none"`, `"disabled" effort= max=32000 T= |`)
	f(sonnet55, `"reasoning_effort":"none"`, `"between_tools" effort= max=32000 T= |`)
	f(fable, `"reasoning_effort":"none"`, `effort="low" max=32000 T= | reasoning_effort`)
	f("claude-3-5-sonnet", `"reasoning_effort":"none"`, `effort= max=32000 T= |`)
	f("claude-3-5-sonnet", `"reasoning_effort":"high"`, `effort= max=32000 T= | reasoning_effort`)

	// A forced call wins; where a model thinks unasked, it is told not to.
	forced := tool + `,"tool_choice":"required"`
	f(haiku, forced+`,"reasoning_effort":"high"`, `effort= max=32000 T= | reasoning_effort`)
	f(opus48, forced+`,"reasoning_effort":"high"`, `effort= max=32000 T= | reasoning_effort`)
	f(opus5, forced, `"disabled" effort= max=32000 T= |`)
	f(opus48, forced, `effort= max=32000 T= |`)
	f(fable, forced+`,"reasoning_effort":"high"`, `effort="high" max=32000 T= |`)
	f("claude-fable-5-1", forced+`,"reasoning_effort":"high"`, `"adaptive" effort="high" max=32000 T= | tool_choice`)
}

// The limit of the answer is the client's, at most the model's.
func TestEncodeMaxTokens(t *testing.T) {
	for _, c := range []struct{ said, output, want int }{
		{0, 0, defaultMaxTokens}, {0, 8192, 8192}, {500, 0, 500}, {500, 8192, 500}, {64_000, 8192, 8192},
	} {
		r := neutral.Request{MaxTokens: c.said, Turns: []neutral.Turn{{Role: neutral.User, Parts: []neutral.Part{{Kind: neutral.TextPart, Text: neutral.Literal(`"x"`)}}}}}
		e, err := Encode(&r, neutral.Target{Model: "claude-haiku-4-5", MaxOutput: c.output})
		if got := gjson.GetBytes(e.Body, "max_tokens").Int(); err != nil || got != int64(c.want) {
			t.Errorf("said %d of %d: got %d (%v), want %d", c.said, c.output, got, err, c.want)
		}
	}
}

func TestModelOf(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		m := modelOf(name)
		words := []string{[...]string{"never", "budget", "adaptive"}[m.thinking], m.off}
		for _, p := range []struct {
			name string
			has  bool
		}{{"claude", m.claude}, {"standing", m.standing}, {"xhigh", m.xhigh}, {"sampling", m.sampling}, {"forced", m.forced}, {"prefill", m.prefill}, {"schemas", m.schemas}} {
			if p.has {
				words = append(words, p.name)
			}
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	f("claude-2.1", "never  claude sampling forced prefill")
	f("claude-3-opus-20240229", "never  claude sampling forced prefill")
	f("claude-3-7-sonnet-latest", "budget disabled claude sampling forced prefill")
	f("claude-opus-4-20250514", "budget disabled claude sampling forced prefill")
	f("claude-opus-4-1@20250805", "budget disabled claude sampling forced prefill")
	f("anthropic/claude-sonnet-4.5", "budget disabled claude sampling forced prefill schemas")
	f("claude-haiku-4-5-20251001", "budget disabled claude sampling forced prefill schemas")
	f("claude-opus-4-6[1m]", "adaptive disabled claude sampling forced schemas")
	f("us.anthropic.claude-opus-4-7-v1:0", "adaptive disabled claude xhigh forced schemas")
	f("claude-sonnet-5", "adaptive disabled claude standing xhigh forced schemas")
	f("claude-haiku-5-5", "adaptive disabled claude standing xhigh forced schemas")
	f("claude-opus-5-5", "adaptive  claude standing xhigh schemas")
	f("claude-mythos-5", "adaptive  claude standing xhigh forced schemas")
	f("claude-mythos-preview", "adaptive  claude standing xhigh schemas")
	f("claude-nextgen", "adaptive  claude standing xhigh schemas")
	f("MiniMax-M3", "budget disabled xhigh sampling forced prefill schemas")
	f("kimi-k2.5", "adaptive disabled xhigh sampling forced prefill schemas")
}

// Story: a tool-using conversation begins on one account; its next turn lands on another one, which cannot open what the
// first has sealed. It stays valid, and what was removed is known (P18).
func TestEncodeAfterFailover(t *testing.T) {
	body := `{"messages":[` + user + `,{"role":"assistant","content":null,"reasoning_content":"hm","reasoning_details":[
		{"type":"reasoning.text","text":"hm","signature":"foreign==","format":"anthropic-claude-v1"}],
		"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"toolu_1","content":"x"}],` + tool + `,"reasoning_effort":"high"}`
	r, err := chat.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	removed := r.Unseal(func(neutral.Seal) bool { return false })
	e, err := Encode(r, neutral.Target{Model: "claude-sonnet-4-5"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(e.Body), "thinking") || len(removed) != 1 || strings.Join(e.Dropped, " ") != "reasoning_effort" {
		t.Errorf("removed %q, dropped %q, body %s", removed, e.Dropped, e.Body)
	}
	again, err := Encode(r, neutral.Target{Model: "claude-sonnet-4-5"})
	if err != nil || string(again.Body) != string(e.Body) {
		t.Errorf("the second encoding of one request differs: %s, %v", again.Body, err)
	}
}

// What chat lets through is either refused by name or becomes valid JSON, twice the same.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{
		`{"messages":[` + user + `],` + tool + `,"tool_choice":"required","reasoning_effort":"high","stop":"x"}`,
		`{"messages":[` + user + `,{"role":"assistant","tool_calls":[{"id":"é","function":{"name":"f","arguments":"\"x"}}]},{"role":"tool","tool_call_id":"é","content":[]}]}`,
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"response_format":{"type":"json_schema","json_schema":{"schema":{"oneOf":[{"properties":{"a":{"items":[{}]}}}]}}}}`,
	} {
		f.Add([]byte(seed), "claude-opus-4-6")
		f.Add([]byte(seed), "claude-haiku-4-5")
	}
	f.Fuzz(func(t *testing.T, body []byte, model string) {
		r, err := chat.Decode(body)
		if err != nil {
			return
		}
		e, err := Encode(r, neutral.Target{Model: model})
		if err != nil {
			if _, named := errors.AsType[*wire.FieldError](err); !named {
				t.Errorf("refused without a member's name: %v", err)
			}
			return
		}
		if !gjson.ValidBytes(e.Body) {
			t.Errorf("no JSON: %s", e.Body)
		}
		if again, err := Encode(r, neutral.Target{Model: model}); err != nil || string(again.Body) != string(e.Body) {
			t.Errorf("the second encoding of one request differs: %v", err)
		}
	})
}
