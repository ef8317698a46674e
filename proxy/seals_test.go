package proxy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hermes-hub/router"
)

// sealing are accounts that seal what they think as their own, and refuse what another has sealed if they are strict.
type sealing struct {
	r      *rig
	strict bool
	bodies []string // what they were sent, the account's id in front
}

const (
	messagesThought  = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"seal-of-%s"},{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":5}}`
	responsesThought = `{"id":"resp_1","object":"response","status":"completed","output":[{"id":"r1","type":"reasoning","summary":[],"encrypted_content":"seal-of-%s"},{"id":"m1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":5}}`
	chatPlain        = `{"choices":[{"index":0,"message":{"role":"assistant","content":"from %s"},"finish_reason":"stop"}]}`

	refusedThought   = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`
	refusedEncrypted = `{"error":{"message":"The encrypted content for item r1 could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`
)

func (s *sealing) RoundTrip(p *router.Profile) http.RoundTripper {
	return canned(func(req *http.Request) (int, string, string) {
		body, _ := io.ReadAll(req.Body)
		s.bodies = append(s.bodies, p.ID+" "+string(body))
		foreign := strings.Contains(strings.ReplaceAll(string(body), "seal-of-"+p.ID, ""), "seal-of-")
		switch {
		case p.Protocol == router.ProtocolChat:
			return 200, "application/json", fmt.Sprintf(chatPlain, p.ID)
		case foreign && s.strict && p.Protocol == router.ProtocolMessages:
			return 400, "application/json", refusedThought
		case foreign && s.strict:
			return 400, "application/json", refusedEncrypted
		case p.Protocol == router.ProtocolMessages:
			return 200, "application/json", fmt.Sprintf(messagesThought, p.ID)
		default:
			return 200, "application/json", fmt.Sprintf(responsesThought, p.ID)
		}
	})
}

func newSealing(t *testing.T, strict bool, protocols ...router.Protocol) *sealing {
	r := newRig(t, setup{profiles: func(ps []router.Profile) {
		for i := range ps {
			ps[i].Protocol = protocols[i]
		}
	}, settings: func(s *router.Settings) { s.AutoReturnPrimary = false }})
	s := &sealing{r: r, strict: strict}
	r.proxy.transport = s.RoundTrip
	return s
}

// Reasoning that one account has sealed goes back to that account, whole, and to no other: there it is left out, and the
// client is told.
func TestSealsGoHome(t *testing.T) {
	f := func(protocol router.Protocol, path, first, second, named string) {
		t.Helper()
		s := newSealing(t, false, protocol, protocol, protocol)
		s.r.send(http.MethodPost, path, first) // account a seals
		got := s.r.send(http.MethodPost, path, second)
		if d := got.header.Get(headerDropped); d != "" || !strings.Contains(s.bodies[1], "seal-of-a") {
			t.Errorf("%s: at home: dropped %q of %s", path, d, s.bodies[1])
		}
		takeOut(t, s.r, "a")
		got = s.r.send(http.MethodPost, path, second)
		if d := got.header.Get(headerDropped); d != named || strings.Contains(s.bodies[2], "seal-of-a") || !strings.HasPrefix(s.bodies[2], "b ") || got.status != 200 {
			t.Errorf("%s: elsewhere: dropped %q of %s", path, d, s.bodies[2])
		}
	}
	f(router.ProtocolMessages, "/v1/messages", `{"model":"sim-1","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"sim-1","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"seal-of-a"},{"type":"text","text":"hi"}]},{"role":"user","content":"y"}]}`,
		"messages[].content[].thinking")
	f(router.ProtocolResponses, "/v1/responses", `{"model":"sim-1","input":"x"}`,
		`{"model":"sim-1","input":[{"type":"reasoning","summary":[],"encrypted_content":"seal-of-a"},{"role":"user","content":"y"}]}`, "input[].reasoning")
	details := `{"model":"sim-1","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"seal-of-a","format":"anthropic-claude-v1","index":0}]},{"role":"user","content":"y"}]}`
	f(router.ProtocolMessages, "/v1/chat/completions", ask, details, "messages[].reasoning_details")
}

// takeOut takes an account out.
func takeOut(t *testing.T, r *rig, profile string) {
	t.Helper()
	before := r.proxy.transport
	defer func() { r.proxy.transport = before }()
	r.proxy.transport = func(p *router.Profile) http.RoundTripper {
		return canned(func(*http.Request) (int, string, string) {
			if p.ID == profile {
				return 401, "application/json", badKey
			}
			return 200, "application/json", fmt.Sprintf(chatPlain, p.ID)
		})
	}
	r.send(http.MethodPost, "/v1/messages", `{"model":"sim-1","messages":[]}`)
	r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":[]}`)
	r.chat(ask)
	for i := range r.router.Snapshot().Table.Profiles {
		if p := r.router.Snapshot().Table.Profiles[i]; p.ID != profile {
			r.router.ClearCooldown(p.ID)
		}
	}
}

// A conversation that moves on to an account of the client's own protocol leaves behind there, too, what another sealed.
func TestSealsStayBehind(t *testing.T) {
	s := newSealing(t, false, router.ProtocolMessages, router.ProtocolChat, router.ProtocolChat)
	s.r.chat(ask)
	takeOut(t, s.r, "a")
	got := s.r.chat(`{"model":"sim-1","messages":[{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.text","signature":"seal-of-a"}]},{"role":"user","content":"y"}]}`)
	s.r.want(got, "200 profile=b attempts=1")
	if last := s.bodies[len(s.bodies)-1]; strings.Contains(last, "seal-of-a") || got.header.Get(headerDropped) != "messages[].reasoning_details" {
		t.Errorf("dropped %q of %s", got.header.Get(headerDropped), last)
	}
}

// Of seals that the hub knows nothing of, from before it was started, the account itself says whether it can open them. If
// not, it is asked once more without, within the same attempt, and the client is told. It is not blamed.
func TestUnknownSeals(t *testing.T) {
	f := func(protocol router.Protocol, strict bool, path, ask, named string, calls int) {
		t.Helper()
		s := newSealing(t, strict, protocol, protocol, protocol)
		got := s.r.send(http.MethodPost, path, ask)
		s.r.want(got, "200 profile=a attempts=1")
		if d := got.header.Get(headerDropped); d != named || len(s.bodies) != calls || !strings.Contains(s.bodies[0], "seal-of-x") {
			t.Errorf("%s: dropped %q, calls %q", path, d, s.bodies)
		}
		if health := s.r.router.Snapshot().Standings[0]; len(health.Blocks(s.r.told.last().Start)) != 0 {
			t.Error("the account was blamed")
		}
	}
	const messages = `{"model":"sim-1","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"seal-of-x"},{"type":"text","text":"hi"}]},{"role":"user","content":"y"}]}`
	const responses = `{"model":"sim-1","input":[{"type":"reasoning","summary":[],"encrypted_content":"seal-of-x"},{"role":"user","content":"y"}]}`
	const details = `{"model":"sim-1","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"hi","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"seal-of-x","format":"anthropic-claude-v1","index":0}]},{"role":"user","content":"y"}]}`
	f(router.ProtocolMessages, false, "/v1/messages", messages, "", 1)
	f(router.ProtocolMessages, true, "/v1/messages", messages, "messages[].content[].thinking", 2)
	f(router.ProtocolResponses, true, "/v1/responses", responses, "input[].reasoning", 2)
	f(router.ProtocolMessages, true, "/v1/chat/completions", details, "messages[].reasoning_details", 2)
	onlyThought := strings.Replace(details, `"content":"hi",`, "", 1)
	f(router.ProtocolMessages, true, "/v1/chat/completions", onlyThought, "messages[].reasoning_details", 2)
}

// A conversation that one account has compacted can be gone on with by that account alone.
func TestCompactedElsewhere(t *testing.T) {
	s := newSealing(t, false, router.ProtocolResponses, router.ProtocolResponses, router.ProtocolResponses)
	s.r.proxy.seals.keep("whole-story", "b")
	got := s.r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":[{"type":"compaction","encrypted_content":"whole-story"},{"role":"user","content":"y"}]}`)
	s.r.want(got, "200 profile=b attempts=1")
}

// The memory is bounded, and forgets what was made least recently.
func TestSealsAreBounded(t *testing.T) {
	s := newSeals()
	for i := range sealsCap {
		s.keep(fmt.Sprint(i), "a")
	}
	s.keep("0", "b")
	s.keep("new", "c")
	got := []string{s.owner("0"), s.owner("1"), s.owner("2"), s.owner("new")}
	if want := []string{"b", "", "a", "c"}; !slices.Equal(got, want) || len(s.owners) != sealsCap || s.order.Len() != sealsCap {
		t.Errorf("owners %q, want %q; %d of them", got, want, len(s.owners))
	}
}
