package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// A conversation of two turns: what the first answer sealed, and the ids of its calls, come back with the second request,
// although a chat client stood between.
func TestSecondTurnFitsTheFirst(t *testing.T) {
	stream := `data: {"type":"response.created","response":{"id":"resp_1"}}

data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"gAAA"}}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}}

data: {"type":"response.completed","response":{"status":"completed"}}

`
	a := chat.Answer{ID: "c", Model: "m", Created: 1}
	if _, err := decodeStream([]byte(stream), func(e *neutral.Event) { a.Add(e) }); err != nil {
		t.Fatal(err)
	}
	var completion struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(a.Append(nil), &completion); err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Hi"},%s,{"role":"tool","tool_call_id":"call_1","content":"x"}]}`, completion.Choices[0].Message)
	r, err := chat.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Encode(r, neutral.Target{Model: "gpt-5.5", Codex: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"x"}]`
	if !strings.Contains(string(out.Body), want) || len(out.Dropped) > 0 {
		t.Errorf("the second request is\n%s\n(dropped %q), and lacks\n%s", out.Body, out.Dropped, want)
	}
	again, err := Encode(r, neutral.Target{Model: "gpt-5.5", Codex: true})
	if err != nil || !bytes.Equal(again.Body, out.Body) {
		t.Errorf("encoded again for another account, it is another: %s %v", again.Body, err)
	}
}

func TestNearestEffort(t *testing.T) {
	f := func(model, effort, want string) {
		t.Helper()
		family, ok := familyOf(model)
		if !ok || !family.reasons() {
			t.Fatalf("%s does not reason", model)
		}
		if got := family.nearest(effort); got != want {
			t.Errorf("%s of %s is %s, want %s", effort, model, got, want)
		}
	}
	f("gpt-5", "none", "minimal")
	f("gpt-5-codex", "minimal", "low")
	f("gpt-5.1", "minimal", "low")
	f("gpt-5.1", "xhigh", "high")
	f("gpt-5.1-codex-max-2025", "xhigh", "xhigh")
	f("gpt-5.5", "none", "none")
	f("gpt-5-pro", "low", "high")
	f("o3-mini", "none", "low")
	for _, e := range families {
		if !slices.IsSortedFunc(e.efforts, func(a, b string) int { return slices.Index(allEfforts, a) - slices.Index(allEfforts, b) }) {
			t.Errorf("the efforts of %s are not in order", e.begins)
		}
	}
	if _, ok := familyOf("grok-4"); ok {
		t.Error("grok-4 has a family")
	}
}

// Whatever a client sends, what goes out is JSON.
func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"x\n"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},{"role":"assistant","content":"y","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"c","content":"z"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"metadata":{}}`), true)
	f.Add([]byte(`{"messages":[{"role":"assistant","refusal":"no","reasoning_details":[{"type":"reasoning.encrypted","data":"x","format":"openai-responses-v1"}]}],"response_format":{"type":"json_schema","json_schema":{"name":"","schema":{}}},"temperature":1e-9}`), false)
	f.Fuzz(func(t *testing.T, body []byte, codex bool) {
		r, err := chat.Decode(body)
		if err != nil {
			return
		}
		out, err := Encode(r, neutral.Target{Model: "gpt-5", Codex: codex})
		if err == nil && !json.Valid(out.Body) {
			t.Fatalf("%q becomes %q", body, out.Body)
		}
	})
}

// Whatever an upstream streams, what the client gets is JSON, and at most one end.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n"))
	f.Add([]byte("event: response.completed\ndata: {\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"x\"}]}],\"usage\":{\"input_tokens\":1}}}\n\n"))
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"summary\":[{\"text\":\"x\"}],\"encrypted_content\":\"y\"}}\n\ndata: {\"type\":\"error\"}\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := chat.Stream{ID: "c", Model: "m"}
		a := chat.Answer{ID: "c", Model: "m"}
		var out []byte
		ends := 0
		decodeStream(stream, func(e *neutral.Event) {
			if e.Kind == neutral.Finished || e.Kind == neutral.Failed {
				ends++
			}
			out = s.Append(out, e)
			a.Add(e)
		})
		if ends > 1 {
			t.Fatalf("%q ends %d times", stream, ends)
		}
		for line := range bytes.Lines(out) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && !json.Valid(data) {
				t.Fatalf("%q gives %q", stream, data)
			}
		}
		if !json.Valid(a.Append(nil)) {
			t.Fatalf("%q gives %q", stream, a.Append(nil))
		}
		DecodeAnswer(stream, nil)
	})
}

const delta = `{"type":"response.output_text.delta","content_index":0,"delta":"hello there","item_id":"msg_0123456789abcdef","logprobs":[],"obfuscation":"Jx2fP0","output_index":0,"sequence_number":17}`

// A chunk on its whole way, from the upstream's event to the client's.
func BenchmarkChunk(b *testing.B) {
	var d Decoder
	s := chat.Stream{ID: "chatcmpl-1", Model: "gpt-5.5", Created: 1}
	events, err := d.Decode(nil, []byte(`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_0123456789abcdef","type":"message"}}`), nil)
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(delta)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		if events, err = d.Decode(nil, data, events[:0]); err != nil || len(events) != 1 {
			b.Fatal(events, err)
		}
		out = s.Append(out[:0], &events[0])
	}
}

// 200 KB of conversation with 60 tools.
func BenchmarkRequest(b *testing.B) {
	var body bytes.Buffer
	body.WriteString(`{"model":"m","messages":[{"role":"system","content":"s"}`)
	for i := range 50 {
		fmt.Fprintf(&body, `,{"role":"user","content":%q},{"role":"assistant","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"tool_1","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"call_%d","content":%q}`,
			strings.Repeat("lorem ipsum ", 80), i, i, strings.Repeat("dolor sit amet ", 160))
	}
	body.WriteString(`],"tools":[`)
	for i := range 60 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{"path":{"type":"string","description":"a path"},"n":{"type":"integer"}},"required":["path"]}}}`, i, strings.Repeat("does it ", 30))
	}
	body.WriteString(`],"stream":true}`)
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := chat.Decode(body.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Encode(r, neutral.Target{Model: "gpt-5.5", Stream: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// The error is the client's field, so that the answer can name it.
func TestEncodeRefusesByField(t *testing.T) {
	r := &neutral.Request{Turns: []neutral.Turn{{Role: neutral.User, Parts: []neutral.Part{{Kind: neutral.AudioPart, Path: "messages[0].content[2]"}}}}}
	_, err := Encode(r, neutral.Target{Model: "m"})
	field, ok := errors.AsType[*wire.FieldError](err)
	if !ok || field.Field != "messages[0].content[2]" {
		t.Errorf("got %v", err)
	}
}
