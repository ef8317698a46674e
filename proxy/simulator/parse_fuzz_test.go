package simulator

import (
	"encoding/json"
	"testing"
	"time"
)

// fuzzParse proves of a dialect that a body is either refused with a message, or can be answered, whole and streamed.
func fuzzParse(f *testing.F, d *dialect, seeds ...string) {
	f.Helper()
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in := inbound{account: newAccount(Account{Name: "a"}), body: body, route: route{op: opAnswer, dialect: d, model: "m", streamed: len(body)%2 == 0}}
		req, wrong := d.parse(in)
		if wrong != nil {
			if text := d.bodyOf(wrong, stamp{}); wrong.message == "" || !json.Valid(text) {
				t.Errorf("refused without a reason: %s", text)
			}
			return
		}
		req.Protocol, req.Account = d.protocol, "a"
		ans := Account{Name: "a"}.answer(req)
		ans.Reasoning = "Hm"
		st := stamp{serial: 1, created: time.Unix(1, 0)}
		if whole := d.whole(req, ans, st); !json.Valid(whole) {
			t.Errorf("the answer is no JSON: %s", whole)
		}
		if events := d.events(req, ans, st); len(events) == 0 {
			t.Error("the stream is empty")
		}
	})
}

func FuzzParseMessages(f *testing.F) {
	fuzzParse(f, &messages,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"m","max_tokens":2000,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]}]}`,
		`{"model":"m","max_tokens":9,"tools":[{"name":"t","input_schema":{"type":"object","properties":{"a":{}},"required":["a"]}}],"tool_choice":{"type":"any"},"messages":[{"role":"user","content":"call a tool"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]}]}]}`,
		`{"model":7}`, `[]`, `null`, `{"messages":[null]}`, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[null]}]}`)
}

func FuzzParseResponses(f *testing.F) {
	fuzzParse(f, &responses,
		`{"model":"m","input":"hi"}`,
		`{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_schema","name":"x","strict":true,"schema":{"type":"object","properties":{"a":{"type":"array","items":{}}},"required":["a"],"additionalProperties":false}}},"input":[{"role":"user","content":[{"type":"input_text","text":"call a tool"},{"type":"input_image","image_url":"https://x"}]}]}`,
		`{"model":"m","tools":[{"type":"function","name":"t","parameters":{"type":"object","properties":{"a":{"anyOf":[{}]}}}}],"tool_choice":"required","input":[{"type":"function_call","call_id":"1","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"x"}],"encrypted_content":"gAAAAA=="}]}`,
		`{"model":7}`, `[]`, `null`, `{"model":"m","input":[null]}`)
}

func FuzzParseGemini(f *testing.F) {
	fuzzParse(f, &gemini, geminiSeeds...)
}

func FuzzParseCloudCode(f *testing.F) {
	seeds := []string{`{}`, `{"model":7}`, `null`}
	for _, seed := range geminiSeeds {
		seeds = append(seeds, `{"model":"gemini-3-pro","project":"p","request":`+seed+`}`)
	}
	fuzzParse(f, &cloudCode, seeds...)
}

var geminiSeeds = []string{
	`{"contents":[{"parts":[{"text":"hi"}]}]}`,
	`{"contents":[{"role":"user","parts":[{"text":"call a tool"},{"inlineData":{"mimeType":"image/png","data":"eA=="}}]},{"role":"model","parts":[{"functionCall":{"name":"t","args":{}},"thoughtSignature":"eA=="}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{}}}]}]}`,
	`{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"function_declarations":[{"name":"t","parameters":{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"anyOf":[{"type":"STRING","enum":["x"]}]}}},"required":["a"]}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":5},"temperature":1,"responseMimeType":"application/json","responseSchema":{"type":"STRING"}}}`,
	`[]`, `null`, `{"contents":[null]}`, `{"contents":[{"parts":[null]}]}`,
}
