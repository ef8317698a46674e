package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime/fakehermes"
)

func newTale() *hermesTale {
	return &hermesTale{text: hermesText{all: true}, approvals: newHermesAsked(), clarifies: newHermesAsked(), stopped: func() bool { return false }}
}

// frames are all frames of a stream, as text.
func frames(r io.Reader, longest int) string {
	f := newSSEFrames(r)
	f.max = longest
	var b strings.Builder
	for {
		frame, err := f.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				b.WriteString(err.Error())
			}
			return b.String()
		}
		if frame.tooLong {
			frame.data = []byte("too long")
		}
		b.WriteString("[" + frame.name + "|" + string(frame.data) + "]")
	}
}

// E11: streams as servers and proxies write them.
func TestHermesFrames(t *testing.T) {
	f := func(stream, want string) {
		t.Helper()
		for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream)), iotest.DataErrReader(strings.NewReader(stream))} {
			if got := frames(r, 20); got != want {
				t.Errorf("%q is %q, want %q", stream, got, want)
			}
		}
	}
	f("", "")
	f("data: {}\n\n", "[|{}]")
	f("data:{}\n\ndata: 2\n\n", "[|{}][|2]")
	f("data: 1\r\n\r\ndata: 2\r\n\r\n", "[|1][|2]")
	f(": keepalive\n\ndata: 1\n\n: stream closed\n\n", "[|1]")
	f(": a\ndata: 1\n: b\ndata: 2\n\n", "[|1\n2]")
	f("event: x\nid: 7\nretry: 1\ndata: 1\n\ndata: 2\n\n", "[x|1][|2]")
	f("event: x\n\ndata: 2\n\n", "[|2]")
	f("data\n\n", "[|]")
	f("data: 1", "[|1]")
	f("data: 1\n", "[|1]")
	f("data: {\"cut", "[|{\"cut]")
	f("data: 12345678901234567890\n\n", "[|12345678901234567890]")
	f("data: 123456789012345678901\n\ndata: 2\n\n", "[|too long][|2]")
	f("data: 1234567890\ndata: 1234567890\n\ndata: 2\n\n", "[|too long][|2]")
	f(": 123456789012345678901234567890\ndata: 2\n\n", "[|2]")
	f("\n\n\n", "")
}

// A hostile runtime costs no more than its rows: too long, not UTF-8, not JSON, not events, cut short. The run goes on.
func TestHermesHostileFrames(t *testing.T) {
	bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
		t.Raw("data: {\"event\":\"message.delta\",\"delta\":\"a\xff\"}\n\n")
		t.Raw("data: {\"event\":\"message.delta\",\"delta\":\"" + strings.Repeat("x", 9<<20) + "\"}\n\n")
		t.Raw("data: {\"event\":\"message.delta\"\n\n")
		t.Raw("data: [1,2]\r\n\r\n")
		t.Raw("data: {\"event\":7,\"delta\":{}}\n\n")
		t.Raw("data: {\"event\":\"message.delta\",\"delta\":null}\n\n")
		t.Raw("data: {\"event\":\"run.started\",\"writer_hash\":\"x\",\"status\":\"completed\"}\n\n")
		t.Raw("data: {\"event\":\"journal.gap\"}\n\n")
		t.Raw("data: {\"event\":\"token.delta\",\"terminal\":true}\n\n")
		t.Raw("data: {\"event\":\"message.delta\",\"delta\":\"" + strings.Repeat("y", 5<<20) + "\"}\n\n")
		t.Raw("data: {\"event\":\"message.delta\",\"delta\":\"cut sh")
		t.Cut()
		return "after all", nil
	}, func(t *testing.T, rig *hermesRig) {
		rows := rig.starts(hello).end()
		run := folded(rows)
		if run.Output != "after all" || run.Status != runs.Completed || count(rows, runs.TypeStarted) != 1 || run.WriterHash != "" {
			t.Errorf("run is %.500v", run)
		}
		for _, e := range rows {
			if !utf8.Valid(e.Payload) || !json.Valid(e.Payload) || len(e.Payload) > 300<<10 || bytes.ContainsAny(e.Payload, "\r\n") {
				t.Errorf("a row is not fit to be sent: %.100q", e.Payload)
			}
		}
	})
}

// Words that are not Hermes' own are understood all the same.
func TestHermesOtherWords(t *testing.T) {
	f := func(frame, want string) {
		t.Helper()
		rows, _ := newTale().read(sseFrame{data: []byte(frame)}, time.Unix(1, 0))
		var got []string
		for _, row := range rows {
			text, err := json.Marshal(row)
			if raw, ok := row.(runs.Raw); ok {
				text, err = raw.Object, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(row.Type())+" "+string(text))
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s: %s", frame, diff)
		}
	}
	f(`[DONE]`, ``)
	f(`{"type":"message.delta","delta":"x"}`, `token.delta {"type":"message.delta","delta":"x"}`)
	f(`{"choices":[{"delta":{"content":"x"}}]}`, `token.delta {"choices":[{"delta":{"content":"x"}}],"delta":"x"}`)
	f(`{"choices":[{"delta":{"reasoning_content":"r","content":"x"}}]}`, "reasoning.delta {\"choices\":[{\"delta\":{\"reasoning_content\":\"r\",\"content\":\"x\"}}],\"delta\":\"r\"}\n"+
		`token.delta {"choices":[{"delta":{"reasoning_content":"r","content":"x"}}],"delta":"x"}`)
	f(`{"choices":[{"message":{"content":"whole"}}]}`, `token.delta {"choices":[{"message":{"content":"whole"}}],"delta":"whole"}`)
	f(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, `usage.updated {"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}`)
	f(`{"error":{"message":"no","code":"x"}}`, `error {"type":"error","code":"runtime_error","message":"no","details":{"message":"no","code":"x"},"terminal":false}`)
	f(`{"event":"run.interrupted"}`, `error {"event":"run.interrupted","type":"interrupted","code":"runtime_interrupted","message":"The runtime was stopped before the run ended.","terminal":true}`)
	f(`{"event":"run.failed","error":{"message":"no","code":"c"},"type":"cancelled"}`, `error {"event":"run.failed","error":{"message":"no","code":"c"},"type":"error","message":"no","terminal":true,"runtime_type":"cancelled","code":"c"}`)
	f(`{"event":"tool.started","tool":"x","tool_call_id":"c1"}`, `tool.started {"event":"tool.started","tool":"x","tool_call_id":"c1","name":"x"}`)
	f(`{"event":"clarify.request","question":"q"}`, `clarify.requested {"event":"clarify.request","question":"q","clarify_id":"asked-1000000"}`)
	f(`{"event":"approval.request","request_id":"r1","command":"c"}`, `approval.requested {"event":"approval.request","request_id":"r1","command":"c","approval_id":"r1"}`)
	f(`{"event":"approval.request","id":"r1"}`, `approval.requested {"event":"approval.request","id":"r1","approval_id":"r1"}`)
	f(`{"event":"approval.responded","choice":"once"}`, ``)
}

// Tools without ids are paired by their names, first come first done; ids of the runtime's own are kept.
func TestHermesTools(t *testing.T) {
	tale, ids := newTale(), map[string]string{}
	var got []string
	for _, step := range []string{"started a", "started b", "started a", "completed a", "completed b", "completed a", "completed a", "started a", "completed a"} {
		verb, tool, _ := strings.Cut(step, " ")
		rows, _ := tale.read(sseFrame{data: []byte(`{"event":"tool.` + verb + `","tool":"` + tool + `"}`)}, time.Unix(1, 0))
		id := gjson.GetBytes(rows[0].(runs.Raw).Object, "tool_call_id").Str
		if id != "" && ids[id] == "" {
			ids[id] = string(rune('1' + len(ids)))
		}
		got = append(got, step+" "+ids[id])
	}
	want := []string{"started a 1", "started b 2", "started a 3", "completed a 1", "completed b 2", "completed a 3", "completed a ", "started a 4", "completed a 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the deltas have not said of an output, whatever they had said before it.
func TestHermesRest(t *testing.T) {
	f := func(text, output, want string) {
		t.Helper()
		told := hermesText{all: true}
		told.add(text)
		if got := told.rest(output); got != want {
			t.Errorf("after %q of %q remains %q, want %q", text, output, got, want)
		}
	}
	f("", "", "")
	f("", "Hello", "Hello")
	f("Hel", "Hello", "lo")
	f("Hello", "Hello", "")
	f("I look. Hel", "Hello", "lo")
	f("I look. ", "Hello", "Hello")
	f("aab", "aabaab", "aab")
	f("xaabaa", "aabaab", "b")
	f("Hello, and more", "Hello", "Hello")
	f("wö", "wörld", "rld")
	f("I look. \n\nHello \n", "Hello", "")
	f("Hello", "", "")
	long := hermesText{all: true}
	for range 40 {
		long.add(strings.Repeat("0123456789", 10_000))
	}
	if long.all || long.rest(string(long.tail)+"rest") != "rest" || len(long.tail) > 2*hermesMaxTail {
		t.Errorf("of a long text %d bytes are kept", len(long.tail))
	}
}

// However a text is cut, what was told and what remains are the text.
func FuzzHermesRest(f *testing.F) {
	f.Add("I look. ", "Hello", 3)
	f.Add("", "aabaab", 4)
	f.Fuzz(func(t *testing.T, before, output string, cut int) {
		if cut < 0 || cut > len(output) {
			return
		}
		told := hermesText{all: true}
		told.add(before + output[:cut])
		rest := told.rest(output)
		if !strings.HasSuffix(before+output[:cut]+rest, output) {
			t.Errorf("after %q of %q remains %q", before+output[:cut], output, rest)
		}
		if before == "" && output[:cut]+rest != output {
			t.Errorf("%q remains of %q after %d bytes", rest, output, cut)
		}
	})
}

// Whatever a runtime streams: nothing panics, every row can be stored, nothing follows an end, and only what may ends a run.
func FuzzHermesStream(f *testing.F) {
	f.Add([]byte("data: {\"event\":\"message.delta\",\"delta\":\"x\"}\n\ndata: {\"event\":\"run.completed\",\"output\":\"x\",\"usage\":{}}\n\n"))
	f.Add([]byte("event: approval.request\r\ndata: {\"command\":\"x\"}\r\n\r\ndata: {\"event\":\"approval.responded\",\"resolved\":-1}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":7}}],\"usage\":{\"prompt_tokens\":1e300},\"error\":\"e\"}\n\n: x\n\ndata: [DONE]"))
	f.Add([]byte("data: {\"event\":\"tool.completed\",\"tool\":\"\"}\n\ndata: {\"event\":\"run.failed\",\"error\":[]}\n\ndata\xff: 1"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		tale, stream1 := newTale(), newSSEFrames(bytes.NewReader(stream))
		j := runs.New(runs.Options{})
		w, err := j.Begin(playID, runs.Origin{}, runs.Redacted, runs.RunStarted{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			frame, err := stream1.next()
			if err != nil {
				return
			}
			rows, ended := tale.read(frame, time.Unix(1, 0))
			for _, row := range rows {
				if err := w.Append(row); err != nil {
					t.Fatalf("%q: %v", frame.data, err)
				}
				if raw, ok := row.(runs.Raw); ok && !gjson.ParseBytes(raw.Object).IsObject() {
					t.Fatalf("%q became %q", frame.data, raw.Object)
				}
			}
			if ended != w.Ended() {
				t.Fatalf("%q: ended is %v, and the journal says %v", frame.data, ended, w.Ended())
			}
			if ended {
				return
			}
		}
	})
}

// The same over real connections: a run that is cut, one that is stopped, and a server that goes away.
func TestHermesLoopback(t *testing.T) {
	fake := fakehermes.New(fakehermes.Options{Key: "k"}, func(t *fakehermes.Turn) (string, error) {
		t.Say("Hel")
		if gjson.GetBytes(t.Body, "input").Str == "stop me" {
			t.Wait(nil)
		}
		t.Say("lo")
		return "Hello", nil
	})
	defer fake.Close()
	base, closeAll, err := fake.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	rig := &hermesRig{t: t, store: new(memstore.Store), fake: fake, id: "run_cut"}
	rig.h = rig.hermes(HermesOptions{BaseURL: base, APIKey: func() string { return "k" }})
	defer rig.opens("one")()

	fake.CutAfter(1)
	if run := folded(rig.starts(hello).end()); run.Output != "Hello" || run.Status != runs.Completed {
		t.Errorf("run is %+v", run)
	}
	fake.CutAfter(-1)
	rig.id = "run_stopped"
	p := rig.starts(`{"input":"stop me"}`)
	if err := p.control(Cancel, "", ""); err != nil {
		t.Fatal(err)
	}
	if run := folded(p.end()); run.Status != runs.Canceled {
		t.Errorf("run is %+v", run)
	}
	closeAll()
	_, err = rig.h.Start(t.Context(), playID, Order{Body: json.RawMessage(hello)})
	wantRefused(t, err, 503, "runtime_unavailable")
}
