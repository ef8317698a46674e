package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// roleRig has roles orchestrator (alias manager), coder (default model sim-2) and reviewer, each on an account of its name,
// and client keys: laptop may do everything and means coder by default, ci may only review.
func roleRig(t *testing.T) *rig {
	t.Helper()
	var accounts []simulator.Account
	roles := []router.Role{
		{ID: "orchestrator", Aliases: []string{"manager"}, Affinity: true},
		{ID: "coder", DefaultModel: "sim-2", Affinity: true},
		{ID: "reviewer", Affinity: true},
	}
	for i := range roles {
		accounts = append(accounts, simulator.Account{Name: roles[i].ID, Key: "sk-" + roles[i].ID, Models: []string{"sim-1", "sim-2"}})
		roles[i].Chain = []router.ChainItem{{Profile: roles[i].ID}}
	}
	return newRig(t, setup{accounts: accounts, roles: roles, config: func(c *Config) {
		c.Keys = []Key{
			{Name: "desk", Secret: router.NewSecret("key-desk")},
			{Name: "laptop", Secret: router.NewSecret("key-laptop"), DefaultRole: "coder"},
			{Name: "ci", Secret: router.NewSecret("key-ci"), Roles: []string{"reviewer"}},
		}
	}})
}

// P15: each carrier of a role in its order; P16: the prompt is none of them; P17: an unknown role is a 404 and no phantom
// of it appears; F07: aliases mean the canonical id.
func TestRoleCarriers(t *testing.T) {
	r := roleRig(t)
	f := func(want, path, body string, headers ...string) {
		t.Helper()
		got := r.send(http.MethodPost, path, body, append([]string{"Authorization", "Bearer key-desk"}, headers...)...)
		line := fmt.Sprintf("%d %s", got.status, got.header.Get(headerRole))
		if got.status == 200 {
			line = fmt.Sprintf("%s by %s, model %s", got.header.Get(headerRole), got.header.Get(headerRoleSource), got.header.Get(headerModel))
		} else if i := strings.Index(got.body, `"code":"`); i >= 0 {
			line = fmt.Sprintf("%d %s", got.status, strings.SplitN(got.body[i+8:], `"`, 2)[0])
		}
		if line != want {
			t.Errorf("%s %s %v: got %s, want %s", path, body, headers, line, want)
		}
	}
	body := func(model, more string) string {
		return fmt.Sprintf(`{"model":%q,"messages":[{"role":"system","content":"role: coder"}]%s}`, model, more)
	}
	const v1, coderPath = "/v1/chat/completions", "/r/coder/v1/chat/completions"
	metadata := `,"metadata":{"role":"reviewer"}`
	f("coder by explicit, model sim-1", coderPath, body("sim-1", metadata), headerRole, "orchestrator")
	f("orchestrator by explicit, model sim-1", v1, body("sim-1", metadata), headerRole, "manager")
	f("reviewer by explicit, model sim-1", v1, body("role:coder", metadata))
	f("coder by model_alias, model sim-1", v1, body("role:coder", ""), "Authorization", "Bearer key-laptop")
	f("orchestrator by model_alias, model sim-1", v1, body("manager", ""))
	f("coder by client_key, model sim-2", v1, body("sim-2", ""), "Authorization", "Bearer key-laptop")
	f("coder by model_match, model sim-2", v1, body("sim-2", ""))
	f("orchestrator by default_fallback, model sim-1", v1, body("sim-1", ""))
	f("reviewer by explicit, model sim-1", "/r/reviewer/v1/chat/completions", body("auto", ""), "X-Hub-Session", "s1")
	f("reviewer by session_affinity, model sim-1", v1, body("sim-1", ""), "X-Hub-Session", "s1")
	f("coder by explicit, model sim-1", "/r/coder/v1/chat/completions/", body("unheard-of", ""))

	f("404 model_not_found", "/r/nobody/v1/chat/completions", body("sim-1", ""))
	f("404 model_not_found", v1, body("sim-1", ""), headerRole, "nobody")
	f("404 model_not_found", coderPath, body("sim-1", ""), headerRole, "nobody")
	f("404 model_not_found", v1, body("sim-1", `,"metadata":{"role":"nobody"}`))
	f("404 model_not_found", v1, body("role:nobody", ""))
	f("404 model_not_found", v1, body("unheard-of", ""))
	f("403 role_forbidden", coderPath, body("sim-1", ""), "Authorization", "Bearer key-ci")
	f("403 role_forbidden", v1, body("role:coder", ""), "Authorization", "Bearer key-ci")
	f("403 role_forbidden", v1, body("sim-1", ""), "Authorization", "Bearer key-ci")
	f("reviewer by explicit, model sim-1", "/r/reviewer/v1/chat/completions", body("sim-1", ""), "Authorization", "Bearer key-ci")
	f("reviewer by explicit, model sim-1", "/r/reviewer/v1/chat/completions", body("sim-1", ""), "Authorization", "", "X-Api-Key", "key-ci")
	f("401 invalid_api_key", v1, body("sim-1", ""), "Authorization", "Bearer key-wrong")
	f("401 invalid_api_key", v1, body("sim-1", ""), "Authorization", "Basic a2V5LWRlc2s=")
	f("401 invalid_api_key", v1, body("sim-1", ""), "Authorization", "")
	if n := len(r.router.Snapshot().Table.Roles); n != 3 {
		t.Errorf("%d roles after unknown ones were asked for", n)
	}
	if got := r.told.last().Outcome; got != "refused" {
		t.Errorf("a wrong key is told as %s", got)
	}
}

// Sessions are found in the configured headers first, then in the body's members, in the contract's order.
func TestSessionCarriers(t *testing.T) {
	r := newRig(t, setup{})
	f := func(want, more string, headers ...string) {
		t.Helper()
		r.sim.Push("a", simulator.Hang)
		calls := r.sim.Total("a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.chatUntil(ctx, `{"model":"sim-1","messages":[{"role":"user","content":"hi"}]`+more+`}`, headers...)
		}()
		r.waitCalls("a", calls+1)
		got := ""
		if held := r.router.Leases(); len(held) == 1 && held[0].Session != nil {
			got = *held[0].Session
		}
		if got != want {
			t.Errorf("%s %v: session %q, want %q", more, headers, got, want)
		}
		cancel()
		<-done
		r.settle()
	}
	all := `,"prompt_cache_key":"cache","metadata":{"session_id":"meta","user_id":"person"},"user":"user"`
	f("first", all, "X-Session-Id", "third", "X-Hermes-Session-Id", "second", "X-Hub-Session", "first")
	f("second", all, "X-Session-Id", "third", "X-Hermes-Session-Id", "second")
	f("cache", all)
	f("meta", `,"metadata":{"session_id":"meta","user_id":"person"},"user":"user"`)
	f("person", `,"metadata":{"user_id":"person"},"user":"user"`)
	f("user", `,"user":"user"`)
	f("", "")
}

// Bad input is answered with one typed line that says what is wrong, and nothing is forwarded.
func TestBadInput(t *testing.T) {
	r := newRig(t, setup{})
	f := func(body, want string, headers ...string) {
		t.Helper()
		got := r.chat(body, headers...)
		line := fmt.Sprintf("%d %s", got.status, strings.TrimSpace(got.body))
		if line != want {
			t.Errorf("%.80s\n got %s\nwant %s", body, line, want)
		}
		if ct := got.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("%.80s: content type %s", body, ct)
		}
		if got.header.Get(headerRequestID) == "" {
			t.Errorf("%.80s: no request id", body)
		}
	}
	bad := func(message, param string) string {
		p := "null"
		if param != "" {
			p = `"` + param + `"`
		}
		return fmt.Sprintf(`400 {"error":{"message":%q,"type":"invalid_request_error","param":%s,"code":"invalid_request_error"}}`, message, p)
	}
	f(`{`, bad("invalid JSON at byte 1: expected a string", ""))
	f(``, bad("invalid JSON at byte 0: expected an object", ""))
	f(`[]`, bad("invalid JSON at byte 0: expected an object", ""))
	f(`{"model":"sim-1","messages":[]} trailing`, bad("invalid JSON at byte 32: text after the end of the document", ""))
	f("{\"model\":\"sim-\xff\",\"messages\":[]}", bad("invalid JSON at byte 14: not UTF-8", ""))
	f(`{"model":"sim-1"}`, bad("messages is missing from the request body", "messages"))
	f(`{"messages":[]}`, bad("model is missing: name a model, a role, or auto", "model"))
	f(`{"model":"sim-1","model":"sim-2","messages":[]}`, bad("model stands twice in the request body", "model"))
	f(`{"model":["sim-1"],"messages":[]}`, bad("model must be a string, not an array", "model"))
	f(`{"model":"sim-1","messages":[],"stream":1}`, bad("stream must be a boolean, not a number", "stream"))
	f(`{"model":"sim-1","messages":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`, bad("invalid JSON at byte 540: nested too deeply", ""))
	f(`{"model":"sim-1","messages":[]}`, `415 {"error":{"message":"Content-Encoding \"gzip\" is not supported: send the body as it is","type":"invalid_request_error","param":null,"code":"unsupported_encoding"}}`, "Content-Encoding", "gzip")
	f(strings.Repeat(" ", 1<<20)+`{}`, `413 {"error":{"message":"the body is larger than server.max_body_bytes: 1048576","type":"invalid_request_error","param":null,"code":"request_too_large"}}`)
	r.wantCalls("a=0 b=0 c=0")
	if x := r.told.last(); x.Outcome != "invalid_request" || len(x.Attempts) != 0 {
		t.Errorf("told as %s after %d attempts", x.Outcome, len(x.Attempts))
	}
}

// A body without a length is cut off at the limit, not read to its end.
func TestEndlessBody(t *testing.T) {
	r := newRig(t, setup{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/v1/chat/completions", endless{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}
