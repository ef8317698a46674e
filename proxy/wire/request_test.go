package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadRequest(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		r, err := ReadRequest([]byte(body), Chat)
		got := fmt.Sprintf("model=%s stream=%t usage=%t role=%s session=%s", r.Model, r.Stream, r.WantsUse, r.Role, r.Session)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(`{"model":"m","messages":[]}`, `model=m stream=false usage=false role= session=`)
	f(`{"messages":[{"role":"user","content":"{\"model\":\"x\"}"}],"stream":true,"stream_options":{"include_usage":true},"model":"m"}`, `model=m stream=true usage=true role= session=`)
	f(`{"model":null,"messages":[],"stream":null,"metadata":null,"stream_options":null}`, `model= stream=false usage=false role= session=`)
	f(`{"model":"m","messages":[],"metadata":{"role":"coder","session_id":"s","user_id":"u"},"user":"w"}`, `model=m stream=false usage=false role=coder session=s`)
	f(`{"model":"m","messages":[],"prompt_cache_key":"k","metadata":{"session_id":"s"},"user":"w"}`, `model=m stream=false usage=false role= session=k`)
	f(`{"model":"m","messages":[],"metadata":{"user_id":"u"},"user":"w"}`, `model=m stream=false usage=false role= session=u`)
	f(`{"model":"m","messages":[],"user":"w"}`, `model=m stream=false usage=false role= session=w`)

	f(`{"model":"m"}`, `messages is missing from the request body`)
	f(`{"model":"m","messages":"hi"}`, `messages must be an array, not a string`)
	f(`{"model":1,"messages":[]}`, `model must be a string, not a number`)
	f(`{"model":"m","messages":[],"stream":"yes"}`, `stream must be a boolean, not a string`)
	f(`{"model":"m","messages":[],"stream_options":true}`, `stream_options must be an object, not a boolean`)
	f(`{"model":"m","messages":[],"stream_options":{"include_usage":1}}`, `stream_options.include_usage must be a boolean, not a number`)
	f(`{"model":"m","messages":[],"metadata":[]}`, `metadata must be an object, not an array`)
	f(`{"model":"m","messages":[],"metadata":{"role":{}}}`, `metadata.role must be a string, not an object`)
	f(`{"model":"m","messages":[],"user":[]}`, `user must be a string, not an array`)
	// A duplicate would route one way and be billed another: the spelling tricks of readers that fold case or unescape count too.
	f(`{"model":"cheap","model":"dear","messages":[]}`, `model stands twice in the request body`)
	f(`{"model":"cheap","mod\u0065l":"dear","messages":[]}`, `model stands twice in the request body`)
	f(`{"Model":"dear","messages":[]}`, `Model must be spelled "model" in the request body`)
	f(`{"model":"m","messages":[],"stream":true,"stream":false}`, `stream stands twice in the request body`)
	f(`{"model":"m","messages":[],"metadata":{"role":"a","role":"b"}}`, `metadata.role stands twice in the request body`)
	f(`{"model":"m","messages":[],"stream_options":{"include_usage":true,"include_usage":false}}`, `stream_options.include_usage stands twice in the request body`)
	f("{\"model\":\"\xff\",\"messages\":[]}", `invalid JSON at byte 10: not UTF-8`)
	f(`not json`, `invalid JSON at byte 0: expected an object`)
	f(``, `invalid JSON at byte 0: expected an object`)
}

// The other kinds need another member, which may be a string or a list; what has no stream refuses one.
func TestReadOtherRequests(t *testing.T) {
	f := func(s Shape, body, want string) {
		t.Helper()
		r, err := ReadRequest([]byte(body), s)
		got := fmt.Sprintf("model=%s stream=%t", r.Model, r.Stream)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(Completion, `{"model":"m","prompt":"x","stream":true}`, `model=m stream=true`)
	f(Completion, `{"model":"m","prompt":["x","y"]}`, `model=m stream=false`)
	f(Completion, `{"model":"m","messages":[]}`, `prompt is missing from the request body`)
	f(Completion, `{"model":"m","prompt":"x","Prompt":"y"}`, `prompt stands twice in the request body`)
	f(Embedding, `{"model":"m","input":"x"}`, `model=m stream=false`)
	f(Embedding, `{"model":"m","input":null}`, `input is missing from the request body`)
	f(Embedding, `{"model":"m","input":"x","stream":true}`, `stream cannot be true here: this answer has no stream`)
}

func TestUpstreamSplice(t *testing.T) {
	f := func(body, model string, ask bool, want string) {
		t.Helper()
		r, err := ReadRequest([]byte(body), Chat)
		if err != nil {
			t.Fatal(err)
		}
		got := Splice(nil, []byte(body), r.Upstream([]byte(body), model, ask, nil))
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	f(`{"model":"a", "x": 1.0,"big":9007199254740993,"messages":[ ]}`, "b", true, `{"model":"b", "x": 1.0,"big":9007199254740993,"messages":[ ]}`)
	f(`{"model":"a","messages":[]}`, "a", true, `{"model":"a","messages":[]}`)
	f(`{"messages":[]}`, "b", true, `{"model":"b","messages":[]}`)
	f(`{"model":"a","messages":[],"stream":true}`, "b", true, `{"stream_options":{"include_usage":true},"model":"b","messages":[],"stream":true}`)
	f(`{"model":"a","messages":[],"stream":true}`, "b", false, `{"model":"b","messages":[],"stream":true}`)
	f(`{"messages":[],"stream":true}`, "b", true, `{"model":"b","stream_options":{"include_usage":true},"messages":[],"stream":true}`)
	f(`{"stream_options":null,"model":"a","messages":[],"stream":true}`, "b", true, `{"stream_options":{"include_usage":true},"model":"b","messages":[],"stream":true}`)
	f(`{"stream_options":{ },"model":"a","messages":[],"stream":true}`, "b", true, `{"stream_options":{"include_usage":true},"model":"b","messages":[],"stream":true}`)
	f(`{"stream_options":{"x":1},"model":"a","messages":[],"stream":true}`, "b", true, `{"stream_options":{"include_usage":true,"x":1},"model":"b","messages":[],"stream":true}`)
	f(`{"model":"a","messages":[],"stream":true,"stream_options":{"include_usage":false}}`, "b", true, `{"model":"b","messages":[],"stream":true,"stream_options":{"include_usage":true}}`)
	f(`{"model":"a","messages":[],"stream":true,"stream_options":{"include_usage":true}}`, "b", true, `{"model":"b","messages":[],"stream":true,"stream_options":{"include_usage":true}}`)
	f(`{"model":"a","messages":[]}`, `q"uo<te`+"\n", true, `{"model":"q\"uo\u003cte\n","messages":[]}`)
}

// The spliced body must say what the client's said, but for the model and the demand for usage: checked against the slow
// way, decode, change, compare.
func FuzzUpstreamSplice(f *testing.F) {
	f.Add([]byte(`{"model":"a","messages":[],"stream":true,"stream_options":{"x":[1,2]}}`), "gpt-5.5", true)
	f.Add([]byte(` {"messages":[{"role":"user"}],"stream":true , "metadata":{"role":"r"}}`), "м", true)
	f.Add([]byte(`{"stream_options":{"include_usage":false,"y":null},"stream":true,"messages":[],"model":"\u0061"}`), "b\"", false)
	f.Fuzz(func(t *testing.T, body []byte, model string, ask bool) {
		r, err := ReadRequest(body, Chat)
		if err != nil || !utf8.ValidString(model) {
			return
		}
		got := Splice(nil, body, r.Upstream(body, model, ask, nil))
		var was, is map[string]any
		if err := json.Unmarshal(body, &was); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("spliced %q: %v", got, err)
		}
		was["model"] = model
		if r.Stream && ask {
			o, _ := was["stream_options"].(map[string]any)
			if o == nil {
				o = map[string]any{}
			}
			o["include_usage"] = true
			was["stream_options"] = o
		}
		w, _ := json.Marshal(was)
		g, _ := json.Marshal(is)
		if string(w) != string(g) {
			t.Fatalf("\n got %s\nwant %s", g, w)
		}
	})
}

func BenchmarkReadRequest(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum dolor ", size/18) + `"}],"stream":true,"model":"gpt-5.5"}`)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadRequest(body, Chat); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSplice(b *testing.B) {
	body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum dolor ", 3600) + `"}],"stream":true,"model":"gpt-5.5"}`)
	r, err := ReadRequest(body, Chat)
	if err != nil {
		b.Fatal(err)
	}
	var edits []Edit
	var out []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		edits = r.Upstream(body, "claude-sonnet-5", true, edits[:0])
		out = Splice(out[:0], body, edits)
	}
}
