// Package clients tries real, unmodified clients on the built hub, over loopback, with simulated accounts behind it.
//
// One table of scenarios serves all libraries. One of them is one row of clients: it says why it cannot run on this
// machine, if so, and makes one turn of a conversation, whose outcome it tells in plain words. One that is no Go library has
// its own program, in a folder beside the packages that it needs. Hermes Agent makes its calls by itself: it has scenarios of
// its own. Its API server is also tried as the runtime that executes the hub's runs, while its model is behind that same hub.
package clients

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// client is a client that the hub is tried with.
type client struct {
	name     string
	missing  func() string // what it lacks on this machine; "" = nothing
	start    func(*testing.T) func(context.Context, ask) (outcome, error)
	chatOnly bool // it has no call for the models
	stubborn bool // it repeats a call that was answered 429, whatever the answer says

	ask func(context.Context, ask) (outcome, error) // what start made
}

// clients is every library there is. All of them must pass every scenario, as far as they have the call.
func clients() []client {
	return []client{openAIGo(), openAINode(), aiSDK(), openAIPython(), langChain()}
}

// ask is one turn, in no protocol.
type ask struct {
	BaseURL string `json:"base_url"`
	Key     string `json:"key"`
	Call    string `json:"call"` // chat, models or model
	Model   string `json:"model"`
	Stream  bool   `json:"stream"`
	Usage   bool   `json:"usage"` // a stream is to end with its token counts
	Tool    bool   `json:"tool"`  // offer get_weather(city), answer its call with "sunny", and go on
}

// outcome is what the client's user gets: an answer, or an error with what arrived before it.
type outcome struct {
	Text     string   `json:"text"`
	Finish   string   `json:"finish"`
	ToolCall string   `json:"tool_call"` // get_weather({"city":"Paris"})
	Tokens   int64    `json:"tokens"`    // total; 0 = not told
	Models   []string `json:"models"`
	Error    *failure `json:"error"`
}

// failure is an error as the client's library tells it.
type failure struct {
	Status  int    `json:"status"` // 0 = no HTTP status: the connection or the stream failed
	Code    string `json:"code"`
	Message string `json:"message"`
}

// String tells the outcome in one line.
func (o outcome) String() string {
	var parts []string
	add := func(format string, value any, told bool) {
		if told {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("called %s", o.ToolCall, o.ToolCall != "")
	// How much of a cut answer arrives is the network's decision.
	part := o.Error != nil && o.Text != "" && strings.HasPrefix("Hello, I am", strings.TrimSpace(o.Text))
	add("%s", "a part,", part)
	add("%.80q", o.Text, o.Text != "" && !part)
	add("finish=%s", o.Finish, o.Finish != "")
	add("tokens=%d", o.Tokens, o.Tokens != 0)
	add("models=%s", strings.Join(o.Models, ","), len(o.Models) > 0)
	if e := o.Error; e != nil {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("error %d %s", e.Status, e.Code)))
	}
	return strings.Join(parts, " ")
}

// turnLimit bounds one turn. The longest wait that a scenario asks of a client is a few seconds.
const turnLimit = 30 * time.Second

// eachClient runs the test with every client, started. Clients are run beside each other, for they mostly wait.
func eachClient(t *testing.T, test func(*testing.T, client)) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			need(t, c.name, c.missing())
			c.ask = c.start(t)
			test(t, c)
		})
	}
}

// need skips the test of a client that lacks something on this machine. In CI nothing may be lacking.
func need(t *testing.T, client, lacking string) {
	t.Helper()
	switch {
	case lacking == "":
	case os.Getenv("CI") == "true":
		t.Fatalf("%s (%s)", client, lacking)
	default:
		t.Skipf("%s (%s)", client, lacking)
	}
}

// turn makes one turn. That the client never returns, or breaks, is a failure of the test.
func (c client) turn(t *testing.T, a ask) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	got, err := c.ask(ctx, a)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return got
}
