package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// again is what a request has become that was written for an account and read from there.
func again(t *testing.T, r *neutral.Request) (*neutral.Request, neutral.Encoded) {
	t.Helper()
	out, err := Encode(r, neutral.Target{Model: "deepseek-chat", Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Decode(out.Body)
	if err != nil {
		t.Fatalf("%v in %s", err, out.Body)
	}
	return second, out
}

// What Encode writes Decode reads as what it was, but for what is named as dropped.
func TestEncodeDecode(t *testing.T) {
	f := func(body, dropped string) {
		t.Helper()
		first, err := Decode([]byte(`{"model":"m",` + body + `}`))
		if err != nil {
			t.Fatal(err)
		}
		second, out := again(t, first)
		first.Others, first.CacheKey, first.Metadata, first.TopK = nil, "", nil, nil
		same(t, body, dump(second), dump(first))
		if got := strings.Join(out.Dropped, " "); got != dropped {
			t.Errorf("%s: dropped %q, want %q", body, got, dropped)
		}
	}
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	f(hi, "")
	f(hi+`,"temperature":0.5,"top_p":0.9,"frequency_penalty":1,"presence_penalty":-1,"seed":7,"stop":["a","b"],"max_tokens":9,"user":"u","service_tier":"flex","reasoning_effort":"high"`, "")
	f(hi+`,"prompt_cache_key":"k","metadata":{"a":"b"},"top_k":4,"logit_bias":{"1":2}`, "top_k prompt_cache_key metadata logit_bias")
	f(hi+`,"response_format":{"type":"json_object"}`, "")
	f(hi+`,"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","strict":true,"schema":{"type":"object"}}}`, "")
	f(hi+`,"tools":[{"type":"function","function":{"name":"f","description":"d\n","strict":true,"parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}},"parallel_tool_calls":false`, "")
	f(`"messages":[{"role":"user","name":"n","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x.test/a.png","detail":"low"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"input_audio","input_audio":{"data":"QUJD","format":"mp3"}},{"type":"file","file":{"file_id":"f"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,QUJD","filename":"a.pdf"}}]}]`, "")
	f(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x","refusal":"no","reasoning_content":"why","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]},{"role":"tool","tool_call_id":"c","content":"y"}]`, "")
	f(`"messages":[{"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s","format":"anthropic-claude-v1"}],"tool_calls":[{"id":"c","type":"function","extra_content":{"google":{"thought_signature":"z"}},"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"y"},{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}]`, "")
}

// A run of the system's turns, or of the assistant's, is one message; a thought goes back to nobody but a maker who wants it.
func TestEncodeMessages(t *testing.T) {
	text := func(s string) []neutral.Part {
		return []neutral.Part{{Kind: neutral.TextPart, Text: neutral.Literal(s)}}
	}
	call := func(id string) neutral.Part {
		return neutral.Part{Kind: neutral.ToolCallPart, ID: id, Name: "f", Path: "at " + id}
	}
	thought := neutral.Part{Kind: neutral.ReasoningPart, Text: neutral.Literal(`"hm"`)}
	result := func(id string) neutral.Turn {
		return neutral.Turn{Role: neutral.ToolRole, Parts: []neutral.Part{{Kind: neutral.ToolResultPart, ID: id, Path: "of " + id, IsError: true}}}
	}
	f := func(model, want, dropped string, turns ...neutral.Turn) {
		t.Helper()
		out, err := Encode(&neutral.Request{Turns: turns}, neutral.Target{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(out.Body); got != `{"model":"`+model+`","messages":[`+want+`]}` || strings.Join(out.Dropped, " ") != dropped {
			t.Errorf("\n got %s (%s)\nwant %s (%s)", got, out.Dropped, want, dropped)
		}
	}
	f("m", `{"role":"system","content":"a\n\nb"},{"role":"user","content":"c"},{"role":"user","content":"d"}`, "",
		neutral.Turn{Role: neutral.System, Parts: text(`"a"`)}, neutral.Turn{Role: neutral.System, Parts: text(`"b"`)},
		neutral.Turn{Role: neutral.User, Parts: text(`"c"`)}, neutral.Turn{Role: neutral.User, Parts: text(`"d"`)})
	const calls = `"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""}`
	f("m", `{"role":"assistant","content":"a",`+calls, "messages[].reasoning_content messages[].is_error",
		neutral.Turn{Role: neutral.Assistant, Parts: append([]neutral.Part{thought}, text(`"a"`)...)},
		neutral.Turn{Role: neutral.Assistant, Parts: []neutral.Part{call("c")}}, result("c"))
	f("kimi-k2", `{"role":"assistant","content":null,"reasoning_content":"hm",`+calls, "messages[].is_error",
		neutral.Turn{Role: neutral.Assistant, Parts: []neutral.Part{thought, call("c")}}, result("c"))
	f("kimi-k2", `{"role":"assistant","content":"a"}`, "messages[].reasoning_content",
		neutral.Turn{Role: neutral.Assistant, Parts: append([]neutral.Part{thought}, text(`"a"`)...)})

	refused := func(field string, turns ...neutral.Turn) {
		t.Helper()
		_, err := Encode(&neutral.Request{Turns: turns}, neutral.Target{Model: "m"})
		if wrong, ok := errors.AsType[*wire.FieldError](err); !ok || wrong.Field != field {
			t.Errorf("%v, want a complaint about %s", err, field)
		}
	}
	asked := neutral.Turn{Role: neutral.Assistant, Parts: []neutral.Part{call("c")}}
	refused("at c", asked)
	refused("at c", asked, neutral.Turn{Role: neutral.User, Parts: text(`"d"`)}, result("c"))
	refused("of d", asked, result("d"))
	refused("of c", asked, result("c"), result("c"))
	refused("here", neutral.Turn{Role: neutral.User, Parts: []neutral.Part{{Kind: neutral.FilePart, Path: "here", Media: neutral.Media{URL: "https://x.test"}}}})
	refused("here", neutral.Turn{Role: neutral.User, Parts: []neutral.Part{{Kind: neutral.ImagePart, Path: "here", Media: neutral.Media{FileID: "f"}}}})
}

// OpenAI's models that think have members of their own; ids that are too long stay the same for the same.
func TestEncodeForModels(t *testing.T) {
	f := func(model, want string) {
		t.Helper()
		out, err := Encode(&neutral.Request{MaxTokens: 9, Verbosity: "low"}, neutral.Target{Model: model, MaxOutput: 5})
		if err != nil || !strings.HasSuffix(string(out.Body), want) {
			t.Errorf("%s: %v %s", model, err, out.Body)
		}
	}
	f("gpt-5.5", `"max_completion_tokens":5,"verbosity":"low"}`)
	f("openai/o3", `"max_completion_tokens":5,"verbosity":"low"}`)
	f("llama", `"max_tokens":5}`)
	long := strings.Repeat("x", 41)
	if s := shortened(long); len(s) != 40 || s != shortened(long) || s == shortened(long+"y") || shortened("c") != "c" {
		t.Errorf("%s", s)
	}
}

// told are the events of an answer for people.
func told(events []neutral.Event) string {
	var out []string
	for _, e := range events {
		switch e.Kind {
		case neutral.Started:
			out = append(out, "started "+e.ID)
		case neutral.Text:
			out = append(out, "text "+string(e.Text))
		case neutral.Reasoning:
			out = append(out, fmt.Sprintf("thought %s%s", e.Text, e.Seal.Format))
		case neutral.Refusal:
			out = append(out, "refusal "+string(e.Text))
		case neutral.Sealed:
			out = append(out, fmt.Sprintf("sealed %d %s %s", e.Tool, e.Seal.Format, e.Seal.Data))
		case neutral.ToolStarted:
			out = append(out, fmt.Sprintf("call %d %s %s%s", e.Tool, e.ID, e.Name, e.Seal.Data))
		case neutral.ToolArguments:
			out = append(out, fmt.Sprintf("arguments %d %s", e.Tool, e.Text))
		case neutral.Counted:
			out = append(out, fmt.Sprintf("counted %d/%d", e.Usage.Input, e.Usage.Output))
		case neutral.Finished:
			out = append(out, fmt.Sprintf("finished %d", e.Finish))
		case neutral.Failed:
			out = append(out, "failed "+string(e.Fault))
		}
	}
	return strings.Join(out, "; ")
}

// What an account answers whole, and what is understood of it.
func TestDecodeAnswer(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		events, err := DecodeAnswer([]byte(body), nil)
		got := told(events)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(`{"id":"c","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `started c; text "hi"; finished 1; counted 1/2`)
	f(`{"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":null}]}`, `started c; text "hi"; finished 1`)
	f(`{"id":"c","choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, `started c; finished 1`)
	f(`{"id":"c","choices":[{"message":{"reasoning":"hm","content":"hi"},"finish_reason":"length"},{"index":1,"message":{"content":"no"}}]}`, `started c; thought "hm"; text "hi"; finished 2`)
	f(`{"id":"c","choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`, `started c; refusal "no"; finished 5`)
	f(`{"id":"c","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`, `started c; call 0 a f; arguments 0 "{}"; finished 3`)
	f(`{"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":"insufficient_system_resource"}]}`, `started c; text "hi"; failed {"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":"insufficient_system_resource"}]}`)
	f(`{"error":{"message":"x"}}`, `failed {"error":{"message":"x"}}`)
	f(`{"choices":[],"usage":{"prompt_tokens":1}}`, "decode chat completion: it has no answer")
	f(`{"object":"list"}`, "decode chat completion: it has no choices")
	f(`{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}`, "decode chunk of a chat completion: a call has arguments and no name")
	f(`{"choices":`, "decode chat completion: invalid JSON at byte 11: expected a value")
}

// Whatever an account streams, what is told of it has one end, names every call before its arguments, and holds JSON.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("data: " + `{"id":"c","choices":[{"delta":{"content":"a","reasoning_content":"b","tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: " + `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"d","id":"x","format":"google-gemini-v1"}],"content":[{"type":"text","text":"t"}]}}]}` + "\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var split wire.Splitter
		var d Decoder
		var all []neutral.Event
		for rest := stream; len(rest) > 0; {
			e, n := split.Split(rest)
			if n == 0 {
				break
			}
			rest = rest[n:]
			if e.Data == nil {
				continue
			}
			events, err := d.Decode(e.Name, e.Data, nil)
			if all = append(all, events...); err != nil {
				break
			}
		}
		ends, calls := 0, map[int]bool{}
		for _, e := range all {
			switch e.Kind {
			case neutral.Finished:
				ends++
			case neutral.ToolStarted:
				if calls[e.Tool] || e.ID == "" || e.Name == "" {
					t.Fatalf("%q: call %d is started twice, or has no name", stream, e.Tool)
				}
				calls[e.Tool] = true
			case neutral.ToolArguments:
				if !calls[e.Tool] {
					t.Fatalf("%q: arguments of a call that was not started", stream)
				}
			}
			if e.Text != nil && !json.Valid(e.Text) {
				t.Fatalf("%q tells %q", stream, e.Text)
			}
		}
		if ends > 1 || d.Whole() != (ends == 1) {
			t.Fatalf("%q ends %d times", stream, ends)
		}
	})
}
