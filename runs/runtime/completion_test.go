package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// route is the hub's own routes in a test.
type route func(ctx context.Context, c runtime.Call) (*http.Response, error)

func (r route) Call(ctx context.Context, c runtime.Call) (*http.Response, error) { return r(ctx, c) }

// answers with a head, as lines, and a body.
func answers(status int, head string, body io.Reader) *http.Response {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(body)}
}

func plain(body string) route {
	return func(context.Context, runtime.Call) (*http.Response, error) {
		return answers(200, "", strings.NewReader(body)), nil
	}
}

// broken is a body that ends with an error.
func broken(body string) io.Reader {
	return io.MultiReader(strings.NewReader(body), iotest.ErrReader(errors.New("reset")))
}

// chunks is a stream of these chunks.
func chunks(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", l)
	}
	return b.String()
}

func saying(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

const (
	stops = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done  = "[DONE]"
)

// calling opens a hub whose runtime is completion over the caller.
func calling(t *testing.T, s runs.Store, c runtime.Caller) *hub {
	t.Helper()
	if s == nil {
		s = new(memstore.Store)
	}
	rt := runtime.NewCompletion(c, runs.New(runs.Options{Store: s}))
	return open(t, s, nil, func(o *runtime.Options) { o.Runtimes = map[string]runtime.Runtime{"stage": rt} })
}

// performs runs one order over the caller to its end.
func performs(t *testing.T, c runtime.Caller, o runtime.Order, check func(h *hub, run string, log string)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		h := calling(t, nil, c)
		s := h.start(o)
		time.Sleep(time.Minute)
		check(h, s.RunID, h.end(s.RunID))
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What a chat stream says becomes events, however it is framed and cut; what is no good end is an error.
func TestCompletionEvents(t *testing.T) {
	const begin = "run.started status=running "
	f := func(what, wantLog, wantOutput string, c route) {
		t.Helper()
		performs(t, c, ask("s"), func(h *hub, run, log string) {
			want(t, what, log, begin+wantLog+" run.closed")
			want(t, what+" output", h.look(run).Output, wantOutput)
		})
	}
	stream := func(lines ...string) route { return plain(chunks(lines...)) }
	hi, there := saying(`{"role":"assistant","content":"Hi "}`), saying(`{"content":"there"}`)
	thought := saying(`{"reasoning_content":"hm"}`)
	usage := `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`

	f("text", "token.delta=Hi  token.delta=there usage.final done", "Hi there", stream(hi, there, stops, usage, done))
	f("thoughts", "reasoning.delta=hm reasoning.delta=hm reasoning.done=hmhm token.delta=Hi  done", "Hi ", stream(thought, thought, hi, stops, done))
	f("thoughts twice", "reasoning.delta=hm reasoning.done=hm token.delta=Hi  reasoning.delta=hm reasoning.done=hm done", "Hi ", stream(thought, hi, thought, stops))
	f("thoughts alone", "reasoning.delta=hm reasoning.done=hm done", "", stream(thought, stops))
	f("no DONE", "token.delta=Hi  done", "Hi ", stream(hi, stops))
	f("no finish reason", "token.delta=Hi  done", "Hi ", stream(hi, done))
	f("nothing after DONE", "token.delta=Hi  done", "Hi ", stream(hi, stops, done, there))
	f("a refusal", "token.delta=No. done", "No.", stream(saying(`{"refusal":"No."}`), stops))
	f("a limit", "token.delta=Hi  progress=length done", "Hi ", stream(hi, `{"choices":[{"delta":{},"finish_reason":"length"}]}`))
	f("a filter", "token.delta=Hi  progress=content_filter done", "Hi ", stream(hi, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`))
	f("a tool", "token.delta=Hi  progress=tool_calls_ignored done", "Hi ", stream(hi, saying(`{"tool_calls":[{"index":0}]}`), saying(`{"tool_calls":[{"index":0}]}`), stops))

	// W05: an answer without anything in it is a failure.
	f("nothing", "error=empty_response", "", stream(stops, done))
	f("only a role", "usage.final error=empty_response", "", stream(saying(`{"role":"assistant","content":""}`), stops, usage, done))
	f("only a tool", "progress=tool_calls_ignored error=empty_response", "", stream(saying(`{"tool_calls":[{"index":0}]}`), stops))
	f("filtered", "error=content_filter", "", stream(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`))

	f("no end", "token.delta=Hi  error=upstream_interrupted", "Hi ", stream(hi))
	f("no stream", "error=upstream_interrupted", "", plain(""))
	f("no JSON", "token.delta=Hi  error=upstream_interrupted", "Hi ", stream(hi, "{"))
	f("a cut line", "token.delta=Hi  error=upstream_interrupted", "Hi ", plain(chunks(hi)+`data: {"choices":[{"delta":{"content":"th`))
	f("an aborted body", "token.delta=Hi  error=upstream_interrupted", "Hi ", func(context.Context, runtime.Call) (*http.Response, error) {
		return answers(200, "", broken(chunks(hi))), nil
	})
	f("an error", "token.delta=Hi  error=server_busy", "Hi ", stream(hi, `{"error":{"message":"too much","code":"server_busy"}}`, done))
	f("an error without a code", "error=upstream_error", "", stream(`{"error":"bad"}`))
	f("a finish reason that is an error", "token.delta=Hi  error=upstream_error", "Hi ", stream(hi, `{"choices":[{"delta":{},"finish_reason":"error"}]}`))
	f("unknown things", "token.delta=Hi  done", "Hi ", stream(`{}`, `{"choices":[]}`, `{"choices":[{"delta":null}]}`, `[]`, `1`, `{"choices":[{"delta":{"content":["x"]}}]}`, hi, stops))

	f("other framing", "token.delta=Hi  done", "Hi ", plain(": hello\r\n\r\nevent: message\r\nid: 7\r\ndata: "+hi+"\r\n\r\ndata:"+stops+"\r\n\r\n"))
	f("bytes one by one", "token.delta=Schön 🙂 done", "Schön 🙂", func(context.Context, runtime.Call) (*http.Response, error) {
		return answers(200, "", iotest.OneByteReader(strings.NewReader(chunks(saying(`{"content":"Schön 🙂"}`), stops)))), nil
	})
	f("no stream but an answer", "token.delta=Hi  usage.final done", "Hi ", func(context.Context, runtime.Call) (*http.Response, error) {
		return answers(200, "Content-Type: application/json; charset=utf-8", strings.NewReader(`{"choices":[{"message":{"content":"Hi "},"finish_reason":"stop"}],"usage":{"input_tokens":1}}`)), nil
	})
	f("a call that cannot be made", "error=call_failed", "", func(context.Context, runtime.Call) (*http.Response, error) { return nil, errors.New("x") })
	part := strings.Repeat("<", 10<<10) // six bytes each, as JSON
	var parts []string
	for range 30 {
		parts = append(parts, saying(`{"content":"`+part+`"}`))
	}
	performs(t, stream(append(parts, stops)...), ask("s"), func(h *hub, run, _ string) {
		want(t, "a long answer is whole", h.look(run).Output == strings.Repeat(part, 30), true)
	})
	long := strings.Repeat("x", 5<<20)
	performs(t, plain(chunks(saying(`{"content":"`+long+`"}`), stops)), ask("s"), func(h *hub, run, _ string) {
		want(t, "5 MB", []any{h.look(run).Status, len(h.look(run).Output) > 100_000}, []any{runs.Completed, true})
	})
}

// What the answer's head tells of failover, account and parameters is told; usage is that of the account.
func TestCompletionTells(t *testing.T) {
	head := "X-Hub-Profile: p2\nX-Hub-Model: m2\nX-Hub-Attempts: 3\nX-Hub-Failover-Reason: quota_exhausted,transient\nX-Hub-Dropped-Params: seed"
	c := route(func(context.Context, runtime.Call) (*http.Response, error) {
		time.Sleep(2 * time.Second)
		body := chunks(saying(`{"content":"x"}`), stops, `{"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2},"cost":0.5}}`, done)
		return answers(200, head, strings.NewReader(body)), nil
	})
	performs(t, c, ask("s"), func(h *hub, run, log string) {
		want(t, "log", log, "run.started status=running progress=failover progress=route progress=dropped_params token.delta=x usage.final done run.closed")
		wanted := `{"input_tokens":3,"output_tokens":4,"total_tokens":7,"cache_read_tokens":2,"cost":0.5,"model":"m2","profile":"p2","duration":2}`
		want(t, "usage", string(h.look(run).Usage), wanted)
		rows := rowsOf(t, h.store, run)
		want(t, "failover", string(rows[2].Payload), `{"phase":"failover","text":"Accounts before this one failed: quota_exhausted, transient."}`)
		want(t, "end", string(rows[7].Payload), `{"output":"x","usage":`+wanted+`}`)
	})
}

// A refusal of the hub is the run's error, in the hub's words, with what a client needs to go on.
func TestCompletionRefused(t *testing.T) {
	f := func(status int, head, body, wanted string) {
		t.Helper()
		c := route(func(context.Context, runtime.Call) (*http.Response, error) {
			return answers(status, "Content-Type: application/json\n"+head, strings.NewReader(body)), nil
		})
		performs(t, c, ask("s"), func(h *hub, run, log string) {
			r := h.look(run)
			want(t, "log", log[:26], "run.started status=running")
			want(t, body, string(r.Error), wanted)
			want(t, "ended", []any{r.Status, r.TerminalState}, []any{runs.Failed, runs.EndErrored})
		})
	}
	f(429, "", `{"error":{"message":"Out of quota.","type":"usage_limit_reached","code":"usage_limit_reached","resets_at":99}}`,
		`{"type":"quota_exhausted","code":"usage_limit_reached","message":"Out of quota.","details":{"resets_at":99,"status":429,"type":"usage_limit_reached"},"terminal":true}`)
	f(503, "Retry-After: 30", `{"error":{"message":"All are out.","code":"upstream_unavailable","param":null}}`,
		`{"type":"error","code":"upstream_unavailable","message":"All are out.","details":{"retry_after":"30","status":503},"terminal":true}`)
	f(404, "", `{"error":{"message":"No such model.","code":"model_not_found"}}`,
		`{"type":"model_not_found","code":"model_not_found","message":"No such model.","details":{"status":404},"terminal":true}`)
	f(502, "", `<html>`, `{"type":"error","code":"http_502","message":"The hub refused the call.","details":{"status":502},"terminal":true}`)
	f(500, "", `{"error":{"message":"x","code":"cancelled","type":"interrupted"}}`,
		`{"type":"error","code":"cancelled","message":"x","details":{"status":500,"type":"interrupted"},"terminal":true}`)
}

// C01, C06, C11: cancelling ends the call, whatever it is doing, keeps what was said and thought, and is no error.
func TestCompletionCancel(t *testing.T) {
	f := func(what, body, wanted string) {
		t.Helper()
		bubble(t, func(t *testing.T) {
			var freed atomic.Bool
			h := calling(t, nil, route(func(ctx context.Context, _ runtime.Call) (*http.Response, error) {
				if body == "" {
					<-ctx.Done()
					freed.Store(true)
					return nil, ctx.Err()
				}
				in, out := io.Pipe()
				go func() {
					_, _ = io.WriteString(out, body)
					<-ctx.Done() // the upstream is aborted, and the lease given back
					freed.Store(true)
					out.CloseWithError(ctx.Err())
				}()
				return answers(200, "", in), nil
			}))
			s := h.start(ask("s"))
			settle()
			began := time.Now()
			h.control(s.RunID, stopIt)
			want(t, what, h.end(s.RunID), "run.started status=running "+wanted+" run.closed")
			want(t, what+" freed", []any{freed.Load(), h.Active(), time.Since(began) < time.Second}, []any{true, 0, true})
			want(t, what, h.look(s.RunID).TerminalState, runs.EndInterruptedByUser)
			if err := h.stop(); err != nil {
				t.Error(err)
			}
		})
	}
	f("before the head", "", "status=cancelling cancelled")
	f("while it thinks", chunks(saying(`{"reasoning":"hm"}`)), "reasoning.delta=hm status=cancelling reasoning.done=hm cancelled")
	f("while it speaks", chunks(saying(`{"content":"Hi"}`)), "token.delta=Hi status=cancelling cancelled")
}

// X03, within the process: a call ends with the hub, and its run is told so.
func TestCompletionStops(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := new(memstore.Store)
		h := calling(t, store, route(func(ctx context.Context, _ runtime.Call) (*http.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		s := h.start(ask("s"))
		settle()
		if err := h.stop(); err != nil {
			t.Error(err)
		}
		want(t, "log", story(rowsOf(t, store, s.RunID)), "run.started status=running error=hub_stopped run.closed")
	})
}

// What the call is made for, and what goes into its body.
func TestCompletionCall(t *testing.T) {
	f := func(order, wanted string) {
		t.Helper()
		var call runtime.Call
		c := route(func(_ context.Context, c runtime.Call) (*http.Response, error) {
			call = c
			return answers(200, "", strings.NewReader(chunks(saying(`{"content":"x"}`), stops))), nil
		})
		o := runtime.Order{Owner: "me", SessionID: "s", Role: "coder", Body: json.RawMessage(order), Header: http.Header{"X-Hermes-Session-Key": {"k"}}}
		performs(t, c, o, func(_ *hub, run, _ string) {
			want(t, "call", []any{call.Owner, call.SessionID, call.Role, call.RunID, call.Path, call.Header}, []any{"me", "s", "coder", run, "/v1/chat/completions", o.Header})
			var got, expected any
			if err := errors.Join(json.Unmarshal(call.Body, &got), json.Unmarshal([]byte(`{"stream":true,"stream_options":{"include_usage":true},`+wanted+`}`), &expected)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("%s:\n%s", order, diff)
			}
		})
	}
	const x = `"messages":[{"role":"user","content":"x"}]`
	f(`{"input":"x"}`, `"model":"auto",`+x)
	f(`{"input":"x","model":"default"}`, `"model":"auto",`+x)
	f(`{"input":"x","model":"openai/gpt-4o"}`, `"model":"openai/gpt-4o",`+x)
	f(`{"input":[{"role":"user","content":"x","id":"7"}]}`, `"model":"auto",`+x)
	f(`{"message":"x"}`, `"model":"auto",`+x)
	f(`{"message":{"content":"x"}}`, `"model":"auto",`+x)
	f(`{"input":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:,","detail":"low"},{"type":"image_url","image_url":{"url":"u"}}]}`,
		`"model":"auto","messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:,","detail":"low"}},{"type":"image_url","image_url":{"url":"u"}}]}]`)
	f(`{"input":"x","instructions":"Be brief.","conversation_history":[{"role":"user","content":"a","timestamp":1},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","tool_call_id":"1","content":"b"}]}`,
		`"model":"auto","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","tool_call_id":"1","content":"b"},{"role":"user","content":"x"}]`)
	f(`{"input":"x","temperature":0.5,"max_tokens":9,"seed":null,"top_k":1,"tools":[{}],"stream":false,"metadata":{"role":"r"},"workspace":"/w"}`, `"model":"auto","temperature":0.5,"max_tokens":9,`+x)
	f(`{"input":"x","model_options":{"reasoning":{"enabled":true,"effort":"high"},"fast":true}}`, `"model":"auto","reasoning_effort":"high","service_tier":"priority",`+x)
	f(`{"input":"x","reasoning_effort":"low","model_options":{"reasoning_effort":"high","reasoning":{"enabled":false},"service_tier":"flex"}}`, `"model":"auto","reasoning_effort":"low","service_tier":"flex",`+x)
}

func TestCompletionBadOrders(t *testing.T) {
	rt := runtime.NewCompletion(plain(""), runs.New(runs.Options{Store: new(memstore.Store)}))
	for order, wanted := range map[string]string{
		``:                       "the body must be a JSON object",
		`[]`:                     "the body must be a JSON object",
		`{}`:                     "Missing 'input' field: say what is to be done, as a string or as messages",
		`{"input":""}`:           "Missing 'input' field: say what is to be done, as a string or as messages",
		`{"input":7}`:            "input must be a text, or messages with role and content",
		`{"input":[7]}`:          "input[0] must be an object",
		`{"input":[{"role":1}]}`: "input[0].role must be one of system, developer, user, assistant, tool",
		`{"input":[{"role":"user","content":{}}]}`:                                     "input[0].content must be a text or an array of parts",
		`{"input":"x","previous_response_id":"r"}`:                                     "previous_response_id is not known here: send conversation_history",
		`{"input":"x","conversation_history":[{"role":"user"},{"role":"\"},{\"a\""}]}`: "conversation_history[1].role must be one of system, developer, user, assistant, tool",
	} {
		_, err := rt.Start(t.Context(), "r", runtime.Order{Body: json.RawMessage(order), Surface: runtime.RunsAPI})
		r, ok := errors.AsType[*runtime.Refused](err)
		if !ok || r.Status != 400 || r.Code != "invalid_request_error" || r.Message != wanted {
			t.Errorf("%s: %v, want %s", order, err, wanted)
		}
	}
}

// What cannot be done here is said, and the run goes on without.
func TestCompletionNotes(t *testing.T) {
	o := ask("s")
	o.Body = json.RawMessage(`{"input":"x","tools":[{}],"attachments":[{}]}`)
	performs(t, plain(chunks(saying(`{"content":"x"}`), stops)), o, func(_ *hub, _, log string) {
		want(t, "log", log, "run.started status=running progress=ignored progress=ignored token.delta=x done run.closed")
	})
}
