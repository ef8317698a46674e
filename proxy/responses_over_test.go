package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/quota"
	"hermes-hub/router"
)

// accountsOfResponses are those that a client of Responses is served by in translation.
func accountsOfResponses() []account {
	const whole = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`
	const usage = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}` + "\n\n"
	accounts := []account{{
		router.ProtocolChat, "/v1/chat/completions", "/v1/chat/completions", chunkRole,
		`data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n", chunkFinish + usage + chunkDone, whole,
		`{"error":{"message":"Overloaded","code":"server_is_overloaded"}}`,
	}}
	for _, a := range accountsOfOthers() {
		if a.protocol != router.ProtocolResponses {
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// saidResponse is what a client of Responses was told: the text of its deltas, or of the whole answer, and how it ended.
func saidResponse(body string) string {
	if json.Valid([]byte(body)) {
		return textOfResponse([]byte(body))
	}
	text := ""
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		var e struct {
			Type, Delta string
			Response    json.RawMessage
		}
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.completed":
			if whole := textOfResponse(e.Response); whole != text+" completed 3/5" {
				return fmt.Sprintf("%q in pieces, %q at the end", text, whole)
			}
			text += " completed 3/5"
		}
	}
	return text
}

func textOfResponse(response []byte) string {
	var r struct {
		Status string
		Output []struct{ Content []struct{ Text string } }
		Usage  struct {
			In  int `json:"input_tokens"`
			Out int `json:"output_tokens"`
		}
	}
	if err := json.Unmarshal(response, &r); err != nil || r.Status == "" {
		return ""
	}
	var text strings.Builder
	for _, item := range r.Output {
		for _, part := range item.Content {
			text.WriteString(part.Text)
		}
	}
	return fmt.Sprintf("%s %s %d/%d", text.String(), r.Status, r.Usage.In, r.Usage.Out)
}

// P01, P02, P09, P22: a client of Responses on accounts of every other protocol: it reads a response, with its usage and its
// end; what fails before the first content is another account's turn; what breaks off after it ends in an error and a cut.
func TestResponsesTranslated(t *testing.T) {
	const asked, askedStream = `{"model":"sim-1","input":"hi"}`, `{"model":"sim-1","input":"hi","stream":true}`
	const all, cut = "hi completed 3/5", "200 profile=a attempts=1 code=upstream_interrupted cut"
	for _, a := range accountsOfResponses() {
		t.Run(string(a.protocol), func(t *testing.T) {
			f := func(name, ask, want, text string, answers ...string) {
				t.Helper()
				var seen []*http.Request
				r := behindCanned(t, a.protocol, &seen, answers...)
				got := r.send(http.MethodPost, "/v1/responses", ask)
				if got.line() != want || saidResponse(got.body) != text {
					t.Errorf("%s\n got %s %q\nwant %s %q\nbody %s", name, got.line(), saidResponse(got.body), want, text, got.body)
				}
				path := a.path
				if ask == askedStream {
					path = a.streamPath
				}
				if p := seen[0].URL.RequestURI(); p != path {
					t.Errorf("%s: called %s, want %s", name, p, path)
				}
				r.settle()
			}
			stream := a.start + a.text + a.end
			broken := "data: " + a.refusal + "\n\n"
			if a.protocol == router.ProtocolMessages {
				broken = "event: error\n" + broken
			}
			f("streamed", askedStream, "200 profile=a attempts=1", all, stream)
			f("whole", asked, "200 profile=a attempts=1", all, "200"+a.whole)
			f("streamed, answered whole", askedStream, "200 profile=a attempts=1", all, "200"+a.whole)
			f("refused", askedStream, "200 profile=b attempts=2 after=overloaded", all, a.refusal, stream)
			f("an error in a 200", asked, "200 profile=b attempts=2 after=overloaded", all, "200"+a.refusal, "200"+a.whole)
			f("an error in a 200, streamed", askedStream, "200 profile=b attempts=2 after=overloaded", all, "200"+a.refusal, stream)
			f("a stream that begins with an error", askedStream, "200 profile=b attempts=2 after=overloaded", all, broken, stream)
			f("no JSON", askedStream, "200 profile=b attempts=2 after=server_error", all, "data: {\"oops\n\n", stream)
			f("an empty stream", askedStream, "200 profile=b attempts=2 after=server_error", all, a.start, stream)
			f("cut before its end", askedStream, cut, "hi", a.start+a.text)
		})
	}
}

// A stream without an end is cut where too much of it would have to be kept: its protocol says everything again.
func TestResponsesWithoutEnd(t *testing.T) {
	a := accountsOfResponses()[0]
	word := strings.Replace(a.text, "hi", strings.Repeat("x", 1<<20), 1)
	r := behindCanned(t, a.protocol, nil, a.start+strings.Repeat(word, heldLimit>>20+1)+a.end)
	r.want(r.send(http.MethodPost, "/v1/responses", responsesAsk), "200 profile=a attempts=1 code=upstream_interrupted cut")
	r.settle()
	if why := r.told.last().Err; why != "stream:too_large" {
		t.Error(why)
	}
}

// The event that ends a stream which broke off goes on where the stream was: its id, and the next number.
func TestResponsesBrokenOff(t *testing.T) {
	r := behindCanned(t, router.ProtocolChat, nil, accountsOfResponses()[0].start+accountsOfResponses()[0].text)
	got := r.send(http.MethodPost, "/v1/responses", responsesAsk)
	id := "resp_" + strings.TrimPrefix(got.header.Get(headerRequestID), "req_")
	if n := strings.Count(got.body, "\ndata: "); !strings.Contains(got.body, fmt.Sprintf(`data: {"type":"response.failed","sequence_number":%d,"response":{"id":%q,`, n-1, id)) {
		t.Errorf("%d events in %s", n, got.body)
	}
	r.settle()
}

// What an account's protocol cannot express goes to one that can. When none can, the client reads which member it is in its
// own words. What only tunes is left out, and named in those words, too.
func TestResponsesUnsayable(t *testing.T) {
	chat, responses := router.ProtocolChat, router.ProtocolResponses
	f := func(members string, protocols []router.Protocol, want, param, dropped string) {
		t.Helper()
		r := newRig(t, setup{profiles: func(ps []router.Profile) {
			for i, p := range protocols {
				ps[i].Protocol = p
			}
		}})
		got := r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"hi",`+members+`}`)
		r.want(got, want)
		if param != "" && !strings.Contains(got.body, `"param":"`+param+`"`) {
			t.Errorf("%s: %s", members, got.body)
		}
		if d := got.header.Get(headerDropped); d != dropped {
			t.Errorf("%s: dropped %q, want %q", members, d, dropped)
		}
	}
	none := []router.Protocol{chat, chat, router.ProtocolMessages}
	f(`"tools":[{"type":"file_search","vector_store_ids":["v"]}]`, none, "400 code=invalid_request_error", "tools[0].type", "")
	f(`"tools":[{"type":"file_search","vector_store_ids":["v"]}]`, []router.Protocol{chat, responses, chat}, "200 profile=b attempts=1", "", "")
	f(`"prompt":{"id":"p"}`, none, "400 code=invalid_request_error", "prompt", "")
	f(`"tools":[{"type":"web_search"}],"text":{"verbosity":"low"},"prompt_cache_key":"k","store":true`, none, "200 profile=a attempts=1", "", "text.verbosity, prompt_cache_key, tools[].web_search, store")
}

// W for clients of Responses: a conversation with two tool calls whose second turn lands on an account of another protocol stays
// valid there, whichever the two are, streamed or not: the accounts are as strict as the real ones.
func TestResponsesJourney(t *testing.T) {
	for _, from := range places() {
		for _, to := range places() {
			t.Run(from.name+" to "+to.name, func(t *testing.T) { responsesJourney(t, from, to) })
		}
	}
}

func responsesJourney(t *testing.T, from, to place) {
	t.Helper()
	var accounts []simulator.Account
	for _, name := range []string{"a", "b"} {
		accounts = append(accounts, simulator.Account{Name: name, Key: "sk-upstream-" + name, Models: journeyModels, Answer: weatherTeller})
	}
	bubble(t, setup{accounts: accounts, keys: signedIn{}, profiles: travelling(from, to)}, func(t *testing.T, r *rig) {
		const more = `"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"tools":[{"type":"function","name":"weather","description":"now","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`
		const question = `{"role":"user","content":"How is the weather?"}`
		first := r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1",`+more+`,"input":[`+question+`]}`)
		r.want(first, "200 profile=a attempts=1")
		var told struct{ Output []json.RawMessage }
		if err := json.Unmarshal([]byte(first.body), &told); err != nil {
			t.Fatal(err)
		}
		var items, results []string
		for _, item := range told.Output {
			items = append(items, string(item))
			var call struct {
				CallID string `json:"call_id"`
			}
			if json.Unmarshal(item, &call) == nil && call.CallID != "" {
				results = append(results, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"sunny"}`, call.CallID))
			}
		}
		if len(results) != 2 {
			t.Fatalf("%d calls in %s", len(results), first.body)
		}
		input := strings.Join(append(append([]string{question}, items...), results...), ",")
		r.sim.Push("a", simulator.Unauthorized)
		for _, stream := range []string{"", `"stream":true,`} {
			second := r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1",`+stream+more+`,"input":[`+input+`]}`)
			if second.status != http.StatusOK || second.header.Get(headerProfile) != "b" || !strings.Contains(second.body, "sunny") {
				t.Errorf("%s %s\n%s", second.line(), second.body, input)
			}
		}
		r.settle()
	})
}

// What an account has sealed comes back to it by way of a client of Responses, text and all; another account of its kind never
// sees it, nor one of OpenAI's what others have sealed.
func TestResponsesSealsReturn(t *testing.T) {
	const thought = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},` +
		`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5}}`
	const tools = `"tools":[{"type":"function","name":"f"}]`
	f := func(second router.Protocol, refused bool, want, never string) {
		t.Helper()
		var seen []*http.Request
		r := behindCanned(t, router.ProtocolMessages, &seen, "200"+thought)
		r.router.Snapshot().Table.Profiles[1].Protocol = second
		first := r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":[{"role":"user","content":"hi"}],`+tools+`}`)
		var told struct{ Output []json.RawMessage }
		if err := json.Unmarshal([]byte(first.body), &told); err != nil || len(told.Output) != 2 {
			t.Fatalf("%v in %s", err, first.body)
		}
		if refused {
			r.router.Observe("a", quota.Call{Model: "sim-1", At: time.Now()}, quota.Reading{Class: quota.AuthInvalid})
		}
		r.send(http.MethodPost, "/v1/responses", fmt.Sprintf(`{"model":"sim-1",%s,"input":[{"role":"user","content":"hi"},%s,%s,{"type":"function_call_output","call_id":"toolu_1","output":"x"}]}`, tools, told.Output[0], told.Output[1]))
		body, _ := io.ReadAll(seen[1].Body)
		if want != "" && !strings.Contains(string(body), want) || never != "" && strings.Contains(string(body), never) {
			t.Errorf("%s, refused %v: asked with %s", second, refused, body)
		}
	}
	f(router.ProtocolMessages, false, `{"type":"thinking","thinking":"Hm.","signature":"c2ln"}`, "")
	f(router.ProtocolMessages, true, `"tool_use"`, "c2ln")
	f(router.ProtocolResponses, true, `"function_call_output"`, "c2ln")
	f(router.ProtocolChat, true, `"tool_calls"`, "c2ln")
}
