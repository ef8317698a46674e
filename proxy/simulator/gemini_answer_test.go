package simulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestGoogleOnTheWire proves that answers are Google's, whole and streamed, to the byte.
func TestGoogleOnTheWire(t *testing.T) {
	f := func(path, body string, answer simulator.Answerer, want ...string) {
		t.Helper()
		header := googleHeader
		if strings.Contains(path, "v1internal") {
			header, body = bearerHeader, `{"model":"gemini-2.5-pro","project":"p","request":`+body+`}`
		}
		bothWays(t, func(t *testing.T, c client) {
			_, got := speaker{c, path, header}.say(t, body)
			if want := strings.Join(want, "\r\n\r\n"); got != want {
				t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
			}
		}, simulator.Account{Name: "a", Key: "sk-a", Answer: answer})
	}
	const hi = `{"contents":[{"parts":[{"text":"hello"}]}]}`
	const ids = `"modelVersion":"gemini-2.5-pro","responseId":"simulated000001"}`
	const model = "/v1beta/models/gemini-2.5-pro:"
	say := func(ans simulator.Answer) simulator.Answerer {
		ans.Usage = &simulator.Usage{Prompt: 9, Cached: 4, Completion: 5, Reasoning: 2}
		return func(simulator.Request) simulator.Answer { return ans }
	}
	const first = `"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},` + ids
	const last = `"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":2,"totalTokenCount":14},` + ids
	part := func(parts, finish string) string {
		if finish != "" {
			finish = `"finishReason":"` + finish + `",`
		}
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},` + finish + `"index":0}],`
	}
	wrapped := func(reply string) string { return `{"response":` + reply + `,"traceId":"simulated000001"}` }

	f(model+"generateContent", hi, say(simulator.Answer{Text: "Hi <b>"}), part(`{"text":"Hi <b>"}`, "STOP")+last)
	f(model+"generateContent", hi, say(simulator.Answer{Text: "Hi", Finish: "length"}), part(`{"text":"Hi"}`, "MAX_TOKENS")+last)
	f(model+"generateContent", hi, say(simulator.Answer{Text: "Hi", Finish: "content_filter"}), part(`{"text":"Hi"}`, "SAFETY")+last)
	f(model+"generateContent", hi, say(simulator.Answer{Text: "Hi", Finish: "MALFORMED_FUNCTION_CALL"}), `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: simulated","index":0}],`+last)
	f(model+"generateContent", hi, say(simulator.Answer{Block: "SAFETY"}), `{"promptFeedback":{"blockReason":"SAFETY"},`+first)
	f(model+"streamGenerateContent?alt=sse", hi, say(simulator.Answer{Block: "SAFETY"}), `data: {"promptFeedback":{"blockReason":"SAFETY"},`+first, "")
	f(model+"streamGenerateContent?alt=sse", hi, say(simulator.Answer{Text: "Hi <b>"}),
		"data: "+part(`{"text":"Hi "}`, "")+first,
		"data: "+part(`{"text":"<b>"}`, "")+first,
		"data: "+part(`{"text":""}`, "STOP")+last, "")
	f(model+"streamGenerateContent", hi, say(simulator.Answer{Text: "Hi"}), "["+part(`{"text":"Hi"}`, "STOP")+last+"]")
	f(model+"generateContent", hi, say(simulator.Answer{Reasoning: "Hm", Text: "Hi"}), part(`{"text":"Hi"}`, "STOP")+last)
	f(model+"streamGenerateContent?alt=sse", strings.Replace(hi, "{", `{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},`, 1),
		say(simulator.Answer{Reasoning: "Hm", ToolCalls: []simulator.ToolCall{{Name: "get", Arguments: `{"a":1}`}}}),
		"data: "+part(`{"text":"Hm","thought":true}`, "")+first,
		"data: "+part(`{"functionCall":{"name":"get","args":{"a":1}},"thoughtSignature":"+LghVcYAbdp42eE9zKGwFGdldA=="}`, "")+first,
		"data: "+part(`{"text":""}`, "STOP")+last, "")
	f(model+"countTokens", hi, nil, `{"totalTokens":8}`)
	f(model+"countTokens", `{"generateContentRequest":`+hi+`}`, nil, `{"totalTokens":8}`)

	f("/v1internal:generateContent", hi, say(simulator.Answer{Text: "Hi"}), wrapped(part(`{"text":"Hi"}`, "STOP")+last))
	f("/v1internal:streamGenerateContent?alt=sse", hi, say(simulator.Answer{Text: "Hi"}),
		"data: "+wrapped(part(`{"text":"Hi"}`, "")+first),
		"data: "+wrapped(part(`{"text":""}`, "STOP")+last), "")
	f("/v1internal:streamGenerateContent", hi, say(simulator.Answer{Text: "Hi"}), "["+wrapped(part(`{"text":"Hi"}`, "STOP")+last)+"]")
}

// TestGeminiSignsItsLastWord proves that a model whose signatures must come back signs an answer without calls too.
func TestGeminiSignsItsLastWord(t *testing.T) {
	c := inMemory(geminiPath, googleHeader, simulator.Account{Name: "a", Key: "sk-a", Answer: simulator.Say("Hi")})
	_, got := c.say(t, `{"contents":[{"parts":[{"text":"hello"}]}]}`)
	part := member(got, "candidates.0.content.parts.0")
	if member(part, "thoughtSignature") == "" {
		t.Fatalf("the answer is %s", got)
	}
	if resp, got := c.say(t, `{"contents":[{"parts":[{"text":"hello"}]},{"role":"model","parts":[`+part+`]},{"parts":[{"text":"so"}]}]}`); resp.StatusCode != 200 {
		t.Errorf("it was not taken back: %s", got)
	}
}

// TestGoogleUnderstood proves what an Answerer and a test are told of a Gemini and a Cloud Code call.
func TestGoogleUnderstood(t *testing.T) {
	const request = `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}},"contents":[
		{"role":"user","parts":[{"text":"What is it?"},{"inlineData":{"mimeType":"image/png","data":"eA=="}}]},
		{"role":"model","parts":[{"functionCall":{"id":"1","name":"look","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{"it":"a cat"}}}]}]}`
	c := inMemory("/v1/models/gemini-2.0-flash:streamGenerateContent?alt=sse", googleHeader, simulator.Account{Name: "a", Key: "sk-a"})
	c.say(t, request)
	c.path, c.header = "/v1internal:generateContent", bearerHeader
	c.say(t, `{"model":"gemini-2.0-flash","project":"p","user_prompt_id":"u","request":`+request+`}`)
	for i, call := range c.Calls("a") {
		r := call.Request
		if call.Model != "gemini-2.0-flash" || call.Stream != (i == 0) || r.System != "Be brief." || r.LastUser != "What is it?" || r.LastRole != "tool" || r.Images != 1 || r.ToolChoice != "look" || len(r.Tools) != 1 {
			t.Errorf("call %d is %+v", i, r)
		}
		if len(r.Results) != 1 || r.Results[0] != (simulator.ToolResult{ID: "1", Name: "look", Text: `{"it":"a cat"}`}) {
			t.Errorf("the results are %+v", r.Results)
		}
	}
	if calls := c.Calls("a"); calls[0].Protocol != simulator.Gemini || calls[1].Protocol != simulator.CloudCode || calls[1].Request.Project != "p" {
		t.Errorf("the protocols are %s and %s", calls[0].Protocol, calls[1].Protocol)
	}
}

// TestGoogleQuota proves how the two tell that a quota is spent.
func TestGoogleQuota(t *testing.T) {
	const gemini = `{"contents":[{"parts":[{"text":"hi"}]}]}`
	f := func(path string, quota simulator.Quota, wants ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			body := gemini
			if path != geminiPath {
				body = `{"model":"gemini-3-pro","project":"p","request":` + gemini + `}`
			}
			quota.Calls = 1
			c := inMemory(path, bearerHeader, simulator.Account{Name: "a", Key: "sk-a", Quota: quota})
			if resp, got := c.say(t, body); resp.StatusCode != 200 {
				t.Fatalf("the first answer is %s", got)
			}
			resp, got := c.say(t, body)
			rest := got
			for _, want := range wants {
				_, after, found := strings.Cut(rest, want)
				if rest = after; !found || resp.StatusCode != 429 {
					t.Fatalf("the refusal is %s %s\nwant in it, in order, %q", resp.Status, got, wants)
				}
			}
		})
	}
	const cloud = "/v1internal:generateContent"
	f(geminiPath, simulator.Quota{Window: time.Minute}, `"code":429`, `Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 1, model: gemini-3-pro\nPlease retry in 60s."`, `"status":"RESOURCE_EXHAUSTED"`, `"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"`, `"retryDelay":"60s"`)
	f(geminiPath, simulator.Quota{Window: 24 * time.Hour}, `"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"`, `"retryDelay":"86400s"`)
	f(geminiPath, simulator.Quota{Window: time.Minute, Style: simulator.QuotaProse}, `Please retry in 60s.","status":"RESOURCE_EXHAUSTED"}}`)
	f(geminiPath, simulator.Quota{Style: simulator.QuotaBilling}, `limit: 0, model: gemini-3-pro`)
	f(cloud, simulator.Quota{Window: 10 * time.Minute}, `Your quota will reset after 10m0s.`, `"reason":"RATE_LIMIT_EXCEEDED"`, `"retryDelay":"600s"`)
	f(cloud, simulator.Quota{Window: 5 * time.Hour}, `Your quota will reset after 5h0m0s.`, `"metadata":{"model":"gemini-3-pro","quotaResetDelay":"5h0m0s","quotaResetTimeStamp":"2000-01-01T05:00:00Z"},"reason":"QUOTA_EXHAUSTED"`, `"retryDelay":"18000s"`)
	f(cloud, simulator.Quota{Window: 5 * time.Hour, Style: simulator.QuotaProse}, `Your quota will reset after 5h0m0s.","status":"RESOURCE_EXHAUSTED"}}`)
	f(cloud, simulator.Quota{}, `Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`)
	f(cloud, simulator.Quota{Style: simulator.QuotaBilling}, `"metadata":{"model":"gemini-3-pro"},"reason":"INSUFFICIENT_G1_CREDITS_BALANCE"`)
}
