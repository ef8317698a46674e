package proxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// voice is a client of one protocol in front of accounts of another, or of the same.
type voice struct {
	file            string // of what is expected, in testdata
	account         router.Protocol
	codex           bool // the accounts are of ChatGPT's Codex backend
	path            string
	plain, streamed string // bodies
}

func voices() []voice {
	const chat, anthropic, openai = "/v1/chat/completions", "/v1/messages", "/v1/responses"
	const messages = `{"model":"sim-1","max_tokens":64,"messages":[{"role":"user","content":"hi"}]%s}`
	const responses = `{"model":"sim-1","input":"hi"%s}`
	with := func(body, more string) string { return fmt.Sprintf(body, more) }
	const stream = `,"stream":true`
	return []voice{
		{"faults.txt", router.ProtocolChat, false, chat, ask, askStream},
		{"faults_messages.txt", router.ProtocolMessages, false, anthropic, with(messages, ""), with(messages, stream)},
		{"faults_responses.txt", router.ProtocolResponses, false, openai, with(responses, ""), with(responses, stream)},
		{"faults_codex.txt", router.ProtocolResponses, true, openai, with(responses, ""), with(responses, stream)},
		{"faults_chat_over_messages.txt", router.ProtocolMessages, false, chat, ask, askStream},
		{"faults_chat_over_responses.txt", router.ProtocolResponses, false, chat, ask, askStream},
		{"faults_chat_over_codex.txt", router.ProtocolResponses, true, chat, ask, askStream},
		{"faults_chat_over_gemini.txt", router.ProtocolGemini, false, chat, ask, askStream},
		{"faults_chat_over_cloudcode.txt", router.ProtocolCloudCode, false, chat, ask, askStream},
		{"faults_responses_over_chat.txt", router.ProtocolChat, false, openai, with(responses, ""), with(responses, stream)},
		{"faults_responses_over_messages.txt", router.ProtocolMessages, false, openai, with(responses, ""), with(responses, stream)},
		{"faults_responses_over_gemini.txt", router.ProtocolGemini, false, openai, with(responses, ""), with(responses, stream)},
		{"faults_responses_over_cloudcode.txt", router.ProtocolCloudCode, false, openai, with(responses, ""), with(responses, stream)},
	}
}

// over makes every account of a setup one of the voice's.
func (v voice) over(s setup) setup {
	s.profiles = speaking(v.account)
	if v.account == router.ProtocolCloudCode {
		s.keys = signedIn{}
	}
	if v.codex {
		s.keys = signedIn{}
		s.profiles = func(ps []router.Profile) {
			speaking(v.account)(ps)
			codex, _ := router.ProviderByID("openai-codex")
			for i := range ps {
				ps[i].Provider = codex
				ps[i].BaseURL = strings.TrimSuffix(ps[i].BaseURL, "/v1") + "/backend-api/codex"
			}
		}
	}
	return s
}

// signedIn are the credentials of subscriptions that somebody has signed in to.
type signedIn struct{}

func (signedIn) Current(_ context.Context, p *router.Profile) (Credential, error) {
	return Credential{Token: p.Credential, OAuth: true, AccountID: "account-of-" + p.ID, Project: "project-of-" + p.ID}, nil
}

func (signedIn) Refused(context.Context, *router.Profile, Credential) (Credential, bool) {
	return Credential{}, false
}

func (v voice) name() string { return strings.TrimSuffix(v.file, ".txt") }

func (r *rig) speak(v voice, streamed bool) reply {
	r.t.Helper()
	if streamed {
		return r.send("POST", v.path, v.streamed)
	}
	return r.send("POST", v.path, v.plain)
}

// eachVoice runs f in a bubble for a client of each protocol over accounts of each.
func eachVoice(t *testing.T, s setup, f func(*testing.T, *rig, voice)) {
	t.Helper()
	for _, v := range voices() {
		t.Run(v.name(), func(t *testing.T) { bubble(t, v.over(s), func(t *testing.T, r *rig) { f(t, r, v) }) })
	}
}

// E01 for clients of every protocol: a committed stream that is silent beats in the client's own way, and beats are no
// content: the idle deadline ends it when it is due.
func TestHeartbeatsOfVoices(t *testing.T) {
	eachVoice(t, setup{config: func(c *Config) { c.IdleTimeout = 35 * time.Second }}, func(t *testing.T, r *rig, v voice) {
		r.sim.Push("a", simulator.Stall)
		began := time.Now()
		got := r.speak(v, true)
		if want := "200 profile=a attempts=1 code=upstream_interrupted cut"; got.line() != want || time.Since(began) != 35*time.Second {
			t.Errorf("got %s after %s\n%q", got.line(), time.Since(began), got.body)
		}
		beat := ": hub\n"
		if v.path == "/v1/messages" {
			beat = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
		}
		if n := strings.Count(got.body, beat); n != 3 {
			t.Errorf("%d heartbeats in 35 s: %q", n, got.body)
		}
		r.settle()
	})
}

// Deadlines mean the same over every protocol: what the upstream sends besides content moves none of them.
func TestDeadlinesOfVoices(t *testing.T) {
	f := func(step simulator.Step, streamed bool, want string, took time.Duration) {
		t.Helper()
		eachVoice(t, setup{}, func(t *testing.T, r *rig, v voice) {
			r.sim.Push("a", step)
			began := time.Now()
			got := r.speak(v, streamed)
			if line := strings.TrimSuffix(got.line(), " [DONE]"); line != want || time.Since(began).Round(time.Second) != took {
				t.Errorf("%s: got %s after %s, want %s after %s", step, line, time.Since(began), want, took)
			}
			r.settle()
		})
	}
	f(simulator.Hang, true, "200 profile=b attempts=2 after=timeout", 20*time.Second)
	f(simulator.StallHeartbeats.After(0), true, "200 profile=b attempts=2 after=timeout", 20*time.Second)
	f(simulator.StallHeartbeats, true, "200 profile=a attempts=1 code=upstream_interrupted cut", 30*time.Second)
	f(simulator.Hang, false, "503 attempts=1 code=upstream_unavailable", 60*time.Second)
}

// L03 for every voice: an account serves one at a time, and its slot is free as soon as its answer is whole.
func TestSlotsOfVoices(t *testing.T) {
	eachVoice(t, setup{}, func(t *testing.T, r *rig, v voice) {
		for range 3 {
			for _, streamed := range []bool{true, false} {
				if got := r.speak(v, streamed); !strings.HasPrefix(got.line(), "200 profile=a attempts=1") || got.err != nil {
					t.Errorf("%s %v", got.line(), got.err)
				}
				r.settle()
			}
		}
		r.wantCalls("a=6 b=0 c=0")
		if u := r.told.last().Attempts[0].Usage; !u.Known || u.Output == 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
