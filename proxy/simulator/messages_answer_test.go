package simulator_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestMessagesOnTheWire proves that answers are Anthropic's, whole and streamed, to the byte.
func TestMessagesOnTheWire(t *testing.T) {
	f := func(name string, answer simulator.Answerer, members, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				resp, got := speaker{c, "/v1/messages", messagesHeader}.say(t, `{"model":"m","max_tokens":2000,`+members+`"messages":[{"role":"user","content":"hello"}]}`)
				if resp.Header.Get("X-Simulated") != "true" || resp.Header.Get("Request-Id") != "req_simulated000001" {
					t.Errorf("the head is %v, want it labelled", resp.Header)
				}
				if got != want {
					t.Errorf("the answer is\n%s\nwant\n%s", got, want)
				}
			}, simulator.Account{Name: "a", Key: "sk-a", Answer: answer})
		})
	}
	const reply = `{"id":"msg_simulated000001","type":"message","role":"assistant","model":"m",`
	call := simulator.ToolCall{Name: "get", Arguments: `{"a":1}`}

	f("plain", simulator.Say("Hi <b>"), ``, reply+`"content":[{"type":"text","text":"Hi <b>"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2,"service_tier":"standard"}}`)
	f("stream", simulator.Say("Hi <b>"), `"stream":true,`, lines(
		"event: message_start\ndata: "+`{"type":"message_start","message":`+reply+`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}`,
		"event: content_block_start\ndata: "+`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		"event: ping\ndata: "+`{"type":"ping"}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi "}}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<b>"}}`,
		"event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`,
		"event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}`,
		"event: message_stop\ndata: "+`{"type":"message_stop"}`))
	f("tool calls", simulator.CallTools(call, call), ``, reply+`"content":[{"type":"tool_use","id":"toolu_simulated000001_1","name":"get","input":{"a":1}},{"type":"tool_use","id":"toolu_simulated000001_2","name":"get","input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"service_tier":"standard"}}`)
	f("thinking and a tool call streamed", func(simulator.Request) simulator.Answer {
		return simulator.Answer{Reasoning: "Hm", ToolCalls: []simulator.ToolCall{call}, Usage: &simulator.Usage{Prompt: 9, Cached: 4, Written: 3, Completion: 7}}
	}, `"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},`, lines(
		"event: message_start\ndata: "+`{"type":"message_start","message":`+reply+`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1,"service_tier":"standard"}}}`,
		"event: content_block_start\ndata: "+`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		"event: ping\ndata: "+`{"type":"ping"}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"eMiqF+r/uUPGqxeXtBAh/dsR2x5cNLIpO/Ix+Dsga0s="}}`,
		"event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`,
		"event: content_block_start\ndata: "+`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_simulated000001_1","name":"get","input":{}}}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a"}}`,
		"event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\":1}"}}`,
		"event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":1}`,
		"event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":7}}`,
		"event: message_stop\ndata: "+`{"type":"message_stop"}`))
}

// TestMessagesUnderstood proves what an Answerer and a test are told of a Messages call.
func TestMessagesUnderstood(t *testing.T) {
	c := inMemory("/v1/messages?beta=true", messagesHeader, simulator.Account{Name: "a", Key: "sk-a"})
	c.say(t, `{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"Be brief."}],"tools":[{"name":"look","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"},"messages":[
		{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a cat"}],"is_error":true}]}]}`)
	call := c.Calls("a")[0]
	r := call.Request
	if call.Protocol != simulator.Messages || !call.Stream || r.System != "Be brief." || r.LastUser != "What is it?" || r.LastRole != "tool" || r.Images != 1 || r.ToolChoice != "required" {
		t.Errorf("the request is %+v", r)
	}
	if len(r.Results) != 1 || r.Results[0] != (simulator.ToolResult{ID: "t1", Text: "a cat", IsError: true}) || len(r.Tools) != 1 || r.Tools[0].Name != "look" {
		t.Errorf("the results are %+v, the tools %+v", r.Results, r.Tools)
	}
	if got := call.Member("messages.1.content.0.id") + call.Member("max_tokens") + call.Member("nothing"); got != "t19" {
		t.Errorf("the members are %q", got)
	}

	c.path = "/v1/messages/count_tokens"
	if resp, got := c.say(t, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`); resp.StatusCode != 200 || got != `{"input_tokens":9}` {
		t.Errorf("the count is %s %s", resp.Status, got)
	}
	if resp, got := c.say(t, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hello"}]}`); resp.StatusCode != 400 {
		t.Errorf("a count with max_tokens is %s %s", resp.Status, got)
	}
	if calls := c.Calls("a"); calls[1].Step != "count" || calls[2].Step != "refused" {
		t.Errorf("the steps are %s and %s", calls[1].Step, calls[2].Step)
	}
}

// TestMessagesQuota proves how an API key and a subscription tell what is left, in the provider's own words.
func TestMessagesQuota(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	f := func(quota simulator.Quota, want ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c := inMemory("/v1/messages", messagesHeader, simulator.Account{Name: "a", Key: "sk-a", Quota: quota})
			for _, want := range want {
				resp, got := c.say(t, body)
				text := resp.Status[:3] + limits(resp.Header, "Anthropic-Ratelimit-", "Retry-After")
				if resp.StatusCode != 200 {
					text += " " + member(got, "error.type") + " " + member(got, "error.message")
				}
				if text != want {
					t.Errorf("got  %s\nwant %s", text, want)
				}
			}
		})
	}
	const account = "This request would exceed your account's rate limit. Please try again later."

	f(simulator.Quota{}, "200")
	f(simulator.Quota{Calls: 1, Window: time.Minute},
		"200 requests-limit=1 requests-remaining=0 requests-reset=2000-01-01T00:01:00Z",
		"429 requests-limit=1 requests-remaining=0 requests-reset=2000-01-01T00:01:00Z retry-after=60 rate_limit_error Number of requests has exceeded your rate limit (https://docs.claude.com/en/api/rate-limits). Please try again later or contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.")
	f(simulator.Quota{Calls: 2, Window: 5 * time.Hour, Style: simulator.QuotaSubscription},
		"200 unified-5h-reset=946702800 unified-5h-status=allowed unified-5h-utilization=0.5 unified-representative-claim=five_hour unified-reset=946702800 unified-status=allowed",
		"200 unified-5h-reset=946702800 unified-5h-status=allowed_warning unified-5h-utilization=1 unified-representative-claim=five_hour unified-reset=946702800 unified-status=allowed_warning",
		"429 unified-5h-reset=946702800 unified-5h-status=rejected unified-5h-utilization=1 unified-representative-claim=five_hour unified-reset=946702800 unified-status=rejected retry-after=18000 rate_limit_error "+account)
	f(simulator.Quota{Calls: 1, Window: 7 * 24 * time.Hour, Style: simulator.QuotaSubscription},
		"200 unified-7d-reset=947289600 unified-7d-status=allowed_warning unified-7d-utilization=1 unified-representative-claim=seven_day unified-reset=947289600 unified-status=allowed_warning",
		"429 unified-7d-reset=947289600 unified-7d-status=rejected unified-7d-utilization=1 unified-representative-claim=seven_day unified-reset=947289600 unified-status=rejected retry-after=604800 rate_limit_error "+account)
	f(simulator.Quota{Calls: 1, Window: time.Hour, Style: simulator.QuotaSubscriptionBody}, "200", "429 rate_limit_error "+account)
	f(simulator.Quota{Calls: 1, Style: simulator.QuotaBilling}, "200", "400 invalid_request_error Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")
}

// limits are the fields of a head whose names begin with the prefix, which is left out, or are the others.
func limits(h http.Header, prefix string, others ...string) string {
	var b strings.Builder
	for _, name := range sortedNames(h) {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			b.WriteString(" " + strings.ToLower(rest) + "=" + h.Get(name))
		}
	}
	for _, name := range others {
		if h.Get(name) != "" {
			b.WriteString(" " + strings.ToLower(name) + "=" + h.Get(name))
		}
	}
	return b.String()
}

func sortedNames(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }
