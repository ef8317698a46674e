package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/simulator"
)

// What the simulated model thinks and says in these tests, whichever account serves it.
const (
	hermesThought = "First I look at the files. "
	hermesAnswer  = "The repository has one new file since yesterday."
)

// The steps of the simulator that are no single account's trouble, or come too late to be hidden.
var (
	// ofTheRequest would be told the same by every account (P06), and go to the client as the account said it.
	ofTheRequest = []simulator.StepName{
		simulator.BadRequest, simulator.ContextTooLong, simulator.ContentPolicy, simulator.TooLarge,
	}
	// afterTheFirstByte break a stream of which the client has read a part.
	afterTheFirstByte = []simulator.StepName{
		simulator.Stall, simulator.StallHeartbeats, simulator.CutReset, simulator.CutEOF, simulator.CutToolArguments,
		simulator.ResetToolArguments, simulator.TruncatedChunk, simulator.MissingLastChunk, simulator.ShortContentLength,
		simulator.HTTP10Half, simulator.ErrorMidStream, simulator.RateLimitedMidStream,
	}
	// forEver are silent. A whole answer has only the request's own deadline, because it may take as long as the request
	// may; so Hermes meets that deadline, and comes again.
	forEver = []simulator.StepName{simulator.Hang, simulator.Stall, simulator.StallHeartbeats}
	// otherWords answer completely, but with a text or a tool call of their own, or by leaving something out.
	otherWords = []simulator.StepName{simulator.HugeLine, simulator.SplitRunes, simulator.DuplicateToolIndex, simulator.EmptyDeltas, simulator.UsageMissing}
)

// No single account's trouble changes what Hermes sees: every step of the simulator on the first of two accounts, in a turn
// with tools, one cut while the model still thinks, and a call that is not streamed, by both builds, in a new and in a long
// conversation. What broke before the first byte leaves no trace. What broke after it is a part or is asked for again, and
// never passes for the whole. Whatever happens Hermes goes on streaming, keeps the model's window and its history, and goes
// on using the hub's key.
func TestHermesFaults(t *testing.T) {
	var text strings.Builder
	kinds := oracle.Requests("main")
	tools, auxiliary := kinds[0], kinds[len(kinds)-1]
	for _, info := range simulator.Steps() {
		f := func(kind string, q oracle.Request, step simulator.StepName) {
			var seen []string
			for _, session := range []oracle.Session{{}, {Build: oracle.Released, Tokens: 170_000, Messages: 400}} {
				got := hermesFault(t, q, step, session)
				if !slices.Contains(seen, got) {
					seen = append(seen, got)
				}
			}
			fmt.Fprintf(&text, "%-22s %-9s | %s\n", info.Name, kind, strings.Join(seen, " / long, 0.19: "))
		}
		f("streamed", tools, info.Name)
		if info.Takes == "a number" {
			f("thinking", tools, info.Name.After(2))
		}
		f("plain", auxiliary, info.Name)
	}
	golden(t, "testdata/hermes.txt", text.String())
}

// hermesFault makes one turn while the first account plays a step, holds it against the rules, and tells it in a line.
func hermesFault(t *testing.T, q oracle.Request, step simulator.StepName, session oracle.Session) string {
	t.Helper()
	var accounts []simulator.Account
	for _, name := range []string{"a", "b"} {
		accounts = append(accounts, simulator.Account{
			Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1"}, ChunkPace: time.Second, Answer: simulator.Think(hermesThought, hermesAnswer),
		})
	}
	var got oracle.Turn
	var broken []string
	bubble(t, setup{accounts: accounts}, func(_ *testing.T, r *rig) {
		a := r.hermes("/r/main/v1")
		a.Session = session
		r.sim.Push("a", step)
		got = r.turn(a, q)
		name, _, _ := strings.Cut(string(step), " ")
		broken = faultRules(got, a.Learned, simulator.StepName(name))
		r.settle()
	})
	for _, what := range broken {
		t.Errorf("%s, stream %v, %+v: %s\n%s\ntext %.200q", step, q.Stream, session, what, got, got.Text)
	}
	return got.String()
}

// faultRules tells what is wrong with a turn during which an account played a step.
func faultRules(got oracle.Turn, learned oracle.Learned, step simulator.StepName) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	in := func(list []simulator.StepName) bool { return slices.Contains(list, step) }
	whole := got.Ending == oracle.Complete && got.Text == hermesAnswer && got.Reasoning == hermesThought && got.Finish == "stop" && got.Usage
	if in(ofTheRequest) {
		if got.Ending != oracle.Raised || got.Verdict.Retryable && !got.Verdict.Compress || learned.StreamingOff || !learned.BenchedUntil.IsZero() {
			fail("a mistake of the request's own must be told as one: %+v", learned)
		}
		return broken
	}
	if learned != (oracle.Learned{}) {
		fail("Hermes keeps something of one account's trouble: %+v", learned)
	}
	switch {
	case got.Ending != oracle.Complete && (got.Usage || got.Finish != ""):
		fail("a part carries token counts or a reason to end")
	case got.Sent && in(afterTheFirstByte):
		if got.Ending != oracle.Partial && (!whole || got.Requests < 2) {
			fail("a broken stream is neither a part nor asked for again")
		}
	case in(otherWords):
		if got.Ending != oracle.Complete || got.Requests != 1 {
			fail("a complete answer is not taken for one")
		}
	case !got.Sent && in(forEver):
		if !whole || got.Requests != 2 {
			fail("the second try does not answer")
		}
	case !whole || got.Requests != 1 || got.Waited != 0:
		fail("one account's trouble shows")
	}
	return broken
}

// Hermes gives up a stream that brings no data for three minutes, and after five such streams the endpoint; comments do not
// count. The hub is the less patient one, so that it is the account which is blamed and Hermes hears an error. The figures
// are the defaults of the configuration, and silences between the words of an answer.
func TestHermesPatience(t *testing.T) {
	f := func(name string, pace time.Duration, want string, steps ...simulator.Step) {
		t.Helper()
		s := setup{config: func(c *Config) {
			c.FirstTokenTimeout, c.CommitDeadline, c.IdleTimeout, c.RequestTimeout = 120*time.Second, 240*time.Second, 150*time.Second, 30*time.Minute
		}}
		for _, account := range []string{"a", "b"} {
			s.accounts = append(s.accounts, simulator.Account{Name: account, Key: "sk-" + account, Models: []string{"sim-1"}, ChunkPace: pace, Answer: simulator.Say("One two three.")})
		}
		bubble(t, s, func(t *testing.T, r *rig) {
			r.sim.Push("a", steps...)
			a := r.hermes("/v1")
			got := r.turn(a, oracle.Requests("main")[1])
			if got.String() != want || a.Learned != (oracle.Learned{}) {
				t.Errorf("%s: got %s, want %s; learned %+v", name, got, want, a.Learned)
			}
			r.settle()
		})
	}
	const whole = "complete finish=stop usage requests=1"
	// The first piece is the first content; the silences are behind it.
	said := simulator.Stream(chunkRole+chunkText, chunkText, chunkFinish+chunkUsage+chunkDone)
	f("100 s", 100*time.Second, whole, said)
	f("149 s", 149*time.Second, whole, said)
	f("170 s", 170*time.Second, "partial unknown requests=1", said)
	f("200 s", 200*time.Second, "partial unknown requests=1", said)
	f("400 s", 400*time.Second, "partial unknown requests=1", said)
	f("1000 s", 1000*time.Second, "partial unknown requests=1", said)
	f("comments only, for ever", time.Second, "partial unknown requests=1", simulator.StallHeartbeats)
	f("nothing at all from the first account", time.Second, whole, simulator.Hang)
	f("a head and nothing else from the first account", time.Second, whole, simulator.StallHeartbeats.After(0))
	f("the first token after 110 s", time.Second, whole, simulator.SlowFirstToken.For(110*time.Second))
}
