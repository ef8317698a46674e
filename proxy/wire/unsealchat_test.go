package wire

import (
	"encoding/json"
	"testing"
)

func TestUnsealChat(t *testing.T) {
	f := func(body, want string, wantRemoved int) {
		t.Helper()
		keep := func(value []byte) bool { return string(value) == "own" }
		edits, removed := UnsealChat([]byte(body), keep, nil)
		got := string(Splice(nil, []byte(body), edits))
		if got != want || len(removed) != wantRemoved || !json.Valid([]byte(got)) {
			t.Errorf("\n got %s %q\nwant %s", got, removed, want)
		}
	}
	same := func(body string) { f(body, body, 0) }
	same(`{"messages":[{"role":"user","content":"\"reasoning_details\""}]}`)
	same(`{"messages":[{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"own"}, {"type":"reasoning.text","text":"b"}]}]}`)
	same(`{"messages":[{"role":"assistant","reasoning_details":null}, 7, {"reasoning_details":{"data":"x"}}]}`)
	f(`{"messages":[{"role":"assistant","reasoning_details":[{"data":"x"}, {"signature":"own"},{"data":"y"}],"content":"c"}]}`,
		`{"messages":[{"role":"assistant","reasoning_details":[{"signature":"own"}],"content":"c"}]}`, 2)
	f(`{"messages":[{"reasoning_details":[{"data":"x"}],"tool_calls":[{"id":"1","extra_content":{"google":{"thought_signature":"z"}}}]}]}`,
		`{"messages":[{"reasoning_details":[],"tool_calls":[{"id":"1","extra_content":{}}]}]}`, 2)
}

func FuzzUnsealChat(f *testing.F) {
	f.Add([]byte(`{"messages":[{"reasoning_details":[{"data":"x"}],"tool_calls":[{"extra_content":{"google":{"thought_signature":"z"}}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := ReadRequest(body, Chat); err != nil {
			return
		}
		edits, _ := UnsealChat(body, func([]byte) bool { return false }, nil)
		if got := Splice(nil, body, edits); !json.Valid(got) {
			t.Errorf("%q became %q", body, got)
		}
	})
}
