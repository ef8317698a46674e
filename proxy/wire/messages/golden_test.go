package messages

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/chat"
	"hermes-hub/proxy/wire/neutral"
)

// archives calls f with each of the archives of a folder of testdata, as files by name.
func archives(t *testing.T, folder string, f func(t *testing.T, files map[string]string)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in testdata/%s: %v", folder, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for piece := range strings.SplitSeq("\n"+string(text), "\n-- ") {
				if file, content, ok := strings.Cut(piece+"\n", " --\n"); ok {
					files[file] = strings.TrimSpace(content)
				}
			}
			f(t, files)
		})
	}
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\ngot whole:\n%s", what, diff, got)
	}
}

// pretty indents JSON for comparison; text that is none stays.
func pretty(body []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", " "); err != nil {
		return string(body)
	}
	return out.String()
}

// encoded is what becomes of a chat client's body: the upstream's, and what was left out; or the error.
func encoded(t *testing.T, client string, target neutral.Target) (body, dropped, refused string) {
	t.Helper()
	r, err := chat.Decode([]byte(client))
	if err != nil {
		return "", "", err.Error()
	}
	e, err := Encode(r, target)
	if err != nil {
		return "", "", err.Error()
	}
	if !json.Valid(e.Body) {
		t.Fatalf("the body is no JSON: %s", e.Body)
	}
	return string(e.Body), strings.Join(e.Dropped, ", "), ""
}

// P18: a chat client's body in, the upstream's out.
func TestEncodeGolden(t *testing.T) {
	archives(t, "encode", func(t *testing.T, files map[string]string) {
		body, dropped, refused := encoded(t, files["client.json"], neutral.Target{Model: files["model"], Stream: true})
		compare(t, "refused", refused, files["refused"])
		if refused == "" {
			compare(t, "body", pretty([]byte(body)), pretty([]byte(files["upstream.json"])))
			compare(t, "dropped", dropped, files["dropped"])
		}
	})
}

// translated is what a chat client gets of an upstream's stream.
func translated(t *testing.T, stream string) (chunks, whole string) {
	t.Helper()
	var d Decoder
	var splitter wire.Splitter
	s := chat.Stream{ID: "chatcmpl-1", Model: "coder", Created: 7, WantsUse: true}
	a := chat.Answer{ID: "chatcmpl-1", Model: "coder", Created: 7}
	rest := []byte(stream + "\n\n")
	var out []byte
	var events []neutral.Event
	for {
		e, n := splitter.Split(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
		if e.Data == nil {
			continue
		}
		var err error
		if events, err = d.Decode(e.Name, e.Data, events[:0]); err != nil {
			return string(out) + "error: " + err.Error(), ""
		}
		for i := range events {
			out = s.Append(out, &events[i])
			a.Add(&events[i])
			if events[i].Kind == neutral.Failed {
				return string(out) + "failed: " + string(events[i].Fault), ""
			}
		}
	}
	if !d.Whole() {
		return string(out) + "cut", ""
	}
	return strings.TrimSpace(string(s.End(out))), string(a.Append(nil))
}

// P18: an upstream's stream in, a chat client's chunks out, and the same as one completion.
func TestStreamGolden(t *testing.T) {
	archives(t, "stream", func(t *testing.T, files map[string]string) {
		chunks, whole := translated(t, files["upstream"])
		compare(t, "client", strings.ReplaceAll(chunks, "\n\n", "\n"), files["client"])
		compare(t, "whole", pretty([]byte(whole)), pretty([]byte(files["whole.json"])))
		if body := files["answer.json"]; body != "" { // the same answer, not streamed
			events, err := DecodeAnswer([]byte(body), nil)
			if err != nil {
				t.Fatal(err)
			}
			a := chat.Answer{ID: "chatcmpl-1", Model: "coder", Created: 7}
			for i := range events {
				a.Add(&events[i])
			}
			compare(t, "answer", pretty(a.Append(nil)), pretty([]byte(files["whole.json"])))
		}
	})
}
