package simulator_test

import (
	"testing"

	"hermes-hub/proxy/simulator"
)

// TestFinishInOwnWords proves that the reasons that every protocol has are said in its own word, and any other as it is.
func TestFinishInOwnWords(t *testing.T) {
	where := map[simulator.Protocol]string{simulator.Messages: "stop_reason", simulator.Responses: "incomplete_details.reason", simulator.Gemini: "candidates.0.finishReason", simulator.CloudCode: "response.candidates.0.finishReason"}
	f := func(finish string, wants ...string) {
		t.Helper()
		for i, protocol := range []simulator.Protocol{simulator.Messages, simulator.Responses, simulator.Gemini, simulator.CloudCode} {
			p := otherProtocols[protocol]
			_, got := inMemory(p.path, p.header, simulator.Account{Name: "a", Key: "sk-a", Answer: func(simulator.Request) simulator.Answer {
				return simulator.Answer{Text: "Hi", Finish: finish}
			}}).say(t, p.plain)
			if got := member(got, where[protocol]); got != wants[i] {
				t.Errorf("%s says %s for %q, want %s", protocol, got, finish, wants[i])
			}
		}
	}
	f("", "end_turn", "", "STOP", "STOP")
	f("length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "MAX_TOKENS")
	f("content_filter", "refusal", "content_filter", "SAFETY", "SAFETY")
	f("pause_turn", "pause_turn", "pause_turn", "pause_turn", "pause_turn")
}

// TestSpentQuotaInAllProtocols proves that a quota that is spent by hand, without a window, is told without a time.
func TestSpentQuotaInAllProtocols(t *testing.T) {
	for protocol, p := range otherProtocols {
		c := inMemory(p.path, p.header, simulator.Account{Name: "a", Key: "sk-a", Quota: simulator.Quota{Style: simulator.QuotaSubscription}})
		c.SpendQuota("a")
		resp, got := c.say(t, p.plain)
		if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "" || c.Calls("a")[0].Step != "quota" {
			t.Errorf("%s: got %s %v %s", protocol, resp.Status, resp.Header, got)
		}
		c.RestoreQuota("a")
		if resp, got := c.say(t, p.plain); resp.StatusCode != 200 {
			t.Errorf("%s: after RestoreQuota got %s %s", protocol, resp.Status, got)
		}
	}
}

// TestArgumentsThatAreNoObject proves that what a model wrote stays JSON where a protocol has an object for it.
func TestArgumentsThatAreNoObject(t *testing.T) {
	for protocol, path := range map[simulator.Protocol]string{simulator.Messages: "content.0.input", simulator.Gemini: "candidates.0.content.parts.0.functionCall.args"} {
		p := otherProtocols[protocol]
		_, got := inMemory(p.path, p.header, simulator.Account{Name: "a", Key: "sk-a", Answer: simulator.CallTool("look", `{"a":`)}).say(t, p.plain)
		if got := member(got, path); got != `{"INVALID_JSON":"{\"a\":"}` {
			t.Errorf("%s says %s", protocol, got)
		}
	}
}

// TestOneProtocol proves that an account that speaks one protocol has no other address.
func TestOneProtocol(t *testing.T) {
	for protocol, p := range otherProtocols {
		c := inMemory(p.path, p.header, simulator.Account{Name: "a", Key: "sk-a", Protocol: simulator.Chat})
		if resp, got := c.say(t, p.plain); resp.StatusCode != 404 {
			t.Errorf("%s: got %s %s", protocol, resp.Status, got)
		}
	}
}
