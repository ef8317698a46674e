package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// place is an account that a conversation can be at.
type place struct {
	name     string
	protocol router.Protocol
	codex    bool
	model    string // the account's own name
}

func places() []place {
	return []place{
		{"chat", router.ProtocolChat, false, "sim-1"},
		{"Claude", router.ProtocolMessages, false, "claude-sonnet-5"},
		{"messages", router.ProtocolMessages, false, "sim-1"}, // another's model behind Anthropic's protocol
		{"responses", router.ProtocolResponses, false, "gpt-5.5"},
		{"codex", router.ProtocolResponses, true, "gpt-5.5"},
		{"Gemini", router.ProtocolGemini, false, "gemini-3-pro"},
		{"Antigravity", router.ProtocolCloudCode, false, "gemini-3-pro"},
		{"Claude of Antigravity", router.ProtocolCloudCode, false, "claude-sonnet-4-5"},
	}
}

// W: a conversation of a chat client with a tool call whose second turn lands on an account of another protocol stays valid
// there, whichever the two are, streamed or not: the accounts are as strict as the real ones. The call keeps its id, its
// result arrives, and of what the first account has sealed nothing reaches the second.
func TestJourney(t *testing.T) {
	for _, from := range places() {
		for _, to := range places() {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				journey(t, from, to)
			})
		}
	}
}

var journeyModels = []string{"sim-1", "claude-sonnet-5", "gpt-5.5", "gemini-3-pro", "claude-sonnet-4-5"}

// weatherTeller thinks, says a word and calls a tool twice; with the results it answers.
func weatherTeller(req simulator.Request) simulator.Answer {
	if len(req.Results) > 0 || req.LastRole == "tool" {
		return simulator.Answer{Text: "It is sunny."}
	}
	return simulator.Answer{Text: "Let me see.", Reasoning: "The weather, then.", ToolCalls: []simulator.ToolCall{
		{Name: "weather", Arguments: `{"city":"Paris"}`}, {Name: "weather", Arguments: `{"city":"Rome"}`},
	}}
}

// travelling makes the first two accounts these places.
func travelling(from, to place) func([]router.Profile) {
	return func(ps []router.Profile) {
		codex, _ := router.ProviderByID("openai-codex")
		for i, p := range []place{from, to} {
			ps[i].Protocol, ps[i].ModelMap = p.protocol, map[string]string{"sim-1": p.model}
			if p.codex {
				ps[i].Provider, ps[i].BaseURL = codex, strings.TrimSuffix(ps[i].BaseURL, "/v1")+"/backend-api/codex"
			}
		}
	}
}

func journey(t *testing.T, from, to place) {
	t.Helper()
	var accounts []simulator.Account
	for _, name := range []string{"a", "b"} {
		accounts = append(accounts, simulator.Account{Name: name, Key: "sk-upstream-" + name, Models: journeyModels, Answer: weatherTeller})
	}
	bubble(t, setup{accounts: accounts, keys: signedIn{}, profiles: travelling(from, to)}, func(t *testing.T, r *rig) {
		const tools = `"tools":[{"type":"function","function":{"name":"weather","description":"now","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}],"reasoning_effort":"low"`
		question := `{"role":"user","content":"How is the weather?"}`
		first := r.chat(`{"model":"sim-1",` + tools + `,"messages":[` + question + `]}`)
		r.want(first, "200 profile=a attempts=1")
		var told struct {
			Choices []struct {
				Message json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(first.body), &told); err != nil {
			t.Fatal(err)
		}
		message := string(told.Choices[0].Message)
		var calls struct {
			ToolCalls []struct{ ID string } `json:"tool_calls"`
		}
		if err := json.Unmarshal(told.Choices[0].Message, &calls); err != nil || len(calls.ToolCalls) != 2 || calls.ToolCalls[0].ID == calls.ToolCalls[1].ID {
			t.Fatalf("%v in %s", err, message)
		}
		var turns strings.Builder
		turns.WriteString(question + "," + message)
		for i, call := range calls.ToolCalls {
			turns.WriteString(fmt.Sprintf(`,{"role":"tool","tool_call_id":%q,"content":"sunny %d"}`, call.ID, i))
		}
		r.sim.Push("a", simulator.Unauthorized)
		for _, stream := range []string{"", `"stream":true,`} {
			second := r.chat(`{"model":"sim-1",` + stream + tools + `,"messages":[` + turns.String() + `]}`)
			if second.status != http.StatusOK || second.header.Get(headerProfile) != "b" || !strings.Contains(second.body, "sunny") {
				t.Errorf("%s %s\n%s", second.line(), second.body, message)
			}
		}
		r.settle()
	})
}
