package wire

import (
	"encoding/json"
	"testing"
)

// A client that did not ask for a stream, served by an account that only streams.
func TestResponseFold(t *testing.T) {
	f := func(want string, events ...string) {
		t.Helper()
		var fold ResponseFold
		for _, e := range events {
			fold.Add([]byte(e))
		}
		got, ok := fold.Append(nil)
		if ok != (want != "") || string(got) != want || ok && !json.Valid(got) {
			t.Errorf("%q\n got %s %t\nwant %s", events, got, ok, want)
		}
	}
	const one, two = `{"type":"response.output_item.done","item":{"id":"a"}}`, `{"type":"response.output_item.done","output_index":1,"item":{"id":"b"}}`
	f(`{"id":"r","output":[{"id":"a"},{"id":"b"}],"status":"completed"}`, one, `{"type":"response.output_text.delta","delta":"x"}`, two, `{"type":"response.completed","response":{"id":"r","output":[],"status":"completed"}}`)
	f(`{"output":[{"id":"a"}],"id":"r"}`, one, `{"type":"response.incomplete","response":{"id":"r"}}`)
	f(`{"output":[{"id":"a"}]}`, one, `{"type":"response.completed","response":{}}`)
	f(`{"output":[{"id":"told"}]}`, one, `{"type":"response.completed","response":{"output":[{"id":"told"}]}}`)
	f(`{"id":"r","output":[]}`, `{"type":"response.completed","response":{"id":"r","output":[]}}`)
	f(``, one)
	f(``, one, `{"type":"response.failed","response":{"id":"r"}}`)
	f(``, `{"type":"response.completed"}`, `[DONE]`, ``)
}

func FuzzResponseFold(f *testing.F) {
	f.Add([]byte(`{"type":"response.output_item.done","item":{"id":"a"}}`), []byte(`{"type":"response.completed","response":{"output":null}}`))
	f.Add([]byte(`{"type":"response.output_item.done","item":1}`), []byte(`{"type":"response.completed","response":{ "output":[ ],"output":[]}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		if !json.Valid(first) || !json.Valid(second) {
			return // an event that is not JSON has ended the stream before
		}
		var fold ResponseFold
		fold.Add(first)
		fold.Add(second)
		if got, ok := fold.Append(nil); ok && !json.Valid(got) {
			t.Fatalf("%q and %q give %q", first, second, got)
		}
	})
}

func TestWithout(t *testing.T) {
	f := func(body, want string, wantRemoved int) {
		t.Helper()
		edits, removed := Without([]byte(body), []string{"x", "y"}, nil)
		if got := string(Splice(nil, []byte(body), edits)); got != want || len(removed) != wantRemoved {
			t.Errorf("%s\n got %s, %q removed\nwant %s", body, got, removed, want)
		}
	}
	f(`{"x":1,"a":2}`, `{"a":2}`, 1)
	f(`{ "a":2 , "x":"y" }`, `{ "a":2 }`, 1)
	f(`{"x":1, "y":{"x":1}, "a":{"x":1}, "x" : [1]}`, `{"a":{"x":1}}`, 3)
	f(`{"x":1}`, `{}`, 1)
	f(`{"\u0078":1,"a":2}`, `{"a":2}`, 1)
	f(`{}`, `{}`, 0)
}
