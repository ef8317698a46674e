package clients

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// hermesScenario is one turn of Hermes Agent.
type hermesScenario struct {
	name    string
	prepare func(*simulator.Provider)
	orders  string
	want    string   // a part of what it says
	calls   []string // the chat requests that the hub saw, and who was called for them
}

// foundByA and foundByB are the answers of the accounts after a turn that read the note.
const (
	foundByA = "I have found marigold-7341, says a."
	foundByB = "I have found marigold-7341, says b."
)

// TestHermes: Hermes Agent itself over the hub. What one account does is nothing to its user.
func TestHermes(t *testing.T) {
	t.Parallel()
	runHermes(t, false, []hermesScenario{
		{
			"P01 tools, a sub-agent and an auxiliary call, each by its role", nil, "delegate look",
			"I have found grey square and marigold-7341, says a.",
			[]string{"orchestrator a:ok", "worker b:ok", "worker b:ok", "orchestrator a:ok", "eyes b:ok", "orchestrator a:ok"},
		},
		{
			"P02 first account out of quota within the turn", play("a", simulator.Normal, simulator.UsageLimit), "read", foundByB,
			[]string{"orchestrator a:ok", "orchestrator a:quota_exhausted,b:ok"},
		},
		{
			"P09 cut within the answer", play("a", simulator.Normal, simulator.CutReset.After(2)), "read", foundByB,
			[]string{"orchestrator a:ok", "orchestrator a:server_error", "orchestrator b:ok"},
		},
	})
}

// TestHermesAllBroken: P12: all accounts are in the same trouble after the first call. Hermes says what the hub told it, and
// its retries reach no account.
func TestHermesAllBroken(t *testing.T) {
	t.Parallel()
	then := func(step simulator.Step) func(*simulator.Provider) {
		return func(p *simulator.Provider) {
			p.Push("a", simulator.Normal)
			playAll(step)(p)
		}
	}
	runHermes(t, true, []hermesScenario{
		{
			"P12 out of quota", then(simulator.UsageLimit), "read",
			`HTTP 429: The usage limit has been reached for role "orchestrator"; it resets at `,
			[]string{"orchestrator a:ok", "orchestrator a:quota_exhausted,b:quota_exhausted", "orchestrator ", "orchestrator "},
		},
		{
			"P12 failing", then(simulator.ServerError), "read",
			`HTTP 503: role "orchestrator" has no account that can take the request at the moment`,
			[]string{"orchestrator a:ok", "orchestrator a:server_error,b:server_error", "orchestrator ", "orchestrator "},
		},
		{
			"P12 without money", then(simulator.PaymentRequired), "read",
			`HTTP 402: payment required: every account of role "orchestrator" needs credit`,
			[]string{"orchestrator a:ok", "orchestrator a:billing,b:billing"},
		},
	})
}

// runHermes makes the turns, which are to fail or not.
func runHermes(t *testing.T, fail bool, scenarios []hermesScenario) {
	t.Helper()
	need(t, "Hermes Agent", missingEnvironment("hermes"))
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			h := startHubOver(t, hermesAccounts(), patient)
			if s.prepare != nil {
				s.prepare(h.sim)
			}
			agent := newHermes(t, h)
			turn := agent.obey(t, s.orders)
			if !strings.Contains(turn.Said, s.want) || turn.Failed != fail || turn.Completed == fail {
				t.Errorf("it made %+v, want %q", turn, s.want)
			}
			h.stop()
			if calls := h.log.requests(); !slices.Equal(calls, s.calls) {
				t.Errorf("requests:\n got %q\nwant %q", calls, s.calls)
			}
			if probes := agent.tap.probes("/r/orchestrator/"); !slices.Equal(probes, hermesProbes) {
				t.Errorf("probes:\n got %q\nwant %q", probes, hermesProbes)
			}
		})
	}
}

// hermesProbes is how Hermes finds out what kind of server a local address is. One wrong 200 makes the hub another product;
// the model's window in the list of models spares it the rest.
var hermesProbes = []string{
	"GET api/tags 404", "GET api/v1/models 404", "GET props 404", "GET v1/models 200", "GET v1/props 404", "GET version 404",
}

// hermesAccounts are two accounts with the model that follows orders. Their answers take a while, so that they can be cut.
func hermesAccounts() *simulator.Provider {
	account := func(name string) simulator.Account {
		return simulator.Account{
			Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1"}, ChunkPace: 30 * time.Millisecond, Answer: hermesModel,
		}
	}
	return simulator.New(account("a"), account("b"))
}

// TestHermesBrokenAnswers: P01, P08, P09, P22: whatever the first account does to the second call of a turn, Hermes comes to
// the whole answer, or, where its request is at fault, says that it failed. It takes minutes, so `make clients` leaves it
// out.
func TestHermesBrokenAnswers(t *testing.T) {
	t.Parallel()
	need(t, "Hermes Agent", missingEnvironment("hermes"))
	for _, step := range simulator.Steps() {
		t.Run(step.Name.String(), func(t *testing.T) {
			h := startHubOver(t, hermesAccounts(), patient)
			h.sim.Push("a", simulator.Normal, step.Name)
			turn := newHermes(t, h).obey(t, "read")
			switch step.Name {
			case simulator.BadRequest, simulator.ContextTooLong, simulator.ContentPolicy, simulator.TooLarge:
				if !turn.Failed || turn.Completed {
					t.Errorf("it does not tell that it failed: %+v", turn)
				}
				return
			}
			// Its first words may be there twice: what was cut, or lacks its finish reason, Hermes keeps, and asks for the rest.
			whole := strings.HasSuffix(turn.Said, foundByA) || strings.HasSuffix(turn.Said, foundByB)
			if step.Name == simulator.HugeLine {
				whole = strings.Count(turn.Said, "simulated_") == 4<<20/len("simulated_")
			}
			if !whole || !turn.Completed || turn.Failed {
				t.Errorf("it does not come to the answer: %.300v", turn)
			}
		})
	}
}

// TestHermesOverOtherProtocols: Hermes Agent on accounts of every other protocol: a turn with a tool, and one whose account
// runs out between the call and its result, so that an account of another protocol is told what the first one called.
func TestHermesOverOtherProtocols(t *testing.T) {
	t.Parallel()
	need(t, "Hermes Agent", missingEnvironment("hermes"))
	reader := agent{read: hermesCalls["read"]}
	try := func(name string, a, b kind, prepare func(*simulator.Provider), want string) {
		t.Run(name, func(t *testing.T) {
			h := startHubOf(t, reader.accounts(), patient, a, b)
			if prepare != nil {
				prepare(h.sim)
			}
			if turn := newHermes(t, h).obey(t, "read"); !strings.Contains(turn.Said, want) || turn.Failed || !turn.Completed {
				t.Errorf("it made %+v, want %q", turn, want)
			}
		})
	}
	names := slices.Sorted(maps.Keys(kinds))
	for i, name := range names {
		next := names[(i+1)%len(names)]
		try("P01 "+name, kinds[name], kinds[name], nil, foundByA)
		try("P02 "+name+" to "+next, kinds[name], kinds[next], play("a", simulator.Normal, simulator.UsageLimit), foundByB)
	}
}
