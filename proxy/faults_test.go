package proxy

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/quota"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// Every way in which an account can break (each step of the simulator's table) met by a chain of two, plain and streamed,
// by a client of each protocol and over each: what the client sees, how the exchange is told, what the attempt came to, and
// what is thought of the account afterwards. P06, P07, P08, P09, P22, P24, P25 and L03 are rows of it: whatever happens, no
// lease is left and no single account's trouble is the client's, unless its answer had begun.
//
// Accounts answer an event a second in a bubble's time, so that what is one read and what is two does not depend on the
// machine.
func TestEveryFault(t *testing.T) {
	accounts := []simulator.Account{
		{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}, ChunkPace: time.Second},
		{Name: "b", Key: "sk-upstream-b", Models: []string{"sim-1"}, ChunkPace: time.Second},
	}
	for _, v := range voices() {
		t.Run(v.file, func(t *testing.T) {
			var got strings.Builder
			for _, step := range simulator.Steps() {
				for _, c := range []struct{ name, body string }{{"plain", v.plain}, {"stream", v.streamed}} {
					bubble(t, v.over(setup{accounts: accounts}), func(_ *testing.T, r *rig) {
						r.sim.Push("a", step.Name)
						fmt.Fprintf(&got, "%-22s %-6s | %s\n", step.Name, c.name, r.story(r.send(http.MethodPost, v.path, c.body)))
						r.settle()
					})
				}
			}
			golden(t, "testdata/"+v.file, got.String())
		})
	}
}

// story tells in one line what became of a request, and what is thought of account a.
func (r *rig) story(answer reply) string {
	x := r.told.last()
	line := fmt.Sprintf("%s | %s | %s", answer.line(), x.Outcome, x.Attempts[0].Outcome)
	if x.Attempts[0].Reason != "" {
		line += fmt.Sprintf(" (%s)", x.Attempts[0].Reason)
	}
	health := r.router.Snapshot().Standings[0].Check("sim-1", quota.Family("sim-1"), time.Now())
	if health.State != quota.Ready {
		line += " | " + strings.TrimSpace(string(health.State)+" "+health.Key)
	}
	return line
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Errorf("%s:%d\n got %s\nwant %s", path, i+1, g, w)
		}
	}
}
