package wire

import (
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	f := func(s Shape, body string, tools, structured, image bool) {
		t.Helper()
		r, err := ReadRequest([]byte(body), s)
		if err != nil {
			t.Fatal(err)
		}
		if sees := HasImage([]byte(body), s.Needs); r.Tools != tools || r.Structured != structured || sees != image {
			t.Errorf("%s: tools %t, structured %t, image %t", body, r.Tools, r.Structured, sees)
		}
	}
	f(Chat, `{"messages":[{"role":"user","content":"an image_url"}],"tools":[],"response_format":{"type":"json_object"}}`, false, false, false)
	f(Chat, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}],"tools":[{}],"response_format":{"type":"json_schema"}}`, true, true, true)
	f(Chat, `{"messages":[7,{"content":null}],"functions":[{}],"tools":null,"response_format":null}`, true, false, false)
	f(Chat, `{"messages":[{"role":"user","content":"x"}],"tools":[{"function":{"parameters":{"properties":{"image":{"type":"image"}}}}}]}`, true, false, false)
	f(Messages, `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]}],"output_config":{"format":{"type":"json_schema"}}}`, false, true, true)
	f(Responses, `{"input":"image"}`, false, false, false)
	f(Responses, `{"input":[{"content":[{"type":"input_image"}]}],"text":{"format":{"type":"json_schema"}}}`, false, true, true)
	f(Responses, `{"input":[{"type":"function_call_output","output":[{"type":"input_image"}]}],"text":{"format":{"type":"text"}}}`, false, false, true)
}

func TestTextBytes(t *testing.T) {
	f := func(text string, counts bool) {
		t.Helper()
		body := `{"a":"x","b":"` + text + `"}`
		want := len(body)
		if !counts {
			want = len(`{"a":"x","b":}`)
		}
		if got := TextBytes([]byte(body)); got != want {
			t.Errorf("%.30s…: %d bytes, want %d", text, got, want)
		}
	}
	f(strings.Repeat("word ", 1000), true)
	f(strings.Repeat("Ж", 1000), true)
	f(strings.Repeat(`\n`, 1000), true)
	f(strings.Repeat("QUJD", 200), true) // too short to tell
	f(strings.Repeat("QUJD", 1000), false)
	f("data:image/png;base64,"+strings.Repeat("QUJD", 1000), false)
	f("data:image/png;base64, "+strings.Repeat("QUJD", 1000), true)
}
