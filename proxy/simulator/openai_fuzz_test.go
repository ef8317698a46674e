package simulator

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzParseChat proves that a body is either refused with a message, or can be answered with JSON, whole and streamed.
func FuzzParseChat(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"text":"a"}]}],"n":2}`,
		`{"model":"m","messages":[{"role":"user","content":"call a tool"}],"tools":[{"function":{"name":"t","parameters":{"required":["a"],"properties":{"a":{"type":["x"],"enum":[1]}}}}}],"tool_choice":"required"}`,
		`{"model":7}`, `[]`, `null`, `{"messages":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, wrong := parseChat(body)
		if wrong != nil {
			if wrong.message == "" || !json.Valid(chatProblem(wrong, stamp{})) {
				t.Errorf("refused without a reason: %s", chatProblem(wrong, stamp{}))
			}
			return
		}
		ans := Account{Name: "a"}.answer(req)
		st := stamp{serial: 1, created: time.Unix(1, 0)}
		if whole := chatWhole(req, ans, st); !json.Valid(whole) {
			t.Errorf("the answer is no JSON: %s", whole)
		}
		events := chatEvents(req, ans, st)
		for _, e := range events[:len(events)-1] {
			if data := e.wire[len("data: ") : len(e.wire)-2]; !json.Valid(data) {
				t.Errorf("an event is no JSON: %s", data)
			}
		}
	})
}
