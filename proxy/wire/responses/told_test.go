package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// callees are those of the tests.
var callees = map[string]Callee{"patch": {Name: "patch", Custom: true}, "files__read": {Name: "read", Namespace: "files"}}

// chatStream decodes what a chat account streams.
func chatStream(stream []byte, f func(e *neutral.Event)) (whole bool, err error) {
	var split wire.Splitter
	var d chat.Decoder
	var events []neutral.Event
	for rest := stream; len(rest) > 0; {
		e, n := split.Split(rest)
		if n == 0 {
			return false, io.ErrUnexpectedEOF
		}
		rest = rest[n:]
		if e.Data == nil {
			continue
		}
		events, err = d.Decode(e.Name, e.Data, events[:0])
		for i := range events {
			f(&events[i])
		}
		if err != nil {
			return false, err
		}
	}
	return d.Whole(), nil
}

// What an account of chat completions streams, as a client of Responses gets it, in a stream and whole.
func TestToldGolden(t *testing.T) {
	golden(t, "told", func(t *testing.T, _ string, in func(string) []byte) map[string]string {
		s := Stream{ID: "resp_1", Model: "m", Created: 1, Echo: []byte(`,"tools":[]`), Callees: callees}
		a := Answer{Stream: s}
		var out []byte
		fault := ""
		whole, err := chatStream(in("upstream"), func(e *neutral.Event) {
			out = s.Append(out, e)
			a.Add(e)
			if e.Kind == neutral.Failed {
				fault = string(e.Fault)
			}
		})
		got := map[string]string{}
		switch {
		case err != nil:
			got["error"] = err.Error() + "\n"
		case fault != "":
			got["fault"] = fault + "\n"
		case !whole:
			got["error"] = "cut\n"
		default:
			out = s.End(out)
			got["answer"] = indented(t, a.Append(nil))
			follows(t, out, a.Append(nil))
		}
		got["client"] = strings.ReplaceAll(string(out), "\n\n", "\n")
		return got
	})
}

// follows checks a stream by the protocol's rules: numbers without a gap; every item is added, told and done under one id;
// deltas make the text that is told at the end; and the response at the end holds what was told, and is the whole answer.
func follows(t *testing.T, stream, answer []byte) {
	t.Helper()
	type item struct{ added, done json.RawMessage }
	items := map[int]*item{}
	texts, ends := map[string]string{}, 0
	var order []string
	next := 0
	for raw := range bytes.SplitSeq(bytes.TrimSuffix(stream, []byte("\n\n")), []byte("\n\n")) {
		name, data, ok := bytes.Cut(raw, []byte("\ndata: "))
		var e struct {
			Type           string
			SequenceNumber int    `json:"sequence_number"`
			Output         int    `json:"output_index"`
			ItemID         string `json:"item_id"`
			Content        int    `json:"content_index"`
			Summary        int    `json:"summary_index"`
			Item           json.RawMessage
			Delta          string
			Text, Refusal  *string
			Arguments      *string
			Input          *string
			Response       json.RawMessage
		}
		if err := json.Unmarshal(data, &e); !ok || err != nil || string(name) != "event: "+e.Type {
			t.Fatalf("%v in %q", err, raw)
		}
		if e.SequenceNumber != next {
			t.Fatalf("number %d, want %d: %s", e.SequenceNumber, next, raw)
		}
		next++
		place := fmt.Sprint(e.Output, e.ItemID, e.Content, e.Summary)
		for _, told := range []*string{e.Text, e.Refusal, e.Arguments, e.Input} {
			if told != nil && texts[place] != *told && (texts[place] != "" || *told != "{}") {
				t.Errorf("told %q in pieces, %q at the end", texts[place], *told)
			}
		}
		switch {
		case e.Type == "response.output_item.added":
			if items[e.Output] != nil || e.Output != len(items) {
				t.Fatalf("item %d is added out of turn", e.Output)
			}
			items[e.Output] = &item{added: e.Item}
		case e.Type == "response.output_item.done":
			if items[e.Output] == nil || items[e.Output].done != nil || idIn(e.Item) != idIn(items[e.Output].added) {
				t.Fatalf("item %d is done out of turn: %s", e.Output, raw)
			}
			items[e.Output].done = e.Item
		case e.ItemID != "":
			if it := items[e.Output]; it == nil || it.done != nil || idIn(it.added) != e.ItemID {
				t.Fatalf("an event of an item that is not open: %s", raw)
			}
			texts[place] += e.Delta
		default:
			order = append(order, e.Type)
		}
		if e.Type == "response.completed" || e.Type == "response.incomplete" {
			ends++
			var r struct{ Output []json.RawMessage }
			if err := json.Unmarshal(e.Response, &r); err != nil || len(r.Output) != len(items) {
				t.Fatalf("%v: %d items of %d in %s", err, len(r.Output), len(items), e.Response)
			}
			for i, one := range r.Output {
				if !bytes.Equal(one, items[i].done) {
					t.Errorf("item %d was %s, and is %s", i, items[i].done, one)
				}
			}
			if !bytes.Equal(e.Response, answer) {
				t.Errorf("the end of the stream and the whole answer differ: %s", cmp.Diff(string(answer), string(e.Response)))
			}
		}
	}
	if ends != 1 || len(order) != 3 || !slices.Equal(order[:2], []string{"response.created", "response.in_progress"}) {
		t.Errorf("events of the response: %v", order)
	}
}

func idIn(item json.RawMessage) string {
	var i struct{ ID string }
	if json.Unmarshal(item, &i) != nil || i.ID == "" {
		return "none"
	}
	return i.ID
}

// Whatever a chat account streams, what the client gets keeps to the protocol.
func FuzzTold(f *testing.F) {
	for _, seed := range []string{
		`{"id":"c","choices":[{"delta":{"role":"assistant","content":"a","reasoning_content":"b"}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"patch","arguments":"{\"input\":\"y\"}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}` + "\n\ndata: [DONE]",
		`{"choices":[{"delta":{"refusal":"no","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s"},{"type":"reasoning.encrypted","data":"d","id":"x","format":"google-gemini-v1"}]},"finish_reason":"length"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":{}},"extra_content":{"google":{"thought_signature":"z"}}},{"function":{"name":"files__read"}}]},"finish_reason":"tool_calls"}]}`,
		`{"error":{"message":"x"}}`,
	} {
		f.Add([]byte("data: " + seed + "\n\n"))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := Stream{ID: "resp_1", Model: "m", Callees: callees}
		a := Answer{Stream: s}
		var out []byte
		failed := false
		whole, err := chatStream(stream, func(e *neutral.Event) {
			out = s.Append(out, e)
			a.Add(e)
			failed = failed || e.Kind == neutral.Failed
		})
		if whole && !failed && err == nil {
			follows(t, s.End(out), a.Append(nil))
		}
		if events, err := chat.DecodeAnswer(stream, nil); err == nil && len(events) == 0 {
			t.Errorf("%q is an answer of nothing", stream)
		}
	})
}
