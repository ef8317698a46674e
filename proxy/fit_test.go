package proxy

import (
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// Accounts whose models are known not to be up to a request are passed over before they are called, and explain says why.
// When none is up to it the client reads what is missing, and the member that asks for it.
func TestGates(t *testing.T) {
	const image = `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	const tools = `"tools":[{"type":"function","function":{"name":"image","parameters":{"type":"object"}}}]`
	const schema = `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}}`
	f := func(name, body string, models []string, windows []int, want, calls string, reason router.Reason, contains string) {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			var accounts []simulator.Account
			for _, name := range []string{"a", "b", "c"} {
				accounts = append(accounts, simulator.Account{Name: name, Key: "sk-upstream-" + name, Models: models})
			}
			r := newRig(t, setup{accounts: accounts, profiles: func(ps []router.Profile) {
				for i := range ps {
					ps[i].ModelMap = map[string]string{"auto": models[min(i, len(models)-1)]}
					ps[i].PreferredModels = []string{models[min(i, len(models)-1)]}
					if windows != nil {
						ps[i].ContextLength = windows[i]
					}
				}
			}})
			got := r.chat(`{"model":"auto",` + body + `}`)
			line, _, _ := strings.Cut(got.line(), " ")
			if line != want || !strings.Contains(got.body, contains) {
				t.Errorf("got %s %s", got.line(), got.body)
			}
			r.wantCalls(calls)
			trail, _ := r.trails.Find(got.header.Get(headerRequestID))
			if first := trail.Candidates[0].Reason; reason != router.Usable && (first == nil || *first != string(reason)) {
				t.Errorf("the trail says %v, want %s", first, reason)
			}
		})
	}
	long := `"messages":[{"role":"user","content":"` + strings.Repeat("many words ", 6000) + `"}]` // 66 kB
	picture := `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 16000) + `"}}]}]`
	f("vision", image, []string{"deepseek-v4-pro", "gpt-5.5"}, nil, "200", "a=0 b=1 c=0", router.ReasonVision, "")
	f("no image", hi, []string{"deepseek-v4-pro"}, nil, "200", "a=1 b=0 c=0", router.Usable, "")
	f("nobody sees", image, []string{"deepseek-v4-pro"}, nil, "400", "a=0 b=0 c=0", router.ReasonVision, `takes images","type":"invalid_request_error","param":"messages"`)
	f("nobody calls tools", hi+","+tools, []string{"gemini-2.5-flash-image"}, nil, "400", "a=0 b=0 c=0", router.ReasonTools, `"param":"tools"`)
	f("nobody answers by a schema", hi+","+schema, []string{"gpt-5.4-pro"}, nil, "400", "a=0 b=0 c=0", router.ReasonStructured, `"param":"response_format"`)
	f("too long for the first", long, []string{"sim-1"}, []int{8000, 0, 0}, "200", "a=0 b=1 c=0", router.ReasonWindow, "")
	f("too long for all", long, []string{"sim-1"}, []int{8000, 9000, 8000}, "400", "a=0 b=0 c=0", router.ReasonWindow, "maximum context length is 8000 tokens")
	f("a picture is no text", picture, []string{"sim-1"}, []int{8000, 0, 0}, "200", "a=1 b=0 c=0", router.Usable, "")
}
