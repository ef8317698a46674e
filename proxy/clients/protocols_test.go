package clients

import (
	"fmt"
	"slices"
	"testing"

	"hermes-hub/proxy/simulator"
)

// face is a protocol that clients speak, with what its library calls the ends of an answer.
type face struct {
	kind          kind // of the accounts that it reaches by pass-through
	clients       []client
	stop          string // the finish of an answer
	limit, broken string // all accounts are out of quota, all fail: as the library tells it
}

func faces() []face {
	return []face{
		{messagesAccount, []client{anthropicGo(), anthropicNode()}, "end_turn", "error 429 rate_limit_error", "error 503 api_error"},
		{responsesAccount, []client{openAIGoResponses()}, "completed", "error 429 usage_limit_reached", "error 503 upstream_unavailable"},
	}
}

// TestOwnProtocol: clients of Messages and of Responses on accounts of the same protocol.
func TestOwnProtocol(t *testing.T) {
	t.Parallel()
	for _, f := range faces() {
		for _, c := range f.clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				need(t, c.name, c.missing())
				c.ask = c.start(t)
				for _, s := range f.scenarios() {
					t.Run(s.name, func(t *testing.T) { s.try(t, c, f.kind, f.kind) })
				}
			})
		}
	}
}

func (f face) scenarios() []scenario {
	from := func(account string) string {
		return fmt.Sprintf("%q finish=%s tokens=24", "Hello, I am "+account, f.stop)
	}
	weather := func(account string) string {
		return fmt.Sprintf(`called get_weather({"city":"Paris"}) %q finish=%s tokens=24`, "It is sunny, says "+account, f.stop)
	}
	return []scenario{
		{"P01 plain", nil, plain, from("a"), "a=1 b=0"},
		{"P01 streamed", nil, stream, from("a"), "a=1 b=0"},
		{"P01 tool", nil, plainTool, weather("a"), "a=2 b=0"},
		{"P01 tool, streamed", nil, streamTool, weather("a"), "a=2 b=0"},
		{"P02 first account out of quota", spend("a"), plain, from("b"), "a=1 b=1"},
		{"P02 first account out of quota, streamed", spend("a"), stream, from("b"), "a=1 b=1"},
		{"P02 first account out of quota within the turn", play("a", simulator.Normal, simulator.UsageLimit), streamTool, weather("b"), "a=2 b=1"},
		{"P07 first account's key refused", play("a", simulator.Unauthorized), stream, from("b"), "a=1 b=1"},
		{"P08 first account overloaded", play("a", simulator.Overloaded), plain, from("b"), "a=1 b=1"},
		{"P22 first account's stream begins with an error", play("a", simulator.ErrorFirst), stream, from("b"), "a=1 b=1"},
		{"P12 all accounts out of quota", spend("a", "b"), plain, f.limit, "a=1 b=1"},
		{"P12 all accounts fail, streamed", playAll(simulator.ServerError), stream, f.broken, "a=1 b=1"},
	}
}

// try makes the turn over two accounts of these kinds.
func (s scenario) try(t *testing.T, c client, a, b kind) {
	t.Helper()
	h := startHubOf(t, accounts(), patient, a, b)
	if s.prepare != nil {
		s.prepare(h.sim)
	}
	got := c.turn(t, h.fill(s.ask))
	if got.String() != s.want {
		t.Errorf("\n got %s\nwant %s\nerror %+v", got, s.want, got.Error)
	}
	if calls := h.calls(); calls != s.calls {
		t.Errorf("calls: got %s, want %s", calls, s.calls)
	}
}

// kinds are the accounts that a client of chat completions reaches by translation.
var kinds = map[string]kind{
	"messages": messagesAccount, "responses": responsesAccount, "codex": codexAccount, "gemini": geminiAccount, "cloudcode": cloudCodeAccount,
}

// TestResponsesTranslated: P01, P02, P22: a client of Responses on accounts of every other protocol, and one whose turn with a
// tool moves between two of them.
func TestResponsesTranslated(t *testing.T) {
	t.Parallel()
	f := faces()[1]
	c := f.clients[0]
	c.ask = c.start(t)
	others := []kind{chatAccount, messagesAccount, geminiAccount, cloudCodeAccount}
	for _, k := range others {
		for _, s := range f.scenarios() {
			t.Run(string(k)+" "+s.name, func(t *testing.T) { s.try(t, c, k, k) })
		}
		for _, to := range append(others, responsesAccount, codexAccount) {
			t.Run(string(k)+" to "+string(to), func(t *testing.T) {
				scenario{
					prepare: play("a", simulator.Normal, simulator.UsageLimit), ask: streamTool,
					want: `called get_weather({"city":"Paris"}) "It is sunny, says b" finish=completed tokens=24`, calls: "a=2 b=1",
				}.try(t, c, k, to)
			})
		}
	}
}

// TestTranslated: P01, P02: a chat client on accounts of every other protocol gets what it would get from one of its own.
func TestTranslated(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c client) {
		for name, k := range kinds {
			for _, s := range translated() {
				t.Run(name+" "+s.name, func(t *testing.T) { s.try(t, c, k, k) })
			}
		}
	})
}

func translated() []scenario {
	keep := []string{
		"P01 plain", "P01 streamed", "P01 tool", "P01 tool, streamed", "P02 first account out of quota, tool streamed",
		"P07 first account's key refused", "P08 first account overloaded", "P22 first account's stream begins with an error",
		"P12 all accounts fail",
	}
	return slices.DeleteFunc(scenarios(), func(s scenario) bool { return !slices.Contains(keep, s.name) })
}

// TestCrossing: a conversation with a tool whose second call lands on an account of another protocol: what the first model
// called is what the second is told.
func TestCrossing(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c client) {
		for from, a := range kinds {
			for to, b := range kinds {
				if a == b {
					continue
				}
				t.Run(from+" to "+to, func(t *testing.T) {
					scenario{
						prepare: play("a", simulator.Normal, simulator.UsageLimit), ask: streamTool,
						want: `called get_weather({"city":"Paris"}) "It is sunny, says b" finish=stop`, calls: "a=2 b=1",
					}.try(t, c, a, b)
				})
			}
		}
	})
}
