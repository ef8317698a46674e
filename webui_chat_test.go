package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// W06: the WebUI's other gateway mode asks for a plain chat completion, with members that are Hermes' own. They break nothing
// and reach the account; thoughts and usage reach the WebUI.
func TestWebUIChatMode(t *testing.T) {
	sim, base := provider(t, simulator.Account{
		Name: "first", Key: "canary-first", Models: []string{"sim-1"},
		Answer: func(simulator.Request) simulator.Answer {
			return simulator.Answer{Text: "Hello.", Reasoning: "A greeting."}
		},
	})
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", configFor(t, base, ""), "--data-dir", t.TempDir())
	res := p.ask(http.MethodPost, "/v1/chat/completions",
		`{"model":"sim-1","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],"provider":"custom","service_tier":"flex","reasoning_effort":"low"}`,
		"X-Hermes-Session-Id", "s1", "X-Hermes-Session-Key", "webui:s1")
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", res.StatusCode, text, err)
	}
	for _, want := range []string{`"reasoning_content":"`, `"content":"`, `"usage":{`, "data: [DONE]"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	calls := sim.Calls("first")
	if sent := string(calls[len(calls)-1].Body); !strings.Contains(sent, `"provider":"custom"`) || !strings.Contains(sent, `"service_tier":"flex"`) {
		t.Errorf("the account was asked %s", sent)
	}
}
