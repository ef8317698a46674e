package runs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/redact"
)

// I12, J28: a model writes a secret in pieces of a few letters, each of which tells nothing. No row may hold one half of it
// and the next row the other, and nothing but the secret may be missing.
func TestSecretsInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := redact.New([]string{"known-by-heart-77"})
		j, store, stop := journal(t, func(o *runs.Options) {
			o.Hold, o.Redact = r.Hold, func(_ runs.Type, p json.RawMessage) json.RawMessage { return r.JSON(p) }
		})
		w := begin(t, j, "r")
		said := []rune("Mail jane.doe@example.org, use known-by-heart-77 or sk-abcdefghijklmnopqrst, then Bearer 0123456789abc. Ünd fertig")
		for len(said) > 0 {
			n := min(3, len(said))
			add(t, w, delta(string(said[:n])))
			said = said[n:]
		}
		add(t, w, runs.ReasoningDelta{Delta: "my tok"}, runs.TokenDelta{MessageID: "n", Delta: "next"}, runs.RunDone{}, runs.RunClosed{})
		sync(t, w)
		var thought strings.Builder
		for _, e := range rows(t, store, "r") {
			if e.Type == runs.TypeReasoningDelta {
				thought.WriteString(gjson.GetBytes(e.Payload, "delta").Str)
			}
		}
		run, err := j.Look(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if want := "Mail [email], use [redacted] or [redacted], then Bearer [redacted] Ünd fertignext"; run.Output != want {
			t.Errorf("output %q, want %q", run.Output, want)
		}
		if thought.String() != "my tok" {
			t.Errorf("reasoning %q, want my tok", thought.String())
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A word that waits for what follows it is stored when the hub stops, and when somebody asks for all there is.
func TestTailIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, stop := journal(t, func(o *runs.Options) { o.Hold = func(s string) int { return len(s) } })
		w := begin(t, j, "r")
		add(t, w, delta("one"))
		sync(t, w)
		if got := outputOf(t, j, "r"); got != "one" {
			t.Errorf("after Sync %q, want one", got)
		}
		add(t, w, delta(" two"))
		synctest.Wait()
		if got := outputOf(t, j, "r"); got != "one" {
			t.Errorf("the tail did not wait: %q", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := outputOf(t, j, "r"); got != "one two" {
			t.Errorf("after the last commit %q, want one two", got)
		}
	})
}

func outputOf(t *testing.T, j *runs.Journal, id string) string {
	t.Helper()
	r, err := j.Look(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r.Output
}
