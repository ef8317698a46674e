package runs_test

import (
	"encoding/json"
	"fmt"
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

// J28: of a response in the background each delta is kept as the account's event, too, and a key that came in pieces stood in
// both. The words move between the events; their numbers stay, and none is missing.
func TestSecretsInPiecesOfAResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := redact.New(nil)
		j, store, stop := journal(t, func(o *runs.Options) {
			o.Hold, o.Redact = r.Hold, func(_ runs.Type, p json.RawMessage) json.RawMessage { return r.JSON(p) }
		})
		w := begin(t, j, "r")
		n := 0
		say := func(item, text string) {
			quoted, _ := json.Marshal(text)
			object := fmt.Sprintf(`{"message_id":"%s","delta":%s,"raw":{"type":"response.output_text.delta","item_id":"%s","delta":%s,"logprobs":[{"token":%s}],"sequence_number":%d}}`, item, quoted, item, quoted, quoted, n)
			add(t, w, runs.Raw{Family: runs.TypeTokenDelta, Object: json.RawMessage(object)})
			n++
		}
		for _, letter := range "Ünd sk-abcdefghijklmnopqrst, dann" {
			say("m1", string(letter))
		}
		say("m2", "next ")
		say("m2", " one")
		for _, piece := range []string{`{"key":"sk-abcdef`, `ghijklmnopqrst"}`} {
			quoted, _ := json.Marshal(piece)
			object := fmt.Sprintf(`{"raw":{"type":"response.function_call_arguments.delta","delta":%s,"sequence_number":%d}}`, quoted, n)
			add(t, w, runs.Raw{Family: runs.TypeStatus, Object: json.RawMessage(object)})
			n++
		}
		add(t, w, runs.RunDone{}, runs.RunClosed{})
		sync(t, w)
		var told, events strings.Builder
		next := int64(0)
		for _, e := range rows(t, store, "r") {
			raw := gjson.GetBytes(e.Payload, "raw")
			if !raw.Exists() {
				continue
			}
			told.WriteString(gjson.GetBytes(e.Payload, "delta").Str)
			events.WriteString(raw.Get("delta").Str)
			if raw.Get("sequence_number").Int() != next || strings.Contains(raw.Get("logprobs").Raw, "q") {
				t.Errorf("event %d is %s", next, raw)
			}
			next++
		}
		const want = "Ünd [redacted], dannnext  one"
		if told.String() != want || events.String() != want+`{"key":"[redacted]"}` || next != int64(n) {
			t.Errorf("told %q in %d events, and %q; want %q in %d", events.String(), next, told.String(), want, n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
