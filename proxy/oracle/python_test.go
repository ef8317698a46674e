package oracle

import (
	"errors"
	"strings"
	"testing"
)

// What openai-python 3.3.1 made of each shape, measured: chunks it yields, and how iteration ends.
func TestDecodePython(t *testing.T) {
	const (
		a    = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
		end  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		done = "data: [DONE]\n\n"
	)
	f := func(name, stream string, chunks int, want string) {
		t.Helper()
		got, err := DecodePython([]byte(stream))
		told := "ok"
		if data, ok := errors.AsType[*DataError](err); ok {
			told = "data " + data.Data
		}
		if frame, ok := errors.AsType[*FrameError](err); ok {
			told = "frame " + frame.Message
		}
		if len(got) != chunks || told != want {
			t.Errorf("%s: %d chunks, %s; want %d, %s", name, len(got), told, chunks, want)
		}
	}
	withID := "id: 1\n" + a
	f("plain", a+end+done, 2, "ok")
	f("comment", ": ka\n\n"+a+": ka\n\n"+end+done, 2, "ok")
	f("id lines", withID+"id: 2\n"+end+done, 2, "ok")
	f("id, then a comment with a blank line", withID+": ka\n\n"+end+done, 1, "data ")
	f("id, then a comment of one line", withID+": ka\n"+end+done, 2, "ok")
	f("retry preamble", "retry: 3000\n\n"+a+end+done, 0, "data ")
	f("retry that is no number", "retry: soon\n\n"+a+done, 1, "ok")
	f("ping without data", "event: ping\n\n"+a+done, 0, "data ")
	f("ping with data", "event: ping\ndata: {}\n\n"+a+done, 2, "ok")
	f("named chunk", "event: message\n"+a+done, 1, "ok")
	f("empty data", "data: \n\n"+a, 0, "data ")
	f("keep-alive as data", "data: : keepalive\n\n"+a, 0, "data : keepalive")
	f("null", "data: null\n\n"+a+done, 2, "ok")
	f("error null", `data: {"error":null,"choices":[]}`+"\n\n"+done, 1, "ok")
	f("error that is false", `data: {"error":{},"choices":[]}`+"\n\n"+done, 1, "ok")
	f("usage null", `data: {"usage":null,"choices":[]}`+"\n\n"+done, 1, "ok")
	f("crlf", strings.ReplaceAll(a+end+done, "\n", "\r\n"), 2, "ok")
	f("cr", strings.ReplaceAll(a+end+done, "\n", "\r"), 2, "ok")
	f("no space", strings.ReplaceAll(a+end+done, "data: ", "data:"), 2, "ok")
	f("byte-order mark", "\ufeff"+a+end+done, 1, "ok")
	f("one newline between events", strings.ReplaceAll(a+end+done, "\n\n", "\n"), 0, "ok")
	f("after the end", a+done+"data: x\n\n", 1, "ok")
	f("no end", a+end, 2, "ok")
	f("silence", a, 1, "ok")
	f("cut inside an event", a+`data: {"cho`, 1, "ok")
	f("error frame", a+`data: {"error":{"message":"gone","code":"x"}}`+"\n\n"+end, 1, "frame gone")
	f("error frame with a name", a+"event: error\n"+`data: {"error":{"message":"gone"}}`+"\n\n", 1, "frame gone")
	f("error that is a string", a+`data: {"error":"gone"}`+"\n\n", 1, "frame "+pythonDefaultMessage)
	f("error as plain text", a+"event: error\ndata: gone\n\n", 1, "data gone")
	f("two data lines", "data: {\"choices\":\ndata: []}\n\n", 1, "ok")
	f("not UTF-8", "data: \"\xff\"\n\n", 0, "data UnicodeDecodeError: data: \"\xff\"")
}

func FuzzDecodePython(f *testing.F) {
	f.Add("id: 1\ndata: {}\n\n: x\n\ndata: [DONE]\n\n")
	f.Add("data: {\"error\":{\"message\":1}}\r\r\n\n\rretry: 5\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		chunks, err := DecodePython([]byte(stream))
		if len(chunks) > strings.Count(stream, "data") {
			t.Errorf("%d chunks of %q, err %v", len(chunks), stream, err)
		}
	})
}
