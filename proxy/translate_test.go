package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes-hub/router"
)

// account is a protocol that a chat client is served in by translation, with what its accounts say.
type account struct {
	protocol         router.Protocol
	path, streamPath string
	start, text, end string // a stream
	whole            string
	refusal          string // an error in the place of an answer, or in a stream
}

func accountsOfOthers() []account {
	google := func(text, rest string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]}` + rest + `}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5},"modelVersion":"sim-1","responseId":"r1"}`
	}
	event := func(data string) string { return "data: " + data + "\n\n" }
	const stop = `,"finishReason":"STOP"`
	const overloaded = `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`
	return []account{
		{
			router.ProtocolMessages, "/v1/messages", "/v1/messages", messagesStart, messagesText, messagesEnd,
			`{"id":"msg_1","type":"message","role":"assistant","model":"sim-1","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":5}}`,
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		},
		{
			router.ProtocolResponses, "/v1/responses", "/v1/responses", responsesStart,
			"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
				"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\"hi\"}\n\n",
			"event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}}\n\n" + responsesEnd,
			`{"id":"resp_1","object":"response","status":"completed","output":[{"id":"m1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":5}}`,
			`{"type":"error","error":{"code":"server_is_overloaded","message":"Overloaded"}}`,
		},
		{
			router.ProtocolGemini, "/v1/models/sim-1:generateContent", "/v1/models/sim-1:streamGenerateContent?alt=sse",
			event(`{"candidates":[],"responseId":"r1"}`), event(google("hi", "")), event(google("", stop)), google("hi", stop), overloaded,
		},
		{
			router.ProtocolCloudCode, "/v1/v1internal:generateContent", "/v1/v1internal:streamGenerateContent?alt=sse",
			event(`{"response":{"candidates":[],"responseId":"r1"}}`), event(`{"response":` + google("hi", "") + `}`), event(`{"response":` + google("", stop) + `}`),
			`{"response":` + google("hi", stop) + `}`, overloaded,
		},
	}
}

// said joins what a chat client was told, streamed or whole.
func said(body string) string {
	var b strings.Builder
	for _, piece := range strings.Split(body, `"content":"`)[1:] {
		text, _, _ := strings.Cut(piece, `"`)
		b.WriteString(text)
	}
	return b.String()
}

// P01, P02, P09, P22: a chat client on accounts of every other protocol: it reads a completion, with its usage and its end;
// what fails before the first content is another account's turn; what breaks off after it ends in an error and a cut.
func TestTranslated(t *testing.T) {
	for _, a := range accountsOfOthers() {
		t.Run(string(a.protocol), func(t *testing.T) {
			f := func(name, ask, want, text string, answers ...string) {
				t.Helper()
				var seen []*http.Request
				r := behindCanned(t, a.protocol, &seen, answers...)
				got := r.chat(ask)
				if got.line() != want || said(got.body) != text {
					t.Errorf("%s\n got %s %q\nwant %s\nbody %q", name, got.line(), said(got.body), want, got.body)
				}
				path := a.path
				if strings.Contains(ask, `"stream":true`) {
					path = a.streamPath
				}
				if p := seen[0].URL.RequestURI(); p != path {
					t.Errorf("%s: called %s, want %s", name, p, path)
				}
				r.settle()
				if u := r.told.last().Attempts[len(r.told.last().Attempts)-1].Usage; got.err == nil && got.status == 200 && (u.Input != 3 || u.Output != 5) {
					t.Errorf("%s: usage %+v", name, u)
				}
			}
			stream := a.start + a.text + a.end
			broken := "event: error\ndata: " + a.refusal + "\n\n"
			if a.protocol == router.ProtocolGemini || a.protocol == router.ProtocolCloudCode {
				broken = "data: " + a.refusal + "\n\n"
			}
			const cut = "200 profile=a attempts=1 code=upstream_interrupted cut"
			f("streamed", askStream, "200 profile=a attempts=1 [DONE]", "hi", stream)
			f("whole", ask, "200 profile=a attempts=1", "hi", "200"+a.whole)
			f("streamed, answered whole", askStream, "200 profile=a attempts=1 [DONE]", "hi", "200"+a.whole)
			f("refused", askStream, "200 profile=b attempts=2 after=overloaded [DONE]", "hi", a.refusal, stream)
			f("an error in a 200", ask, "200 profile=b attempts=2 after=overloaded", "hi", "200"+a.refusal, "200"+a.whole)
			f("a stream that begins with an error", askStream, "200 profile=b attempts=2 after=overloaded [DONE]", "hi", broken, stream)
			f("no JSON", askStream, "200 profile=b attempts=2 after=server_error [DONE]", "hi", "data: {\"oops\n\n", stream)
			f("an empty stream", askStream, "200 profile=b attempts=2 after=server_error [DONE]", "hi", a.start, stream)
			f("cut before its end", askStream, cut, "hi", a.start+a.text)
		})
	}
}

// lingering is an upstream that leaves the connection open behind its stream.
type lingering struct{ stream string }

func (l lingering) RoundTrip(req *http.Request) (*http.Response, error) {
	near, far := io.Pipe()
	go func() {
		_, _ = io.WriteString(far, l.stream)
		<-req.Context().Done()
		far.CloseWithError(context.Cause(req.Context()))
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: near, ContentLength: -1, Request: req}, nil
}

// A stream without an end mark whose connection stays open is over when its answer is: what it used may still be told for
// a moment. One with an end mark is over at once.
func TestLingeringStreams(t *testing.T) {
	for _, a := range accountsOfOthers() {
		bubble(t, setup{profiles: speaking(a.protocol)}, func(t *testing.T, r *rig) {
			r.proxy.transport = func(*router.Profile) http.RoundTripper { return lingering{a.start + a.text + a.end} }
			began := time.Now()
			r.want(r.chat(askStream), "200 profile=a attempts=1 [DONE]")
			if took := time.Since(began); took > usageGrace+drainGrace {
				t.Errorf("%s took %s", a.protocol, took)
			}
			if u := r.told.last().Attempts[0].Usage; u.Output != 5 {
				t.Errorf("%s: usage %+v", a.protocol, u)
			}
		})
	}
}

// A request that one account's protocol cannot express goes to one that can. When none can, the client reads which member
// it is, and nobody was called or blamed.
func TestUnsayable(t *testing.T) {
	const stops = `{"model":"sim-1","messages":[{"role":"user","content":"hi"}],"stop":["END"]}`
	f := func(protocols []router.Protocol, want, calls string) {
		t.Helper()
		r := newRig(t, setup{profiles: func(ps []router.Profile) {
			for i, p := range protocols {
				ps[i].Protocol = p
			}
		}})
		got := r.chat(stops)
		r.want(got, want)
		r.wantCalls(calls)
		if got.status == 400 && !strings.Contains(got.body, `"param":"stop"`) {
			t.Errorf("%s", got.body)
		}
		trail, _ := r.trails.Find(got.header.Get(headerRequestID))
		if why := trail.Candidates[0].Reason; why == nil || *why != "not_expressible" {
			t.Errorf("the trail says %v", why)
		}
	}
	responses, chat := router.ProtocolResponses, router.ProtocolChat
	f([]router.Protocol{responses, chat, chat}, "200 profile=b attempts=1", "a=0 b=1 c=0")
	f([]router.Protocol{responses, responses, responses}, "400 code=invalid_request_error", "a=0 b=0 c=0")
}

// What an account's protocol has no place for is left out and named, in words that cannot break the header.
func TestDroppedIsNamed(t *testing.T) {
	r := behindCanned(t, router.ProtocolMessages, nil, messagesStart+messagesText+messagesEnd)
	got := r.chat(`{"model":"sim-1","messages":[{"role":"user","content":"hi"}],"stream":true,"seed":7,"x\r\ny":1}`)
	r.want(got, "200 profile=a attempts=1 [DONE]")
	if dropped := got.header.Get(headerDropped); dropped != "seed, ?" {
		t.Errorf("dropped: %q", dropped)
	}
}

// An account that gives nothing but streams serves those who want a whole answer all the same.
func TestOnlyStreams(t *testing.T) {
	f := func(path, ask, want string) {
		t.Helper()
		var seen []*http.Request
		a := accountsOfOthers()[1]
		r := behindCanned(t, a.protocol, &seen, a.start+a.text+a.end)
		codex, _ := router.ProviderByID("openai-codex")
		for _, p := range r.router.Snapshot().Table.Profiles {
			p.Provider = codex
		}
		got := r.send(http.MethodPost, path, ask)
		r.want(got, "200 profile=a attempts=1")
		if !strings.Contains(got.body, want) || strings.Contains(got.body, "data:") {
			t.Errorf("%s: %s", path, got.body)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/json" { // OpenAI's library for Go believes it
			t.Errorf("%s: the whole answer is called %q", path, kind)
		}
		body, _ := io.ReadAll(seen[0].Body)
		if !strings.Contains(string(body), `"stream":true`) || !strings.Contains(string(body), `"store":false`) {
			t.Errorf("%s: the account got %s", path, body)
		}
	}
	f("/v1/chat/completions", ask, `"content":"hi"`)
	f("/v1/responses", `{"model":"sim-1","input":"hi"}`, `"text":"hi"`)
}

// keys are credentials that run out and are renewed.
type keys struct {
	current, other string // "" = there is none
	refused        int
}

func (k *keys) Current(context.Context, *router.Profile) (Credential, error) {
	if k.current == "" {
		return Credential{}, errors.New("nobody signed in")
	}
	return Credential{Token: router.NewSecret(k.current), OAuth: true}, nil
}

func (k *keys) Refused(context.Context, *router.Profile, Credential) (Credential, bool) {
	k.refused++
	return Credential{Token: router.NewSecret(k.other), OAuth: true}, k.other != ""
}

// P07: an account whose token is refused is called once more with another, if there is one, and only then is another
// account's turn. One without any is passed over.
func TestRenewedCredential(t *testing.T) {
	f := func(k keys, want, calls string, refused int) {
		t.Helper()
		r := newRig(t, setup{})
		r.proxy.credentials = &k
		var called []string
		r.proxy.transport = func(p *router.Profile) http.RoundTripper {
			return canned(func(req *http.Request) (int, string, string) {
				called = append(called, p.ID+" "+strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "))
				if p.ID == "a" && req.Header.Get("Authorization") != "Bearer good" {
					return http.StatusUnauthorized, "application/json", badKey
				}
				return http.StatusOK, "application/json", wholeAnswer
			})
		}
		r.want(r.chat(ask), want)
		if got := strings.Join(called, ", "); got != calls || k.refused != refused {
			t.Errorf("called %s; %d times refused", got, k.refused)
		}
	}
	f(keys{current: "good"}, "200 profile=a attempts=1", "a good", 0)
	f(keys{current: "old", other: "good"}, "200 profile=a attempts=1", "a old, a good", 1)
	f(keys{current: "old", other: "bad"}, "200 profile=b attempts=2 after=auth_invalid", "a old, a bad, b old", 1)
	f(keys{current: "old"}, "200 profile=b attempts=2 after=auth_invalid", "a old, b old", 1)
	f(keys{}, "503 attempts=3 after=auth_expired,auth_expired,auth_expired code=upstream_unavailable", "", 0)
}

// Somebody's own sign-in travels as a bearer, with what its provider wants to hear besides.
func TestSignedIn(t *testing.T) {
	var seen []*http.Request
	r := behindCanned(t, router.ProtocolMessages, &seen, messagesStart+messagesText+messagesEnd)
	r.proxy.credentials = &keys{current: "token"}
	r.send(http.MethodPost, "/v1/messages", messagesAsk, "Anthropic-Beta", "context-1m-2025-08-07")
	h := seen[0].Header
	if h.Get("Authorization") != "Bearer token" || h.Get("X-Api-Key") != "" || h.Get("Anthropic-Beta") != "context-1m-2025-08-07,oauth-2025-04-20" {
		t.Errorf("%v", h)
	}
}
