package simulator_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

var (
	responseEcho    = regexp.MustCompile(`"usage":(null|\{[^}]*\}[^}]*\}[^}]*\}),"instructions":.*?"metadata":\{\}\}`)
	responseCreated = regexp.MustCompile(`"created_at":[0-9]+,`)
)

// TestResponsesOnTheWire proves that answers are OpenAI's, whole and streamed, to the byte but for the members of the request
// that they repeat, and that the events are numbered without a gap.
func TestResponsesOnTheWire(t *testing.T) {
	f := func(name string, answer simulator.Answerer, members, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				_, got := speaker{c, "/v1/responses", bearerHeader}.say(t, `{"model":"m",`+members+`"input":"hello"}`)
				got = responseCreated.ReplaceAllString(responseEcho.ReplaceAllString(got, `"usage":$1…}`), "")
				if got != want {
					t.Errorf("the answer is\n%s\nwant\n%s", got, want)
				}
			}, simulator.Account{Name: "a", Key: "sk-a", Answer: answer})
		})
	}
	const usage = `{"input_tokens":2,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}`
	response := func(status, output, usage string) string {
		return `{"id":"resp_simulated000001","object":"response","status":"` + status + `","background":false,"error":null,"incomplete_details":null,"model":"m","output":[` + output + `],"usage":` + usage + `…}`
	}
	named := func(events ...string) string {
		for i, e := range events {
			kind, rest, _ := strings.Cut(e, " ")
			events[i] = "event: response." + kind + "\ndata: " + `{"type":"response.` + kind + `",` + rest
		}
		return lines(events...)
	}
	text := func(status, content string) string {
		return `{"id":"msg_simulated000001_0","type":"message","status":"` + status + `","content":[` + content + `],"role":"assistant"}`
	}
	const part = `{"type":"output_text","annotations":[],"logprobs":[],"text":"`
	one := func(simulator.Request) simulator.Answer {
		return simulator.Answer{Text: "Hi", Usage: &simulator.Usage{Prompt: 2, Completion: 1}}
	}

	f("plain", one, ``, response("completed", text("completed", part+`Hi"}`), usage))
	f("stream", one, `"stream":true,`, named(
		`created "sequence_number":0,"response":`+response("in_progress", "", "null")+`}`,
		`in_progress "sequence_number":1,"response":`+response("in_progress", "", "null")+`}`,
		`output_item.added "sequence_number":2,"output_index":0,"item":`+text("in_progress", "")+`}`,
		`content_part.added "sequence_number":3,"item_id":"msg_simulated000001_0","output_index":0,"content_index":0,"part":`+part+`"}}`,
		`output_text.delta "sequence_number":4,"item_id":"msg_simulated000001_0","output_index":0,"content_index":0,"delta":"Hi","logprobs":[]}`,
		`output_text.done "sequence_number":5,"item_id":"msg_simulated000001_0","output_index":0,"content_index":0,"text":"Hi","logprobs":[]}`,
		`content_part.done "sequence_number":6,"item_id":"msg_simulated000001_0","output_index":0,"content_index":0,"part":`+part+`Hi"}}`,
		`output_item.done "sequence_number":7,"output_index":0,"item":`+text("completed", part+`Hi"}`)+`}`,
		`completed "sequence_number":8,"response":`+response("completed", text("completed", part+`Hi"}`), usage)+`}`))

	call := func(status, arguments string) string {
		return `{"id":"fc_simulated000001_1","type":"function_call","status":"` + status + `","arguments":"` + arguments + `","call_id":"call_simulated000001_1","name":"get"}`
	}
	const rs = `"item_id":"rs_simulated000001_0","output_index":0,"summary_index":0,`
	const thought = `{"id":"rs_simulated000001_0","type":"reasoning","summary":[{"text":"Hm","type":"summary_text"}]}`
	f("a summary and a tool call streamed", func(simulator.Request) simulator.Answer {
		return simulator.Answer{Reasoning: "Hm", ToolCalls: []simulator.ToolCall{{Name: "get", Arguments: `{"a":1}`}}, Usage: &simulator.Usage{Prompt: 2, Completion: 1}}
	}, `"stream":true,"reasoning":{"summary":"auto"},`, named(
		`created "sequence_number":0,"response":`+response("in_progress", "", "null")+`}`,
		`in_progress "sequence_number":1,"response":`+response("in_progress", "", "null")+`}`,
		`output_item.added "sequence_number":2,"output_index":0,"item":{"id":"rs_simulated000001_0","type":"reasoning","summary":[]}}`,
		`reasoning_summary_part.added "sequence_number":3,`+rs+`"part":{"text":"","type":"summary_text"}}`,
		`reasoning_summary_text.delta "sequence_number":4,`+rs+`"delta":"Hm"}`,
		`reasoning_summary_text.done "sequence_number":5,`+rs+`"text":"Hm"}`,
		`reasoning_summary_part.done "sequence_number":6,`+rs+`"part":{"text":"Hm","type":"summary_text"}}`,
		`output_item.done "sequence_number":7,"output_index":0,"item":`+thought+`}`,
		`output_item.added "sequence_number":8,"output_index":1,"item":`+call("in_progress", "")+`}`,
		`function_call_arguments.delta "sequence_number":9,"item_id":"fc_simulated000001_1","output_index":1,"delta":"{\"a"}`,
		`function_call_arguments.delta "sequence_number":10,"item_id":"fc_simulated000001_1","output_index":1,"delta":"\":1}"}`,
		`function_call_arguments.done "sequence_number":11,"item_id":"fc_simulated000001_1","output_index":1,"arguments":"{\"a\":1}"}`,
		`output_item.done "sequence_number":12,"output_index":1,"item":`+call("completed", `{\"a\":1}`)+`}`,
		`completed "sequence_number":13,"response":`+response("completed", thought+","+call("completed", `{\"a\":1}`), usage)+`}`))
}

// TestResponsesEnds proves the ends that are not completed.
func TestResponsesEnds(t *testing.T) {
	f := func(finish, want string) {
		t.Helper()
		c := inMemory("/v1/responses", bearerHeader, simulator.Account{Name: "a", Key: "sk-a", Answer: func(simulator.Request) simulator.Answer {
			return simulator.Answer{Text: "Hi", Finish: finish}
		}})
		_, plain := c.say(t, `{"model":"m","input":"hi"}`)
		_, stream := c.say(t, `{"model":"m","input":"hi","stream":true}`)
		if got := member(plain, "status") + " " + member(plain, "incomplete_details.reason"); got != want || !strings.Contains(stream, "event: response."+member(plain, "status")) {
			t.Errorf("finish %q is %s, streamed %s; want %s", finish, got, stream, want)
		}
	}
	f("", "completed ")
	f("length", "incomplete max_output_tokens")
	f("content_filter", "incomplete content_filter")

	c := inMemory("/v1/responses", bearerHeader, simulator.Account{Name: "a", Key: "sk-a"})
	c.Push("a", simulator.ErrorFirst, simulator.ErrorMidStream.After(1), simulator.RateLimitedMidStream.After(1))
	for _, want := range []string{
		`event: error` + "\n" + `data: {"type":"error","sequence_number":0,"error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later.","param":null,"type":"server_error"}}`,
		`"error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later."}`,
		`"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for m in organization org-simulated`,
	} {
		if _, got := c.say(t, `{"model":"m","input":"hi","stream":true}`); !strings.Contains(got, want) {
			t.Errorf("the stream is %s, want %s in it", got, want)
		}
	}
}

// TestCodex proves that the Codex backend tells its windows, ends with an empty output, and lists models in its own form.
func TestCodex(t *testing.T) {
	const body = `{"model":"gpt-5.5","instructions":"Be brief.","store":false,"stream":true,"input":[{"role":"user","content":"hi"}]}`
	synctest.Test(t, func(t *testing.T) {
		a := simulator.Account{Name: "a", Key: "sk-a", Models: []string{"gpt-5.5"}, Quota: simulator.Quota{Calls: 1, Window: 5 * time.Hour}}
		c := inMemory("/backend-api/codex/responses", codexHeader, a)
		resp, got := c.say(t, body)
		if resp.Header.Get("X-Codex-Primary-Used-Percent") != "100" || resp.Header.Get("X-Codex-Primary-Window-Minutes") != "300" || !strings.Contains(got, `"status":"completed","background":false,"error":null,"incomplete_details":null,"model":"gpt-5.5","output":[]`) {
			t.Errorf("the answer is %v %s", resp.Header, got)
		}
		resp, got = c.say(t, body)
		if resp.StatusCode != 429 || got != `{"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","param":null,"code":null,"plan_type":"plus","resets_at":946702800,"resets_in_seconds":18000}}` {
			t.Errorf("the spent quota is %s %s", resp.Status, got)
		}
		c.Push("a", simulator.Unauthorized, simulator.PaymentRequired, simulator.RateLimitedMidStream.After(1))
		for _, want := range []string{`"code":"token_invalidated"`, `{"detail":{"code":"deactivated_workspace"}}`, `"type":"response.failed"`} {
			if _, got := c.say(t, body); !strings.Contains(got, want) {
				t.Errorf("got %s, want %s in it", got, want)
			}
		}
	})
}

// FuzzMember proves that any member of any body may be asked for.
func FuzzMember(f *testing.F) {
	f.Add(`{"a":[{"b":1}]}`, "a.0.b")
	f.Fuzz(func(t *testing.T, body, path string) {
		_ = simulator.Call{Body: []byte(body)}.Member(path)
	})
}
