package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/router"
)

const (
	messagesAsk  = `{"model":"sim-1","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":true}`
	responsesAsk = `{"model":"sim-1","input":"hi","stream":true,"store":false}`

	messagesStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
	messagesText  = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
	messagesEnd = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

	responsesStart = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n"
	responsesText  = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"delta\":\"hi\"}\n\n"
	responsesEnd   = "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":5}}}\n\n"
)

// speaking gives every account this protocol.
func speaking(protocol router.Protocol) func([]router.Profile) {
	return func(ps []router.Profile) {
		for i := range ps {
			ps[i].Protocol = protocol
		}
	}
}

// own is a client's protocol with what passes between it and an account of the same.
type own struct {
	protocol         router.Protocol
	path, ask        string
	start, text, end string
	broken           string // how the client is told that the rest will not come
}

func owns() []own {
	return []own{
		{router.ProtocolChat, "/v1/chat/completions", askStream, chunkRole, chunkText, chunkFinish + chunkDone, `data: {"error":{"message":"connection lost`},
		{
			router.ProtocolMessages, "/v1/messages", messagesAsk, messagesStart, messagesText, messagesEnd,
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"connection lost",
		},
		{
			router.ProtocolResponses, "/v1/responses", responsesAsk, responsesStart, responsesText, responsesEnd,
			"event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",",
		},
	}
}

// behindCanned is a rig whose accounts answer with these bytes, the last of them again and again: a stream, a refusal that
// is an object, or a whole answer behind "200".
func behindCanned(t *testing.T, protocol router.Protocol, seen *[]*http.Request, answers ...string) *rig {
	t.Helper()
	r := newRig(t, setup{profiles: speaking(protocol)})
	r.proxy.transport = func(*router.Profile) http.RoundTripper {
		return canned(func(req *http.Request) (int, string, string) {
			if seen != nil {
				body, _ := io.ReadAll(req.Body)
				req.Body = io.NopCloser(strings.NewReader(string(body)))
				*seen = append(*seen, req)
			}
			answer := answers[0]
			if len(answers) > 1 {
				answers = answers[1:]
			}
			switch whole, ok := strings.CutPrefix(answer, "200"); {
			case ok:
				return http.StatusOK, "application/json", whole
			case strings.HasPrefix(answer, "{"):
				return http.StatusServiceUnavailable, "application/json", answer
			default:
				return http.StatusOK, "text/event-stream", answer
			}
		})
	}
	return r
}

// P01, P02, P09, P22: the same on every surface: the account's bytes pass, a refusal and a stream that begins with an error
// are another account's turn, and a stream that breaks off tells so in the client's protocol and is cut.
func TestOwnProtocols(t *testing.T) {
	for _, o := range owns() {
		t.Run(string(o.protocol), func(t *testing.T) {
			whole := o.start + o.text + o.end
			f := func(want, body string, answers ...string) {
				t.Helper()
				r := behindCanned(t, o.protocol, nil, answers...)
				got := r.send(http.MethodPost, o.path, o.ask)
				if line := strings.TrimSuffix(got.line(), " [DONE]"); line != want || !strings.HasPrefix(got.body, body) {
					t.Errorf("\n got %s %q\nwant %s %q", line, got.body, want, body)
				}
				r.settle()
			}
			const busy = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded","code":"server_is_overloaded"}}`
			f("200 profile=a attempts=1", whole, whole)
			f("200 profile=b attempts=2 after=overloaded", whole, busy, whole)
			f("200 profile=b attempts=2 after=server_error", whole, o.start, whole)
			f("200 profile=b attempts=2 after=overloaded", whole, "event: error\ndata: "+busy+"\n\n", whole)
			f("200 profile=a attempts=1 code=upstream_interrupted cut", o.start+o.text+o.broken, o.start+o.text)
		})
	}
}

// A client's headers of Anthropic's API go to accounts of the same, byte for byte; the account's key goes the way of its
// provider. The address is right whether the base URL ends in /v1 or not.
func TestMessagesUpstream(t *testing.T) {
	f := func(path, body, base, wantPath string, headers []string, want map[string]string) {
		t.Helper()
		var seen []*http.Request
		r := behindCanned(t, router.ProtocolMessages, &seen, messagesStart+messagesText+messagesEnd)
		claude, _ := router.ProviderByID("claude")
		for _, p := range r.router.Snapshot().Table.Profiles {
			p.BaseURL, p.Provider = base, claude
		}
		r.send(http.MethodPost, path, body, headers...)
		if len(seen) == 0 || seen[0].URL.Path != wantPath {
			t.Fatalf("%s: calls %v", path, seen)
		}
		for name, value := range want {
			if got := strings.Join(seen[0].Header[name], "|"); got != value {
				t.Errorf("%s: %s is %q, want %q", path, name, got, value)
			}
		}
	}
	plain := map[string]string{"X-Api-Key": "sk-upstream-a", "Authorization": "", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": ""}
	f("/v1/messages", messagesAsk, "http://up.test", "/v1/messages", nil, plain)
	f("/v1/messages", messagesAsk, "http://up.test/v1", "/v1/messages", nil, plain)
	f("/r/main/anthropic/v1/messages", messagesAsk, "http://up.test/anthropic", "/anthropic/v1/messages", nil, plain)
	f("/v1/messages?beta=true", messagesAsk, "http://up.test", "/v1/messages", []string{"Anthropic-Version", "2026-10-21", "Anthropic-Beta", "a-1,b-2", "X-Api-Key", "client"},
		map[string]string{"Anthropic-Version": "2026-10-21", "Anthropic-Beta": "a-1,b-2", "X-Api-Key": "sk-upstream-a"})
}

// The hub keeps no answers: what would go on with one, or leave one, is refused by name, and none is found. An account is
// asked to keep none.
func TestNothingIsKept(t *testing.T) {
	var seen []*http.Request
	r := behindCanned(t, router.ProtocolResponses, &seen, responsesStart+responsesText+responsesEnd)
	f := func(member, field string) {
		t.Helper()
		got := r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"hi",`+member+`}`)
		r.want(got, "400 code=invalid_request_error")
		if !strings.Contains(got.body, `"param":"`+field+`"`) {
			t.Errorf("%s: %s", member, got.body)
		}
	}
	f(`"previous_response_id":"resp_1"`, "previous_response_id")
	f(`"background":true`, "background")
	f(`"conversation":{"id":"conv_1"}`, "conversation")
	r.want(r.send(http.MethodGet, "/v1/responses/resp_1", ""), "404 code=not_found")
	r.want(r.send(http.MethodDelete, "/v1/responses/resp_1", ""), "404 code=not_found")
	r.want(r.send(http.MethodPost, "/r/main/v1/responses/resp_1/cancel", ""), "404 code=not_found")
	if len(seen) != 0 {
		t.Fatalf("%d calls", len(seen))
	}
	r.want(r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"hi","stream":true}`), "200 profile=a attempts=1")
	if body, _ := io.ReadAll(seen[0].Body); string(body) != `{"store":false,"model":"sim-1","input":"hi","stream":true}` {
		t.Errorf("the account got %s", body)
	}
}

// What only accounts of one protocol can do is refused in a way that its clients go on from, where the role has none.
// Claude Code counts for itself then.
func TestNobodyCan(t *testing.T) {
	r := newRig(t, setup{})
	got := r.send(http.MethodPost, "/v1/messages/count_tokens", `{"model":"sim-1","messages":[]}`)
	r.want(got, "404 code=not_found")
	if !strings.HasPrefix(got.body, `{"type":"error","error":{"type":"not_found_error","message":"no account of role \"main\" can count tokens"`) {
		t.Errorf("%s", got.body)
	}
	r.want(r.send(http.MethodPost, "/v1/responses/compact", `{"model":"sim-1","input":[]}`), "404 code=not_found")
}

// Counting is an aside: what comes of it changes nothing about an account.
func TestCountingIsAnAside(t *testing.T) {
	r := behindCanned(t, router.ProtocolMessages, nil, `{"type":"error","error":{"type":"rate_limit_error","message":"Rate limited"}}`)
	got := r.send(http.MethodPost, "/v1/messages/count_tokens", `{"model":"sim-1","messages":[]}`)
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, `"type":"api_error"`) {
		t.Errorf("%s %s", got.line(), got.body)
	}
	for i, health := range r.router.Snapshot().Standings {
		if len(health.Blocks(r.told.last().Start)) != 0 {
			t.Errorf("account %d was blamed", i)
		}
	}
}
