package oracle

import (
	"errors"
	"testing"
)

// How Hermes takes a stream. The rows that matter most: token counts make a truncated answer a whole one, and an error that
// sounds like a lost connection gets a tool call another try.
func TestReadHermes(t *testing.T) {
	const (
		role   = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
		text   = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
		think  = `data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}` + "\n\n"
		tool   = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]}}]}` + "\n\n"
		args   = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}` + "\n\n"
		more   = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}` + "\n\n"
		second = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":7,"function":{"name":"g","arguments":"{}"}}]}}]}` + "\n\n"
		finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		usage  = `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n"
		broken = `data: {"error":{"message":"it broke off","code":"upstream_interrupted"}}` + "\n\n"
		lost   = `data: {"error":{"message":"connection lost: it broke off","code":"upstream_interrupted"}}` + "\n\n"
		done   = "data: [DONE]\n\n"
	)
	cut := errors.New("unexpected EOF")
	f := func(name, stream string, err error, want string) {
		t.Helper()
		r := ReadHermes([]byte(stream), err, Session{})
		turn := Turn{Reading: r}
		if got := turn.String(); got != want+" requests=0" {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	f("whole", role+text+finish+usage+done, nil, "complete finish=stop usage")
	f("whole, then cut", role+text+finish+done, cut, "complete finish=stop")
	f("without [DONE]", text+finish, nil, "complete finish=stop")
	f("text and a clean end", role+text, nil, "partial")
	f("text, counts and a clean end", text+usage, nil, "complete finish=stop usage")
	f("nothing", role, nil, "empty")
	f("no bytes", "", nil, "empty")
	f("JSON", `{"choices":[{"message":{"content":"a"}}]}`, nil, "empty")
	f("cut after text", text, cut, "partial timeout")
	f("cut before text", role, cut, "again timeout")
	f("cut while thinking", think, cut, "again timeout")
	f("cut in a tool call", text+tool+args, cut, "again timeout")
	f("error after text", text+broken, cut, "partial unknown")
	f("error while thinking", think+broken, cut, "raised unknown")
	f("error in a tool call", text+tool+args+broken, cut, "partial unknown")
	f("lost after text", text+lost, cut, "partial unknown")
	f("lost while thinking", think+lost, cut, "again unknown")
	f("lost in a tool call", text+tool+args+lost, cut, "again unknown")
	f("unreadable data", role+"data: x\n\n", nil, "again unknown")
	f("unreadable data after text", text+"data: x\n\n", nil, "partial unknown")
	f("tool call", tool+args+more+finish, nil, "complete finish=stop calls=1")
	f("two under one index", tool+args+more+second+finish, nil, "complete finish=stop calls=2")
	f("half of the arguments", text+tool+args+finish, nil, "partial finish=stop")
	f("finish reason error", text+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`+"\n\n", nil, "raised finish=error unknown")
	f("error without choices", `data: {"error_message":"no"}`+"\n\n", nil, "raised unknown")
}

func TestReadHermesWhole(t *testing.T) {
	if r := ReadHermesWhole([]byte(`{"choices":[{"message":{"content":"a","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2"}]},"finish_reason":"stop"}],"usage":{"total_tokens":1}}`)); r.Ending != Complete || r.Text != "a" || len(r.Calls) != 2 || !r.Usage {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{"", "{}", `{"choices":[]}`, "<html>"} {
		if r := ReadHermesWhole([]byte(body)); r.Ending != Empty {
			t.Errorf("%s: %+v", body, r)
		}
	}
}
