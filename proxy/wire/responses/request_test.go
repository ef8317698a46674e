package responses

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// What a client of Responses asks, as an account of chat completions is asked, and, for comparison, as one of Responses would
// be if it were asked by way of the neutral form. A word in brackets in the story names the model.
func TestRequestGolden(t *testing.T) {
	golden(t, "request", func(t *testing.T, comment string, in func(string) []byte) map[string]string {
		target := neutral.Target{Model: "sim-1", Stream: true}
		if _, rest, ok := strings.Cut(comment, "[model="); ok {
			target.Model, _, _ = strings.Cut(rest, "]")
		}
		r, err := Decode(in("client.json"))
		if err != nil {
			return map[string]string{"refused": err.Error() + "\n"}
		}
		out, err := chat.Encode(r, target)
		if err != nil {
			return map[string]string{"refused": err.Error() + "\n"}
		}
		again, err := Encode(r, target)
		if err != nil {
			t.Fatal(err)
		}
		var dropped []string
		for _, name := range out.Dropped {
			dropped = append(dropped, Word(name))
		}
		return map[string]string{
			"chat.json": indented(t, out.Body), "dropped": strings.Join(append(dropped, ""), "\n"), "responses.json": indented(t, again.Body),
		}
	})
}

// There and back: a request that was read and written for an account of Responses asks for what the client has asked for. Where
// the two protocols are one, nothing is lost but what is no account's business.
func TestRoundTrip(t *testing.T) {
	f := func(members string, dropped ...string) {
		t.Helper()
		body := `{"model":"grok-4",` + members + `,"store":false}`
		first, err := Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Encode(first, neutral.Target{Model: "grok-4"})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Decode(out.Body)
		if err != nil {
			t.Fatalf("%v in %s", err, out.Body)
		}
		var named []string
		for _, name := range out.Dropped {
			named = append(named, Word(name))
		}
		first.Others = nil
		places := without(func(p string) bool { return p == "Path" || p == "Strict" })
		if diff := cmp.Diff(first, second, places); diff != "" || !slices.Equal(named, dropped) {
			t.Errorf("%s\nbecomes %s\ndropped %q, want %q\n%s", members, out.Body, named, dropped, diff)
		}
	}
	const hi = `"input":"hi"`
	f(hi)
	f(hi + `,"instructions":"Be.","max_output_tokens":99,"temperature":0.5,"top_p":0.9,"user":"u","metadata":{"a":"b"},"service_tier":"flex","prompt_cache_key":"k"`)
	f(hi + `,"reasoning":{"effort":"high","summary":"auto"},"include":["reasoning.encrypted_content"],"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}}}`)
	f(hi+`,"text":{"format":{"type":"json_object"}},"truncation":"auto"`, "truncation")
	f(hi+`,"tools":[{"type":"function","name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"a":{}}}},{"type":"web_search"}],"tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false`, "tools[].web_search")
	f(`"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://x.test/a.png","detail":"low"},{"type":"input_image","file_id":"f"},{"type":"input_file","file_url":"https://x.test/a.pdf"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}]}]`)
	f(`"input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"},{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},` +
		`{"type":"function_call","call_id":"c","name":"f","arguments":"{"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},{"role":"developer","content":"now"},{"role":"user","content":"go"}]`)
}

// without leaves fields of these names out of a comparison.
func without(leaves func(field string) bool) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return leaves(strings.TrimPrefix(p.Last().String(), ".")) }, cmp.Ignore())
}

// What cannot be understood, or would make the answer another one, is refused by its name.
func TestDecodeRefuses(t *testing.T) {
	f := func(members, field string) {
		t.Helper()
		_, err := Decode([]byte(`{"model":"m",` + members + `}`))
		wrong, ok := errors.AsType[*wire.FieldError](err)
		if !ok || wrong.Field != field {
			t.Errorf("%s: %v, want a complaint about %s", members, err, field)
		}
	}
	const hi, call = `"input":"hi"`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
	f(`"input":[]`, "input")
	f(`"input":""`, "input")
	f(`"input":7`, "input")
	f(`"input":["hi"]`, "input[0]")
	f(`"input":[{"type":"item_reference","id":"msg_1"}]`, "input[0]")
	f(`"input":[{"type":"compaction","encrypted_content":"x"}]`, "input[0]")
	f(`"input":[{"type":"local_shell_call","call_id":"c"}]`, "input[0].type")
	f(`"input":[{"role":"nobody","content":"x"}]`, "input[0].role")
	f(`"input":[{"role":"user"}]`, "input[0].content")
	f(`"input":[{"role":"assistant","content":[{"type":"input_image","image_url":"https://x.test/a.png"}]}]`, "input[0].content[0].type")
	f(`"input":[{"role":"user","content":[{"type":"input_image"}]}]`, "input[0].content[0]")
	f(`"input":[{"role":"user","content":[{"type":"input_image","image_url":"ftp://x"}]}]`, "input[0].content[0].image_url")
	f(`"input":[{"role":"user","content":[{"type":"input_file","file_data":"QUJD","file_id":"f"}]}]`, "input[0].content[0]")
	f(`"input":[{"type":"function_call_output","call_id":"c","output":"x"}]`, "input[0].call_id")
	f(`"input":[`+call+`,`+call+`]`, "input[1].call_id")
	f(`"input":[`+call+`,{"type":"function_call_output","call_id":"c","output":"x"},{"type":"function_call_output","call_id":"c","output":"x"}]`, "input[2].call_id")
	f(hi+`,"tools":[{"type":"file_search","vector_store_ids":["v"]}]`, "tools[0].type")
	f(hi+`,"tools":[{"type":"mcp","server_label":"s"}]`, "tools[0].type")
	f(hi+`,"tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]`, "tools[1]")
	f(hi+`,"tools":[{"type":"namespace","name":"n","tools":[{"type":"namespace","name":"n"}]}]`, "tools[0].tools[0].type")
	f(hi+`,"tool_choice":"required"`, "tool_choice")
	f(hi+`,"tool_choice":"required","tools":[{"type":"web_search"}]`, "tool_choice")
	f(hi+`,"tool_choice":{"type":"web_search"},"tools":[{"type":"web_search"}]`, "tool_choice.type")
	f(hi+`,"tool_choice":{"type":"function","name":"g"}`, "tool_choice")
	f(hi+`,"text":{"format":{"type":"json_schema","name":"n"}}`, "text.format.schema")
	f(hi+`,"reasoning":{"effort":"some"}`, "reasoning.effort")
	f(hi+`,"max_output_tokens":0`, "max_output_tokens")
	f(`"prompt":{"id":"p"}`, "input")
	f(hi+`,"prompt":{"id":"p"}`, "prompt")
}

// What an account's protocol has no place for is named in the client's words.
func TestWord(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := Word(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	f("max_tokens", "max_output_tokens")
	f("response_format.json_schema.schema", "text.format.schema")
	f("tools[].function.parameters.pattern", "tools[].parameters.pattern")
	f("tools[3].function.name", "tools[3].name")
	f("input[2].content[0]", "input[2].content[0]")
	f("seed", "seed")
}

// Bodies come from anywhere. Decode never panics, what it lets through says something, names only members that may stand in a
// header, and becomes JSON for whoever is asked.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","input":"hi","instructions":"be","text":{"format":{"type":"json_schema","name":"n","schema":{}}}}`,
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"},{"type":"input_file","file_data":"QUJD"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"hub:anthropic-claude-v1:0::sig"},{"type":"function_call","call_id":"c","name":"f","arguments":"{"},{"type":"reasoning","summary":[],"encrypted_content":"hub:google-gemini-v1:1:c:x"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}],"tools":[{"type":"function","name":"f","parameters":{}}],"x\ny":1}`,
		`{"input":[{"type":"custom_tool_call","call_id":"c","name":"p","input":"*** \"x\""},{"type":"custom_tool_call_output","call_id":"c","output":"y"}],"tools":[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]},{"type":"web_search"}],"tool_choice":{"type":"custom","name":"p"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Decode(body)
		if err != nil {
			return
		}
		if len(r.Turns) == 0 {
			t.Error("let a conversation through that says nothing")
		}
		for _, turn := range r.Turns {
			if len(turn.Parts) == 0 || turn.Role == 0 || turn.Path == "" {
				t.Errorf("a turn without a part, a role or a place: %+v", turn)
			}
		}
		for _, o := range r.Others {
			if strings.ContainsFunc(Word(o), func(c rune) bool { return c <= ' ' || c > '~' }) {
				t.Errorf("%q may not stand in a header", o)
			}
		}
		if !json.Valid(append(append([]byte(`{"x":1`), Echo(body)...), '}')) {
			t.Errorf("%q is repeated as %q", body, Echo(body))
		}
		for _, encode := range []func(*neutral.Request, neutral.Target) (neutral.Encoded, error){chat.Encode, Encode} {
			if out, err := encode(r, neutral.Target{Model: "deepseek"}); err == nil && !json.Valid(out.Body) {
				t.Fatalf("%q becomes %q", body, out.Body)
			}
		}
	})
}
