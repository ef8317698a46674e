package gemini

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

var update = flag.Bool("update", false, "rewrite what the golden transcripts expect, and print what changed")

// A transcript of testdata/request holds a client's body and what becomes of it; "model" names the account's model, with
// "cloudcode" behind it for the envelope. One of testdata/answer holds an upstream's stream or answer and what a client of
// chat completions gets.
func TestRequestTranscripts(t *testing.T) { // P18 among them: Claude and Gemini behind one Cloud Code account
	each(t, "testdata/request/*.txtar", func(t *testing.T, in map[string][]byte) map[string][]byte {
		model, envelope, _ := strings.Cut(strings.TrimSpace(string(in["model"])), " ")
		r, err := chat.Decode(in["client.json"])
		if err != nil {
			t.Fatalf("the client's body: %v", err)
		}
		encode, target := Encode, neutral.Target{Model: model, Stream: true, MaxOutput: 65536}
		if envelope == "cloudcode" {
			encode, target.Project = EncodeCloudCode, "my-project"
		}
		sent, err := encode(r, target)
		if err != nil {
			return map[string][]byte{"refused": []byte(err.Error() + "\n")}
		}
		out := map[string][]byte{"upstream.json": indented(t, sent.Body)}
		if len(sent.Dropped) > 0 {
			out["dropped"] = []byte(strings.Join(sent.Dropped, "\n") + "\n")
		}
		return out
	})
}

func TestAnswerTranscripts(t *testing.T) {
	each(t, "testdata/answer/*.txtar", func(t *testing.T, in map[string][]byte) map[string][]byte {
		out := map[string][]byte{}
		cloud := in["cloudcode"] != nil
		if s := in["stream"]; s != nil {
			var d neutral.Decoder = &Decoder{}
			if cloud {
				d = &CloudCodeDecoder{}
			}
			text, trail := streamed(d, s)
			out["chunks"] = []byte(text)
			if trail != "" {
				out["trail"] = []byte(trail)
			}
		}
		if body := in["answer.json"]; body != nil {
			decode := DecodeAnswer
			if cloud {
				decode = DecodeCloudCodeAnswer
			}
			events, err := decode(body, nil)
			a := chat.Answer{ID: "chatcmpl-1", Model: "coder", Created: 1}
			trail := ""
			for i := range events {
				a.Add(&events[i])
				if events[i].Kind == neutral.Failed {
					trail = "failed " + string(events[i].Fault) + "\n"
				}
			}
			if err != nil {
				trail += "error " + err.Error() + "\n"
			}
			if trail != "" {
				out["whole trail"] = []byte(trail)
			} else {
				out["completion.json"] = indented(t, a.Append(nil))
			}
		}
		return out
	})
}

// streamed is what a client gets of a stream, and what else became of it.
func streamed(d neutral.Decoder, stream []byte) (text, trail string) {
	out := chat.Stream{ID: "chatcmpl-1", Model: "coder", Created: 1, WantsUse: true}
	var s wire.Splitter
	var dst []byte
	for len(stream) > 0 {
		e, n := s.Split(stream)
		if n == 0 {
			break
		}
		stream = stream[n:]
		if e.Data == nil {
			continue
		}
		events, err := d.Decode(e.Name, e.Data, nil)
		for i := range events {
			dst = out.Append(dst, &events[i])
			if events[i].Kind == neutral.Failed {
				trail += "failed " + string(events[i].Fault) + "\n"
			}
		}
		if err != nil {
			return string(dst), trail + "error " + err.Error() + "\n"
		}
	}
	if d.Whole() {
		dst = out.End(dst)
	} else {
		trail += "not whole\n"
	}
	return string(dst), trail
}

// each runs f over the inputs of every transcript and compares what it returns with the transcript's other files.
func each(t *testing.T, pattern string, f func(*testing.T, map[string][]byte) map[string][]byte) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts at %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			story, names, in := readTranscript(string(text))
			got := f(t, in)
			var fresh strings.Builder
			fresh.WriteString(story)
			for _, name := range names {
				if isInput(name) {
					fresh.WriteString("-- " + name + " --\n" + string(in[name]))
				}
			}
			for _, name := range []string{"upstream.json", "dropped", "refused", "chunks", "trail", "completion.json", "whole trail"} {
				if d := got[name]; d != nil {
					fresh.WriteString("-- " + name + " --\n" + string(d))
				}
			}
			diff := cmp.Diff(string(text), fresh.String())
			if diff == "" {
				return
			}
			if !*update {
				t.Fatalf("(-transcript +got)\n%s", diff)
			}
			fmt.Printf("%s\n%s", path, diff)
			if err := os.WriteFile(path, []byte(fresh.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// readTranscript splits a txtar archive: a comment, then files, each behind a line "-- name --".
func readTranscript(text string) (story string, names []string, files map[string][]byte) {
	files = map[string][]byte{}
	name := ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		inner, isMark := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		if inner, ok := strings.CutSuffix(inner, " --"); ok && isMark {
			name = inner
			names = append(names, name)
			files[name] = []byte{}
			continue
		}
		if name == "" {
			story += line
		} else {
			files[name] = append(files[name], line...)
		}
	}
	return story, names, files
}

func isInput(name string) bool {
	switch name {
	case "model", "client.json", "cloudcode", "stream", "answer.json":
		return true
	}
	return false
}

func indented(t *testing.T, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", " "); err != nil {
		t.Fatalf("is no JSON: %v\n%s", err, body)
	}
	out.WriteByte('\n')
	return out.Bytes()
}
