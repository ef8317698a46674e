package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"hermes-hub/runs"
)

// outside is a run that was handed to the outside, and a way to post to it in a line: `key=type{payload}`, apart by blanks.
func outside(t *testing.T, change func(*runs.Options)) (j *runs.Journal, s *faulty, post func(p runs.Post, events string) string) {
	t.Helper()
	j, s, stop := journal(t, change)
	sync(t, begin(t, j, "r"))
	t.Cleanup(func() { _ = stop() })
	return j, s, func(p runs.Post, events string) string {
		t.Helper()
		p.RunID, p.Fence = "r", 1
		for text := range strings.FieldsSeq(events) {
			key, name, found := strings.Cut(text, "=")
			if !found || strings.ContainsAny(key, "{") {
				key, name = "", text
			}
			name, object, _ := strings.Cut(name, "{")
			if object != "" {
				object = "{" + object
			}
			raw, err := runs.Told(name, json.RawMessage(object))
			if err != nil {
				return err.Error()
			}
			p.Events = append(p.Events, runs.Posted{Payload: raw, Key: key})
		}
		first, last, err := j.Post(t.Context(), p)
		if r, ok := errors.AsType[*runs.Refusal](err); ok {
			return string(r.Outcome)
		}
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(first, "-", last)
	}
}

// What the outside appends is stored once, in order, and what is refused leaves the log as it was.
func TestPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, post := outside(t, nil)
		f := func(p runs.Post, events, want, log string) {
			t.Helper()
			if got := post(p, events); got != want {
				t.Errorf("%s: %s, want %s", events, got, want)
			}
			if got := stored(t, s, "r"); got != log {
				t.Errorf("after %s the log is %s, want %s", events, got, log)
			}
		}
		anyway := runs.Post{Expect: runs.AnySeq}
		f(anyway, ``, "0-1", "1:run.started")
		f(anyway, `token.delta{"delta":"a"} message.delta{"delta":"b"}`, "2-3", "1:run.started 2:token.delta 3:token.delta")
		log := "1:run.started 2:token.delta 3:token.delta 4:tool.started"
		f(anyway, `k1=tool.started{"tool":"x"}`, "4-4", log)
		f(anyway, `k1=tool.started{"tool":"x"}`, "4-4", log)
		f(anyway, `done token.delta`, "ended", log)
		f(anyway, `run.closed`, "unended", log)
		f(anyway, `nonsense`, `no family has this name: "nonsense"`, log)
		f(anyway, `journal.gap`, "no family has this name: journal.gap is the journal's own", log)
		f(anyway, `token.delta{"delta":"a"} done{]`, `an event's payload must be a JSON object of a known family: done`, log)
		f(runs.Post{Expect: 3}, `progress`, "stale", log)
		f(runs.Post{Expect: 3}, `k2=progress k3=progress`, "stale", log)
		f(runs.Post{Expect: 3}, `k1=tool.started{"tool":"x"}`, "4-4", log)
		log += " 5:progress 6:progress"
		f(runs.Post{Expect: 4}, `k2=progress k3=progress`, "5-6", log)
		log += " 7:tool.done 8:token.delta 9:token.delta 10:done 11:usage.final 12:run.closed"
		f(anyway, `k4=tool_complete{"tid":"x"} token{"text":"a"} token.delta k5=done{"output":"ab"} usage.final run.closed`, "7-12", log)
		f(anyway, `token.delta`, "sealed", log)
		f(anyway, `k5=done`, "10-10", log)
		f(anyway, `k4=tool.done k5=done`, "7-10", log)
		if run, err := j.Look(t.Context(), "r"); err != nil || run.Output != "ab" || run.Status != runs.Completed {
			t.Errorf("%+v %v", run, err)
		}
	})
}

// A run that was taken over takes nothing more from the outside (C04: not even an end).
func TestPostFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, post := outside(t, nil)
		anyway := runs.Post{Expect: runs.AnySeq}
		if got := post(anyway, `k=progress`); got != "2-2" {
			t.Fatal(got)
		}
		if err := j.Interrupt(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		log := stored(t, s, "r")
		for _, events := range []string{``, `k=progress`, `done`, `title.updated{"title":"x"}`} {
			if got := post(anyway, events); got != "fenced" {
				t.Errorf("%s: %s", events, got)
			}
		}
		if got := stored(t, s, "r"); got != log {
			t.Errorf("the log is %s, was %s", got, log)
		}
		if _, _, err := j.Post(t.Context(), runs.Post{RunID: "other", Fence: 1, Expect: runs.AnySeq}); !errors.Is(err, runs.ErrUnknownRun) {
			t.Error(err)
		}
	})
}

// What comes from outside is bounded and redacted as everything else, and a run over its caps keeps its lifecycle.
func TestPostBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, post := outside(t, func(o *runs.Options) {
			o.MaxEventBytes, o.MaxRunRows = 1<<10, 4
			o.Redact = func(_ runs.Type, p json.RawMessage) json.RawMessage {
				return json.RawMessage(strings.ReplaceAll(string(p), "sk-secret", "[redacted]"))
			}
		})
		anyway := runs.Post{Expect: runs.AnySeq}
		f := func(p runs.Post, events, want string) {
			t.Helper()
			if got := post(p, events); got != want {
				t.Errorf("%.40s: %s, want %s", events, got, want)
			}
		}
		f(anyway, `token.delta{"delta":"sk-secret`+strings.Repeat("x", 5<<20)+`"}`, "2-2") // J29
		f(anyway, "token.delta{\"delta\":\"\xff\\u0000\\ud800\"}", "3-3")
		f(runs.Post{Expect: runs.AnySeq, Content: runs.Metadata}, `token.delta{"delta":"secret"} tool.done{"name":"x","result":"secret"}`, "4-4")
		f(anyway, `token.delta tool.started`, "5-6")
		f(anyway, `token.delta`, "5-5")
		f(anyway, `approval.requested clarify.requested`, "7-8")
		f(anyway, `tool.started`, runs.ErrRunFull.Error())
		f(anyway, `done run.closed`, "9-10")
		for _, e := range rows(t, s, "r") {
			if len(e.Payload) > 1<<10 || strings.Contains(string(e.Payload), "secret") || !json.Valid(e.Payload) {
				t.Errorf("row %d: %.60s", e.Seq, e.Payload)
			}
		}
		want := "1:run.started 2:token.delta 3:token.delta 4:tool.done 5:journal.truncated 6:tool.started 7:approval.requested 8:clarify.requested 9:done 10:run.closed"
		if got := stored(t, s, "r"); got != want {
			t.Errorf("log %s", got)
		}
		if !strings.Contains(string(rows(t, s, "r")[1].Payload), `"truncated":true`) {
			t.Error("the cut is not told")
		}
	})
}

// A secret is not let through by posting it in two pieces at once (J28).
func TestPostSplitSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, post := outside(t, func(o *runs.Options) {
			o.Redact = func(_ runs.Type, p json.RawMessage) json.RawMessage {
				return json.RawMessage(strings.ReplaceAll(string(p), "sk-secret", "[redacted]"))
			}
			o.Hold = func(text string) int { return len(text) - strings.LastIndexByte(text, ' ') - 1 }
		})
		if got := post(runs.Post{Expect: runs.AnySeq}, `token.delta{"delta":"sk-"} token.delta{"delta":"secret"} k=progress`); got != "2-3" {
			t.Error(got)
		}
		if got := stored(t, s, "r") + string(rows(t, s, "r")[1].Payload); got != `1:run.started 2:token.delta 3:progress{"delta":"[redacted]"}` {
			t.Error(got)
		}
	})
}

// Whether an event was stored when the store failed, nobody knows: with its key it is posted again and is there once (I7).
func TestPostAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, post := outside(t, nil)
		anyway := runs.Post{Expect: runs.AnySeq}
		for _, after := range []bool{false, true} {
			s.fail.Store(&fault{after})
			if got := post(anyway, `k=progress`); !strings.Contains(got, errDown.Error()) {
				t.Error(got)
			}
			s.fail.Store(nil)
		}
		if got := post(anyway, `k=progress`); got != "2-2" {
			t.Error(got)
		}
	})
}

// However an event is named, it becomes the same row; run.started from outside changes nothing of what the run is.
func TestTold(t *testing.T) {
	f := func(name, object, want string) {
		t.Helper()
		raw, err := runs.Told(name, json.RawMessage(object))
		if got := fmt.Sprintf("%s %s", raw.Family, raw.Object); err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%s: %s %v, want %s", name, got, err, want)
		}
	}
	f("token.delta", `{"delta":"a"}`, `token.delta {"delta":"a"}`)
	f("message.delta", `{"delta":"a"}`, `token.delta {"delta":"a"}`)
	f("token", `{"text":"a"}`, `token.delta {"text":"a","delta":"a"}`)
	f("tool.started", `{"name":"x"}`, `tool.started {"name":"x"}`)
	f("tool.started", `{"tool":"x"}`, `tool.started {"tool":"x","name":"x"}`)
	f("run.failed", `{"error":"no"}`, `error {"error":"no","message":"no","terminal":true}`)
	f("warning", `{"message":"no"}`, `error {"message":"no","terminal":false}`)
	f("done", ``, `done {}`)
	f("run.started", `{"writer_hash":"x","status":"running"}`, `status {"writer_hash":"x","status":"running"}`)
	f("run.steered", `{"accepted":true}`, `progress {"accepted":true}`)
	f("done", `[]`, `an event's payload must be a JSON object of a known family: done`)
	f("", `{}`, `no family has this name: ""`)
}
