package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// golden runs f on every archive of a folder. f returns what came out, by the name of the archive's file that holds what
// should have.
func golden(t *testing.T, folder string, f func(t *testing.T, comment string, in func(name string) []byte) map[string]string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no transcripts in testdata/%s: %v", folder, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			comment, files := archive(string(text))
			got := f(t, comment, func(name string) []byte { return []byte(files[name]) })
			for file, text := range got {
				if diff := cmp.Diff(files[file], text); diff != "" {
					t.Errorf("%s (- as written, + as it came out):\n%s", file, diff)
				}
			}
		})
	}
}

// archive splits a transcript into its comment and its files, in the format of txtar.
func archive(text string) (comment string, files map[string]string) {
	files = map[string]string{}
	comment, rest, _ := strings.Cut(text, "\n-- ")
	for piece := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n-- ") {
		if name, content, ok := strings.Cut(piece, " --\n"); ok {
			files[name] = content + "\n"
		}
	}
	return comment + "\n", files
}

// indented is JSON for people.
func indented(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String() + "\n"
}

// What a chat client asks, as the account is asked. The first line of each transcript is a story; words in brackets in it
// name the target: [codex], [stream], [model=…].
func TestEncodeGolden(t *testing.T) {
	golden(t, "encode", func(t *testing.T, comment string, in func(string) []byte) map[string]string {
		target := neutral.Target{Model: "gpt-5.5"}
		for word := range strings.FieldsSeq(comment) {
			word = strings.Trim(word, "[]")
			target.Codex = target.Codex || word == "codex"
			target.Stream = target.Stream || word == "stream"
			if m, ok := strings.CutPrefix(word, "model="); ok {
				target.Model = m
			}
		}
		r, err := chat.Decode(in("chat.json"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Encode(r, target)
		if err != nil {
			return map[string]string{"refused": err.Error() + "\n"}
		}
		return map[string]string{"responses.json": indented(t, out.Body), "dropped": strings.Join(append(out.Dropped, ""), "\n")}
	})
}

// decodeStream splits what an upstream streams, and decodes it.
func decodeStream(stream []byte, f func(e *neutral.Event)) (whole bool, err error) {
	var split wire.Splitter
	var d Decoder
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

// What the account streams, as a chat client gets it, in a stream and whole.
func TestStreamGolden(t *testing.T) {
	golden(t, "stream", func(t *testing.T, _ string, in func(string) []byte) map[string]string {
		s := chat.Stream{ID: "c", Model: "m", Created: 1, WantsUse: true}
		a := chat.Answer{ID: "c", Model: "m", Created: 1}
		var out []byte
		fault := ""
		whole, err := decodeStream(in("upstream"), func(e *neutral.Event) {
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
		case !whole:
			got["error"] = "cut\n"
		case fault != "":
			got["fault"] = fault + "\n"
		default:
			out = s.End(out)
			got["answer"] = indented(t, a.Append(nil))
		}
		got["client"] = strings.ReplaceAll(string(out), `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m",`, "{")
		return got
	})
}

// What the account answers whole, as a chat client gets it.
func TestAnswerGolden(t *testing.T) {
	golden(t, "answer", func(t *testing.T, _ string, in func(string) []byte) map[string]string {
		events, err := DecodeAnswer(in("response.json"), nil)
		if err != nil {
			return map[string]string{"error": err.Error() + "\n"}
		}
		a := chat.Answer{ID: "c", Model: "m", Created: 1}
		for i := range events {
			a.Add(&events[i])
			if events[i].Kind == neutral.Failed {
				return map[string]string{"fault": string(events[i].Fault) + "\n"}
			}
		}
		return map[string]string{"answer": indented(t, a.Append(nil))}
	})
}
