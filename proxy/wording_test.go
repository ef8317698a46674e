package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// situation is a way in which the hub comes to answer an error of its own.
type situation struct {
	name string
	meet func(*testing.T) reply
}

// alone meets a situation with one request to a rig in a bubble.
func alone(name string, s setup, body string, prepare func(*rig), headers ...string) situation {
	return situation{name, func(t *testing.T) (got reply) {
		bubble(t, s, func(_ *testing.T, r *rig) {
			if prepare != nil {
				prepare(r)
			}
			got = r.chat(body, headers...)
		})
		return got
	}}
}

// get meets a situation with a request that is no chat call.
func get(name string, s setup, method, path string, headers ...string) situation {
	return situation{name, func(t *testing.T) (got reply) {
		bubble(t, s, func(_ *testing.T, r *rig) { got = r.send(method, path, "", headers...) })
		return got
	}}
}

// play pushes one step to each account in turn.
func play(steps ...simulator.Step) func(*rig) {
	return func(r *rig) {
		for i, step := range steps {
			r.sim.Push([]string{"a", "b", "c"}[i], step)
		}
	}
}

// situations are the rows of the contract's error table, and every other way to an error that the hub words itself.
func situations() []situation {
	return slices.Concat(situationsOfRequests(), situationsOfRoles(), situationsOfAccounts(), situationsOfTheHub())
}

func situationsOfRequests() []situation {
	body := func(name, body string, headers ...string) situation {
		return alone("body: "+name, setup{}, body, nil, headers...)
	}
	return []situation{
		body("empty", ``),
		body("no JSON", `{`),
		body("no object", `[]`),
		body("text behind it", ask+`x`),
		body("not UTF-8", "{\"model\":\"\xff\",\"messages\":[]}"),
		body("nested too deeply", `{"model":"sim-1","messages":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}`),
		body("a member is missing", `{"model":"sim-1"}`),
		body("a member stands twice", `{"model":"sim-1","model":"sim-2","messages":[]}`),
		body("a member of another type", `{"model":["sim-1"],"messages":[]}`),
		body("stream of another type", `{"model":"sim-1","messages":[],"stream":"yes"}`),
		body("no model and no role", `{"messages":[{"role":"user","content":"hi"}]}`),
		body("too large", strings.Repeat(" ", 1<<20)+ask),
		body("encoded", ask, "Content-Encoding", "zstd"),
		{"body: stalled", stalledBody},
	}
}

func situationsOfRoles() []situation {
	keys := setup{config: func(c *Config) {
		c.Keys = []Key{{Name: "desk", Secret: router.NewSecret("key-desk"), Roles: []string{"other"}, DefaultRole: "other"}}
	}, roles: []router.Role{{ID: "main", Chain: []router.ChainItem{{Profile: "a"}}}, {ID: "other", Chain: []router.ChainItem{{Profile: "b"}}}}}
	nobody := setup{settings: func(s *router.Settings) { s.DefaultRole = "" }}
	desk := []string{"Authorization", "Bearer key-desk"}
	return []situation{
		alone("key: none", keys, ask, nil),
		alone("key: wrong", keys, ask, nil, "Authorization", "Bearer key-other"),
		alone("role: not for this key", keys, ask, nil, append(desk, headerRole, "main")...),
		alone("role: unknown in the header", setup{}, ask, nil, headerRole, "nobody"),
		alone("role: unknown in the metadata", setup{}, strings.Replace(ask, "{", `{"metadata":{"role":"nobody"},`, 1), nil),
		alone("role: unknown in the model", setup{}, strings.Replace(ask, "sim-1", "role:nobody", 1), nil),
		{"role: unknown in the path", unknownInPath},
		alone("role: none", nobody, ask, nil),
		alone("model: unknown", setup{}, strings.Replace(ask, "sim-1", "gpt-0", 1), nil),
		get("model: unknown in the list", setup{}, http.MethodGet, "/v1/models/gpt-0"),
		get("models: of an unknown role", setup{}, http.MethodGet, "/r/nobody/v1/models"),
		get("path", setup{}, http.MethodGet, "/v1/props"),
		get("method", setup{}, http.MethodGet, "/v1/chat/completions"),
		alone("page of another site", setup{}, ask, nil, "Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"),
		{"host of another name", foreignHost},
		get("WebSocket", setup{}, http.MethodGet, "/v1/responses", "Upgrade", "websocket", "Connection", "Upgrade"),
	}
}

func situationsOfAccounts() []situation {
	status := simulator.Status
	unused := func(change func(*router.Profile)) setup {
		return setup{profiles: func(ps []router.Profile) {
			for i := range ps {
				change(&ps[i])
			}
		}}
	}
	return []situation{
		alone("window: too small everywhere", setup{profiles: windows(64_000, 64_000, 64_000)}, ask, play(simulator.ContextTooLong)),
		alone("accounts: soon", setup{}, ask, play(status(429, tooMany, http.Header{"Retry-After": {"30"}}), quotaResets("7200"), status(429, quotaGone, nil))),
		alone("accounts: in ten minutes", setup{}, ask, play(quotaResets("600"), quotaResets("7200"), quotaResets("7200"))),
		alone("accounts: in two hours", setup{}, ask, play(quotaResets("90000"), quotaResets("7200"), quotaResets("8000"))),
		alone("accounts: in a week", setup{}, ask, play(quotaResets("604800"), quotaResets("604800"), quotaResets("604800"))),
		alone("accounts: nobody says when", setup{}, ask, play(status(429, quotaGone, nil), status(429, quotaGone, nil), simulator.ServerError)),
		alone("accounts: no credit", setup{}, ask, play(status(429, needCredit, nil), simulator.PaymentRequired, status(429, needCredit, nil))),
		alone("accounts: keys refused", setup{}, ask, play(status(401, badKey, nil), status(401, badKey, nil), simulator.Forbidden)),
		alone("accounts: no credit, keys refused", setup{}, ask, play(status(429, needCredit, nil), status(401, badKey, nil), status(429, needCredit, nil))),
		alone("accounts: broken", setup{}, askStream, play(simulator.ServerError, simulator.Overloaded529, simulator.ErrorFirst)),
		alone("accounts: without the model", setup{}, ask, play(simulator.NotFound, simulator.NotFound, simulator.NotFound)),
		alone("accounts: disabled", unused(func(p *router.Profile) { p.Enabled = false }), ask, nil),
		alone("accounts: of another protocol", unused(func(p *router.Profile) { p.Protocol = "of-tomorrow" }), ask, nil),
		alone("accounts: busy", unused(func(p *router.Profile) { p.MaxConcurrency = 1 }), ask, holdAll),
		alone("attempts used up", setup{settings: func(s *router.Settings) { s.MaxAttempts = 1 }}, ask, play(simulator.ServerError)),
		alone("nothing before the commit deadline", setup{}, askStream, play(simulator.Hang, simulator.Hang)),
		alone("nothing before the total deadline", setup{}, ask, play(simulator.Hang)),
	}
}

func situationsOfTheHub() []situation {
	return []situation{
		alone("hub: draining", setup{}, ask, func(r *rig) { r.proxy.Drain(r.t.Context()) }),
		{"hub: too many wait", tooManyWait},
		alone("hub: a bug", setup{}, ask, func(r *rig) { r.proxy.telemetry = bug{} }),
	}
}

// bug is what recoverPanics is for.
type bug struct{ Telemetry }

func (bug) Inflight(int)                { panic("a bug") }
func (bug) Observe(*telemetry.Exchange) {}

// holdAll takes every slot of every account.
func holdAll(r *rig) {
	var p router.Plan
	r.router.Plan(router.Query{Role: r.router.Snapshot().Table.Roles[0], Model: "sim-1"}, &p)
	for i := range p.Nodes {
		r.router.Acquire(&p.Nodes[i], router.Holder{})
	}
}

// tooManyWait comes when as many requests of the role wait as may.
func tooManyWait(t *testing.T) (got reply) {
	s := setup{
		config:   func(c *Config) { c.LeaseWait = 10 * time.Second },
		profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = 1 },
		accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}}},
	}
	bubble(t, s, func(_ *testing.T, r *rig) {
		holdAll(r)
		var waiting sync.WaitGroup
		for range 1000 {
			waiting.Go(func() { r.chat(ask) })
		}
		synctest.Wait()
		got = r.chat(ask)
		waiting.Wait()
	})
	return got
}

func unknownInPath(t *testing.T) (got reply) {
	bubble(t, setup{}, func(_ *testing.T, r *rig) { got = r.send(http.MethodPost, "/r/nobody/v1/chat/completions", ask) })
	return got
}

func foreignHost(t *testing.T) (got reply) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://evil.test/v1/chat/completions", strings.NewReader(ask))
		if err != nil {
			t.Fatal(err)
		}
		got = r.sendDirect(req)
	})
	return got
}

// stalledBody begins to send a body and stops.
func stalledBody(t *testing.T) (got reply) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		got = r.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: hub.test\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	})
	return got
}

// rightly is what Hermes must make of each code. A refusal of the caller's own doing is not asked for again; trouble of
// the accounts is, and never costs the conversation a word of its history.
var rightly = map[code]oracle.Reason{
	codeInvalidRequest:      oracle.FormatError,
	codeInvalidKey:          oracle.Auth,
	codeRoleForbidden:       oracle.Auth,
	codeForeignHost:         oracle.FormatError,
	codeCrossOrigin:         oracle.Auth,
	codeUpgradeRequired:     oracle.FormatError,
	codeModelNotFound:       oracle.ModelNotFound,
	codeNotFound:            oracle.Unknown,
	codeMethodNotAllowed:    oracle.FormatError,
	codeBodyTooLarge:        oracle.PayloadTooLarge,
	codeEncoding:            oracle.FormatError,
	codeBodyStalled:         oracle.Timeout,
	codeContextTooLong:      oracle.ContextOverflow,
	codeUpstreamUnavailable: oracle.Overloaded,
	codeUsageLimit:          oracle.RateLimit,
	codePayment:             oracle.Billing,
	codeHubUnavailable:      oracle.Overloaded,
	codeInternal:            oracle.ServerFault,
}

// Every error that the hub words itself, and what each client makes of it: statuses, codes and words are a protocol, for
// clients decide by them whether to wait, to come again, to leave, to drop a key or to forget half of a conversation. The
// golden file has a block for each situation; the rules that it must keep stand here, in wordingRules and below.
func TestWording(t *testing.T) {
	var text strings.Builder
	met := map[code]bool{}
	for _, s := range situations() {
		got := s.meet(t)
		var told envelope
		if err := oracle.Readable(got.header, []byte(got.body)); err != nil || json.Unmarshal([]byte(got.body), &told) != nil {
			t.Errorf("%s: %d, not readable: %v", s.name, got.status, err)
			continue
		}
		met[told.Error.Code] = true
		if m := meanings[told.Error.Code]; m.status != got.status || m.kind != told.Error.Type {
			t.Errorf("%s: %d %s %s, want %+v", s.name, got.status, told.Error.Code, told.Error.Type, m)
		}
		for _, broken := range wordingRules(got, told.Error) {
			t.Errorf("%s: %d %s %q: %s", s.name, got.status, told.Error.Code, told.Error.Message, broken)
		}
		block(&text, s.name, got, told.Error)
	}
	for c := range maps.Keys(meanings) {
		if !met[c] && c != codeInterrupted { // which has a test of its own: it comes inside a stream
			t.Errorf("no situation leads to %s", c)
		}
	}
	golden(t, "testdata/wording.txt", text.String())
}

// wordingSessions are the conversations that an error may meet: a new one and a long one, of both builds of Hermes.
func wordingSessions(now time.Time) []oracle.Session {
	var all []oracle.Session
	for _, build := range []oracle.Build{oracle.Newest, oracle.Released} {
		all = append(all, oracle.Session{Build: build, Now: now}, oracle.Session{Build: build, Now: now, Tokens: 170_000, Messages: 400})
	}
	return all
}

// block tells a situation in the golden file.
func block(b *strings.Builder, name string, got reply, told envelopeError) {
	fmt.Fprintf(b, "%s\n    %d %s", name, got.status, told.Code)
	for _, h := range []string{"Retry-After", "X-Should-Retry", "Allow", "Connection"} {
		if v := got.header.Get(h); v != "" {
			fmt.Fprintf(b, " %s=%s", strings.ToLower(h), v)
		}
	}
	if told.ResetsInSeconds > 0 {
		fmt.Fprintf(b, " resets_in=%d", told.ResetsInSeconds)
	}
	fmt.Fprintf(b, "\n    %s\n", told.Message)
	now := wordingNow(told)
	var lines []string
	for i, session := range wordingSessions(now) {
		line := oracle.ClassifyHermes(got.status, got.header, []byte(got.body), session).Line(now)
		if !slices.Contains(lines, line) { // most are the same for all four
			fmt.Fprintf(b, "    hermes%s: %s\n", []string{"", ", long", ", 0.19", ", 0.19, long"}[i], line)
		}
		lines = append(lines, line)
	}
	var again []string
	for _, client := range oracle.Clients() {
		if tries, wait := oracle.Retries(client, got.status, got.header, []byte(got.body)); tries > 1 {
			again = append(again, fmt.Sprintf("%s %dx/%s", client, tries, wait))
		}
	}
	fmt.Fprintf(b, "    again: %s\n", cmp.Or(strings.Join(again, ", "), "nobody"))
}

// wordingNow is the instant at which the error was made: a bubble's clock is not the test's.
func wordingNow(told envelopeError) time.Time {
	if told.ResetsAt > 0 {
		return time.Unix(told.ResetsAt-told.ResetsInSeconds, 0).UTC()
	}
	return time.Unix(946_684_800, 0).UTC()
}
