package responses

import (
	"encoding/json"
	"slices"
	"testing"

	"hermes-hub/proxy/wire"
)

func TestForCodex(t *testing.T) {
	f := func(body, want string, wantDropped ...string) {
		t.Helper()
		r, err := wire.ReadRequest([]byte(body), wire.Responses)
		if err != nil {
			t.Fatal(err)
		}
		edits, dropped := ForCodex([]byte(body), nil)
		edits = r.Upstream([]byte(body), "gpt", true, edits)
		if got := string(wire.Splice(nil, []byte(body), edits)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
		if !slices.Equal(dropped, wantDropped) {
			t.Errorf("%s\ndropped %q, want %q", body, dropped, wantDropped)
		}
	}
	// What Codex's own client sends stays as it is.
	f(`{"model":"gpt","instructions":"Be","input":[{"type":"message","role":"developer","content":[]}],"store":false, "stream":true,"client_metadata":{"a":"b"}}`,
		`{"model":"gpt","instructions":"Be","input":[{"type":"message","role":"developer","content":[]}],"store":false, "stream":true,"client_metadata":{"a":"b"}}`)
	// What an SDK sends does not.
	f(`{"temperature":1,"model":"m","input":"Hi","user":"u"}`,
		`{"store":false,"stream":true,"instructions":"You are a helpful assistant.","model":"gpt","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}`, "temperature", "user")
	f(`{"max_output_tokens":9,"input":[{"role":"system","content":"x"}, {"role":"user","content":"y"}],"metadata":{},"store":true,"instructions":null,"stream":false}`,
		`{"model":"gpt","input":[{"role":"developer","content":"x"}, {"role":"user","content":"y"}],"store":false,"instructions":"You are a helpful assistant.","stream":true}`, "max_output_tokens", "metadata")
	f(`{ "truncation":"auto" , "top_p":1 , "input":[] }`,
		`{"store":false,"stream":true,"instructions":"You are a helpful assistant.","model":"gpt", "input":[] }`, "truncation", "top_p")
}

// Whatever a client sends, and whatever else is edited, the result is JSON and holds nothing that is refused.
func FuzzForCodex(f *testing.F) {
	f.Add([]byte(`{"temperature":1,"model":"m","input":"Hi","user":"u"}`))
	f.Add([]byte(` {"input":[{"role":"system"},{"type":"reasoning","encrypted_content":"x"}] ,"store":true}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := wire.ReadRequest(body, wire.Responses)
		if err != nil {
			return
		}
		edits, _ := wire.UnsealResponses(body, func([]byte) bool { return false }, nil)
		edits, _ = ForCodex(body, edits)
		edits = r.Upstream(body, "gpt", true, edits)
		got := wire.Splice(nil, body, edits)
		if !json.Valid(got) {
			t.Fatalf("%q becomes %q", body, got)
		}
		if _, left := wire.Without(got, unknownToCodex, nil); len(left) > 0 {
			t.Fatalf("%q keeps %q", body, left)
		}
	})
}
