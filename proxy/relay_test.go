package proxy

import (
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

const (
	chunkRole   = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	chunkText   = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	chunkFinish = `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	chunkUsage  = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":2}}}` + "\n\n"
	chunkDone   = "data: [DONE]\n\n"
)

// What a client sees of a stream. What every client can take passes byte for byte, unknown fields, odd spacing and line
// ends included; what some client stumbles over is mended or left out (measured with real SDKs: id: and retry: lines, a
// byte-order mark, data that is no JSON, "error": null, pings without data).
func TestStreamShapes(t *testing.T) {
	f := func(name, upstream, want string) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.sim.Push("a", simulator.Stream(upstream))
			got := r.chat(askStream)
			if got.status != 200 || got.err != nil || got.body != want {
				t.Errorf("status %d, err %v\n got %q\nwant %q", got.status, got.err, got.body, want)
			}
			if p := got.header.Get(headerProfile); p != "a" {
				t.Errorf("served by %s", p)
			}
		})
	}
	same := func(name, stream string) { f(name, stream, stream) }
	same("plain", chunkRole+chunkText+chunkFinish+chunkDone)
	same("unknown fields", `data: {"provider":"x","choices":[{"index":0,"delta":{"content":"a","vendor":{"big":9007199254740993}}}],"n":1.0}`+"\n\n"+chunkFinish+chunkDone)
	same("crlf", strings.ReplaceAll(chunkRole+chunkText+chunkFinish+chunkDone, "\n", "\r\n"))
	same("no space after data:", strings.ReplaceAll(chunkText+chunkFinish+chunkDone, "data: ", "data:"))
	same("comments", ": OPENROUTER PROCESSING\n\n"+chunkText+": ka\n\n"+chunkFinish+chunkDone)
	same("named event", "event: hermes.tool.progress\ndata: {\"tool\":\"x\"}\n\n"+chunkText+chunkFinish+chunkDone)
	same("usage in the last chunk", chunkText+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\n"+chunkDone)
	same("only a finish reason", chunkFinish+chunkDone)
	same("two lines of data", "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"a\"}}]}\n\n"+chunkFinish+chunkDone)

	f("usage not asked for", chunkText+chunkFinish+chunkUsage+chunkDone, chunkText+chunkFinish+chunkDone)
	f("id lines", "id: 7\n"+chunkText+"id: 8\n"+chunkFinish+chunkDone, chunkText+chunkFinish+chunkDone)
	f("retry line", "retry: 3000\n\n"+chunkText+chunkFinish+chunkDone, chunkText+chunkFinish+chunkDone)
	f("byte-order mark", "\xef\xbb\xbf"+chunkText+chunkFinish+chunkDone, chunkText+chunkFinish+chunkDone)
	f("data that is no JSON", "data: : keepalive\n\n"+chunkText+"data: null\n\ndata: \n\n"+chunkFinish+chunkDone, chunkText+chunkFinish+chunkDone)
	f("pings", "event: ping\n\n"+chunkText+"event: ping\ndata: {}\n\n"+chunkFinish+chunkDone, chunkText+chunkFinish+chunkDone)
	f("null error", `data: {"error":null,"choices":[{"index":0,"delta":{"content":"a"}}],"x":1}`+"\n\n"+chunkFinish+chunkDone,
		`data: {"choices":[{"index":0,"delta":{"content":"a"}}],"x":1}`+"\n\n"+chunkFinish+chunkDone)
	f("bytes after the end", chunkText+chunkFinish+chunkDone+"data: {\"late\":1}\n\n", chunkText+chunkFinish+chunkDone)
	f("no end marker", chunkText+chunkFinish, chunkText+chunkFinish+chunkDone)
	f("end marker without a finish reason", chunkText+chunkDone, chunkText+chunkDone)
}

// The tap reads usage without changing the stream, wherever it stands, and makes none up.
func TestStreamUsage(t *testing.T) {
	f := func(upstream string, in, out int64, known bool) {
		t.Helper()
		r := newRig(t, setup{})
		r.sim.Push("a", simulator.Stream(upstream))
		r.chat(askStream)
		r.settle()
		if u := r.told.last().Attempts[0].Usage; u.Input != in || u.Output != out || u.Known != known {
			t.Errorf("%q: %+v", upstream, u)
		}
	}
	f(chunkText+chunkFinish+chunkUsage+chunkDone, 3, 5, true)
	f(chunkUsage+chunkText+chunkFinish+chunkDone, 3, 5, true)
	f(chunkText+chunkFinish+chunkDone, 0, 0, false)
	f(chunkText+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`+"\n\n"+chunkDone, 0, 0, true)
}

// P09: after the first byte no other account answers. The client's library must see a failure: an error event, no [DONE],
// no finish reason, no usage, and a connection that was cut. With two choices the end of one is not the end of the answer.
func TestInterrupted(t *testing.T) {
	two := `data: {"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}` + "\n\n"
	for _, upstream := range []string{
		chunkRole + chunkText,
		chunkText + `data: {"choi`,
		two + chunkFinish,
		chunkText + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}` + "\n\n" + chunkDone,
	} {
		r := newRig(t, setup{accounts: []simulator.Account{
			{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}}, {Name: "b", Key: "sk-upstream-b", Models: []string{"sim-1"}},
		}})
		first, rest, _ := strings.Cut(upstream, "\n\n")
		r.sim.Push("a", simulator.Stream(first+"\n\n", rest))
		got := r.chat(askStream)
		if got.header.Get(headerProfile) == "b" {
			continue // both pieces came in one read: nothing had been shown, and b answered
		}
		if got.err == nil || !strings.Contains(got.body, `"code":"upstream_interrupted"`) || strings.Contains(got.body, "[DONE]") {
			t.Errorf("%q\n got %q, err %v", upstream, got.body, got.err)
		}
		r.wantCalls("a=1 b=0")
		if x := r.told.last(); x.Outcome != "interrupted" {
			t.Errorf("told as %s", x.Outcome)
		}
		r.settle()
	}
}

// An account that says nothing of substance is replaced: comments, role-only and empty chunks commit to nothing. The one
// that sends them for ever is given up when its first token is due, or when it has sent more than is held.
func TestNothingOfSubstance(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stream(strings.Repeat(chunkRole, 2*heldBytes/len(chunkRole))))
		r.want(r.chat(askStream), "200 profile=b attempts=2 after=server_error [DONE]")
		if reason := r.told.last().Attempts[0].Reason; reason != "stream:no_content" {
			t.Error(reason)
		}
		time.Sleep(time.Hour)
		r.sim.Push("a", simulator.StallHeartbeats.After(0))
		r.want(r.chat(askStream), "200 profile=b attempts=2 after=timeout [DONE]")
	})
}

// An upstream that answers a streamed request with a whole completion serves it all the same: the client gets a stream.
func TestWholeAnswerToAStream(t *testing.T) {
	r := newRig(t, setup{})
	r.sim.Push("a", simulator.Status(200, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, nil))
	got := r.chat(askStream)
	want := `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}` + "\n\n" + chunkDone
	if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("%d %v\n got %q\nwant %q", got.status, got.header, got.body, want)
	}
	if u := r.told.last().Attempts[0].Usage; u.Input != 3 || u.Output != 1 {
		t.Errorf("usage %+v", u)
	}
}

// E07, P30: a stream's head says that it is one, that nobody on the way may hold it back, and nothing that would end the
// connection; it is never compressed, whatever the client would accept, and comes from an upstream that was asked for plain
// bytes. A second request goes over the same connection.
func TestStreamHead(t *testing.T) {
	r := newRig(t, setup{})
	for _, step := range []simulator.Step{simulator.Normal, simulator.Gzip} {
		r.sim.Push("a", step)
		got := r.chat(askStream, "Accept-Encoding", "gzip, br")
		r.want(got, "200 profile=a attempts=1 [DONE]")
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
			"Connection": "", "Content-Encoding": "", "Content-Length": "",
		} {
			if v := got.header.Get(name); v != want {
				t.Errorf("%s: %s is %q, want %q", step, name, v, want)
			}
		}
	}
	for _, call := range r.sim.Calls("a") {
		if e := call.Header.Get("Accept-Encoding"); e != "identity" {
			t.Errorf("the upstream was asked for %q", e)
		}
	}
}
