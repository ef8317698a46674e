package runs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"hermes-hub/runs"
)

// J29: what is too big is cut, says so, and stays a JSON object that is recognised.
func TestBigPayloads(t *testing.T) {
	const limit = 4096
	f := func(what string, p runs.Payload, paths ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			j, s, stop := journal(t, func(o *runs.Options) { o.MaxEventBytes = limit })
			w := begin(t, j, "r")
			add(t, w, p)
			sync(t, w)
			row := rows(t, s, "r")[1]
			got := gjson.ParseBytes(row.Payload)
			if len(row.Payload) > limit || !json.Valid(row.Payload) || !utf8.Valid(row.Payload) || !got.Get("truncated").Bool() {
				t.Errorf("%s became %d bytes: %.200s", what, len(row.Payload), row.Payload)
			}
			for _, path := range paths {
				if !got.Get(path).Exists() {
					t.Errorf("%s lost %s: %.200s", what, path, row.Payload)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
	long := strings.Repeat("ж<", 500_000)
	args, _ := json.Marshal(map[string]any{"command": long, "cwd": "/home/me", "n": 1})
	f("long arguments", runs.ToolStarted{ToolCallID: "c", Name: "ls", Args: args}, "tool_call_id", "name", "args.cwd", "args.n", "args.command")
	many, _ := json.Marshal(strings.Split(strings.Repeat("1,", 50_000), ","))
	f("many members", runs.ToolDone{ToolCallID: "c", Name: "ls", Result: many, IsError: true}, "tool_call_id", "name", "is_error")
	deep := strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)
	f("deep members", runs.Raw{Family: runs.TypeToolUpdated, Object: json.RawMessage(`{"tool_call_id":"c","data":` + deep + `}`)}, "tool_call_id")
	f("an error that ends", runs.ErrorRaised{Reason: "interrupted", Message: long, Ends: true}, "type", "terminal", "message")
}

// Hostile payloads from outside are refused, or come out as valid JSON in one line (E11).
func TestRawPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		for _, bad := range []runs.Raw{
			{runs.TypeProgress, json.RawMessage(`[1]`)},
			{runs.TypeProgress, json.RawMessage(`{`)},
			{runs.TypeProgress, nil},
			{runs.TypeProgress, json.RawMessage("{\"a\":\"\x00\"}")},
			{runs.TypeProgress, json.RawMessage(`null`)},
			{"nonsense", json.RawMessage(`{}`)},
			{"", json.RawMessage(`{}`)},
		} {
			if err := w.Append(bad); !errors.Is(err, runs.ErrBadPayload) {
				t.Errorf("%s %q: %v", bad.Family, bad.Object, err)
			}
		}
		add(
			t, w, runs.Raw{runs.TypeProgress, json.RawMessage("{\r\n\"text\": \"a\u2028\xff\"}")},
			runs.Raw{runs.TypeProgress, json.RawMessage(`{"text":"\ud800","unknown":[1]}`)},
		)
		sync(t, w)
		log := rows(t, s, "r")
		if got, want := string(log[1].Payload)+string(log[2].Payload), `{"text":"a\u2028`+"\uFFFD"+`"}{"text":"\ud800","unknown":[1]}`; got != want {
			t.Errorf("stored %s, want %s", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// J28: what the redactor takes out is stored nowhere.
func TestRedaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) {
			o.Redact = func(_ runs.Type, p json.RawMessage) json.RawMessage {
				return bytes.ReplaceAll(p, []byte("sk-canary"), []byte("[redacted]"))
			}
		})
		w := begin(t, j, "r")
		args := json.RawMessage(`{"key":"sk-canary","cwd":"/home/me/work"}`)
		add(t, w, delta("sk-canary"), runs.ToolStarted{Name: "x", Args: args}, runs.ErrorRaised{Message: "sk-canary", Ends: true})
		sync(t, w)
		all, _ := json.Marshal(rows(t, s, "r"))
		if text := string(all); strings.Contains(text, "canary") || strings.Count(text, "[redacted]") != 3 || !strings.Contains(text, "/home/me/work") {
			t.Errorf("stored %s", text)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// content: metadata keeps what happened and no word of anybody; no-store keeps nothing.
func TestContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		for _, c := range []struct {
			content runs.Content
			run     string
		}{{runs.Metadata, "bare"}, {runs.NoStore, "none"}} {
			w, err := j.Begin(c.run, runs.Origin{}, c.content, runs.RunStarted{Model: "m", Workspace: "canary", Metadata: json.RawMessage(`{"a":"canary"}`)})
			if err != nil {
				t.Fatal(err)
			}
			object := json.RawMessage(`{"a":"canary"}`)
			add(
				t, w, delta("canary"), runs.ReasoningDelta{Delta: "canary"}, runs.ReasoningDone{Text: "canary"}, runs.Progress{Text: "canary"},
				runs.ToolStarted{Name: "ls", Preview: "canary", Args: object}, runs.ToolUpdated{Stdout: "canary", Data: object},
				runs.ToolDone{Name: "ls", Result: object, Preview: "canary"}, runs.ApprovalRequested{ApprovalID: "1", Command: "canary", Description: "canary"},
				runs.ClarifyRequested{ClarifyID: "1", Question: "canary", Choices: []string{"canary"}}, runs.ClarifyResolved{ClarifyID: "1", Response: "canary"},
				runs.ErrorRaised{Reason: "r", Message: "canary", Details: object}, runs.RunDone{Output: "canary"}, runs.TitleUpdated{Title: "canary"},
				runs.UsageFinal{Usage: runs.Usage{InputTokens: 5}}, runs.RunClosed{},
			)
			sync(t, w)
		}
		all, _ := json.Marshal(rows(t, s, "bare"))
		if text := string(all); strings.Contains(text, "canary") || !strings.Contains(text, `"input_tokens":5`) || !strings.Contains(text, `"model":"m"`) {
			t.Errorf("stored %s", text)
		}
		if run, err := j.Look(t.Context(), "bare"); run.Status != runs.Completed || err != nil {
			t.Errorf("run is %+v, %v", run, err)
		}
		if _, err := j.Head(t.Context(), "none"); !errors.Is(err, runs.ErrUnknownRun) {
			t.Errorf("a run that must not be stored: %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// While a store does not keep up, neighbouring deltas of a message become one; then they are left out, and a row says so.
// Whatever else a run says is kept, in its order.
func TestPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) { o.MaxWaiting = 80 })
		w := begin(t, j, "r")
		sync(t, w)
		s.fail.Store(&fault{})
		var want strings.Builder
		for i := range 1000 {
			add(t, w, delta(fmt.Sprintf("%d,", i)))
			fmt.Fprintf(&want, "%d,", i)
		}
		time.Sleep(time.Second)
		s.fail.Store(nil)
		sync(t, w)
		if run, err := j.Look(t.Context(), "r"); run.Output != want.String() || err != nil {
			t.Errorf("the answer is %.100s, %v", run.Output, err)
		}
		if n := len(rows(t, s, "r")); n > 130 { // 64 were being sent, 64 waited
			t.Errorf("1000 deltas made %d rows", n)
		}

		before := int64(len(rows(t, s, "r")))
		s.fail.Store(&fault{})
		for i := range 200 { // no two neighbours belong together
			add(t, w, runs.TokenDelta{MessageID: fmt.Sprint("m", i), Delta: "x"}, runs.ToolStarted{Name: "ls"})
		}
		s.fail.Store(nil)
		add(t, w, runs.RunDone{})
		sync(t, w)
		count := map[runs.Type]int{}
		for _, e := range rows(t, s, "r")[before:] {
			count[e.Type]++
		}
		dropped := int(j.Stats().Dropped)
		if count[runs.TypeToolStarted] != 200 || count[runs.TypeDone] != 1 || count[runs.TypeGap] == 0 || dropped == 0 || count[runs.TypeTokenDelta] != 200-dropped {
			t.Errorf("stored %v, dropped %d", count, dropped)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A run over a cap says so once and keeps its lifecycle; nearing it, small deltas share rows.
func TestRunCaps(t *testing.T) {
	f := func(reason string, change func(*runs.Options)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			j, s, stop := journal(t, change)
			w := begin(t, j, "r")
			for range 3000 {
				add(t, w, delta("0123456789"))
				time.Sleep(6 * time.Millisecond)
			}
			add(t, w, runs.ToolStarted{Name: "ls"}, runs.RunDone{}, runs.RunClosed{})
			sync(t, w)
			log := rows(t, s, "r")
			n := len(log)
			if got, want := line(log[n-4:]), fmt.Sprintf("%d:journal.truncated %d:tool.started %d:done %d:run.closed", n-3, n-2, n-1, n); got != want || n > 110 {
				t.Errorf("%s: %d rows, the last are %s", reason, n, got)
			}
			if got := gjson.GetBytes(log[n-4].Payload, "reason").Str; got != reason {
				t.Errorf("truncated for %s, want %s", got, reason)
			}
			if long := len(log[n-5].Payload); long < 1024 {
				t.Errorf("%s: the last delta has %d bytes", reason, long)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
	f("max_rows", func(o *runs.Options) { o.MaxRunRows = 100 })
	f("max_bytes", func(o *runs.Options) { o.MaxRunBytes = 4096 })
}

// A runtime stamps each of its deltas, and a run of it that nears its caps is stored in as few rows as any other.
func TestStampedDeltas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) { o.MaxRunRows = 100 })
		w := begin(t, j, "r")
		for i := range 500 {
			add(t, w, runs.Raw{Family: runs.TypeTokenDelta, Object: fmt.Appendf(nil, `{"event":"message.delta","timestamp":%d.5,"delta":"x"}`, i)})
			time.Sleep(6 * time.Millisecond)
		}
		add(t, w, runs.RunDone{})
		sync(t, w)
		if run, err := j.Look(t.Context(), "r"); run.Output != strings.Repeat("x", 500) || err != nil {
			t.Errorf("the answer has %d deltas, %v", len(run.Output), err)
		}
		log := rows(t, s, "r")
		if first := gjson.GetBytes(log[len(log)-2].Payload, "timestamp").Num; len(log) > 90 || first < 70 || first > 90 {
			t.Errorf("there are %d rows, and the delta that holds the rest is stamped %v", len(log), first)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Whatever waits when the journal stops is stored, also the delta that was held back to grow.
func TestHeldDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, func(o *runs.Options) { o.MaxRunRows = 4 })
		w := begin(t, j, "r")
		add(t, w, runs.Progress{}, runs.Progress{}, delta("held"))
		time.Sleep(time.Minute)
		if got, want := stored(t, s, "r"), "1:run.started 2:progress 3:progress"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got, want := stored(t, s, "r"), "1:run.started 2:progress 3:progress 4:token.delta"; got != want {
			t.Errorf("log is %s, want %s", got, want)
		}
	})
}

// Any text in any deltas, merged or not, comes out as it went in.
func TestMergedText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 200).Draw(rt, "texts")
		synctest.Test(t, func(t *testing.T) {
			j, _, stop := journal(t, func(o *runs.Options) { o.FlushRows = 2 })
			w := begin(t, j, "r")
			for _, text := range texts {
				add(t, w, delta(text))
			}
			sync(t, w)
			want := strings.Join(texts, "")
			if run, err := j.Look(t.Context(), "r"); run.Output != want || err != nil {
				t.Errorf("the answer is %q, %v, want %q", run.Output, err, want)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	})
}
