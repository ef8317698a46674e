package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes-hub/admin"
	"hermes-hub/configs"
	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// proof shows that a key of the configuration does something: the same look at a hub shows one thing before the key is
// changed, and another after.
type proof struct {
	from, to edits // of the file of every proof; what from says, holds after the change too unless to says otherwise
	see      func(*scene) string
	want     [2]string
	restart  bool // a reload says that it takes a restart
}

// edits are pairs of a text in the file and what stands in its place.
type edits []string

// proofFile has two accounts in each of two roles. A comment is a place where a line may be put.
const proofFile = `server:
  listen: 127.0.0.1:0
  admin_listen: 127.0.0.1:0
  data_dir: DIR/one
  #server
admin:
  jwt_secret: b1946ac92492d2347c6235b4d2611184
  #admin
router:
  default_role: main
  #router
roles:
  main:
    preferred_chain: [first, second]
    #main
  other:
    preferred_chain: [second]
    #other
profiles:
  first:
    provider: openai-compatible
    custom_base_url: BASE
    preferred_models: [sim-1]
    auth_config: {api_key: key-first}
    probe: {enabled: false} #look
    #first
  second:
    provider: openai-compatible
    custom_base_url: BASE
    preferred_models: [sim-1]
    auth_config: {api_key: key-second}
    probe: {enabled: false}
    #second
#top
`

const (
	proofSecret = "b1946ac92492d2347c6235b4d2611184"
	otherSecret = "c2057bd03503e3458d7346c5e3722295"
)

// scene is a hub on stage, with everything that a look may need.
type scene struct {
	*program
	sim    *simulator.Provider
	dir    string // DIR of the file
	path   string // of the file
	getenv func(string) string
	more   *proofWorld
}

// F04: no key of the file is dead. The list of keys is the readers' own, so a new one fails here until it has a proof, or
// stands in the table of those that nothing acts on yet and then has none.
func TestNoDeadKey(t *testing.T) {
	proofs := map[string]proof{}
	for _, rows := range []map[string]proof{serverProofs(), adminProofs(), clientProofs(), routerProofs(), deadlineProofs(), roleProofs(), profileProofs(), accountProofs(), oauthProofs(), pricingProofs(), runProofs(), journalProofs()} {
		maps.Copy(proofs, rows)
	}
	known := map[string]bool{}
	for _, k := range configs.Keys() {
		known[k.Path] = true
		p, ok := proofs[k.Path]
		switch {
		case k.NotYet != "" && ok:
			t.Errorf("%s has a proof and stands in the table of what is not yet effective", k.Path)
		case k.NotYet != "":
		case !ok:
			t.Errorf("%s has no proof", k.Path)
		default:
			t.Run(k.Path, func(t *testing.T) {
				t.Parallel()
				p.run(t, k.Path)
			})
		}
	}
	for key := range proofs {
		if !known[key] {
			t.Errorf("there is a proof for %s, and there is no such key", key)
		}
	}
}

// run looks three times: before, after a reload of the changed file, and, where that was not to be enough, after a restart.
func (p proof) run(t *testing.T, key string) {
	t.Helper()
	f := func(when string, s *scene, want string) {
		t.Helper()
		if got := p.see(s); got != want {
			t.Errorf("%s\n got %s\nwant %s\nlog %s", when, got, want, s.err)
		}
		s.stop()
	}
	f("before", p.stage(t, p.from, nil), p.want[0])

	s := p.stage(t, p.from, nil)
	put(t, s.path, s.more.file(s.dir, p.from, p.to))
	s.hangup(reloaded)
	after := p.want[1]
	if p.restart {
		after = p.want[0]
		s.waitLog(fmt.Sprintf(`"needs a restart","key":%q`, key), 1)
	}
	f("after a reload", s, after)
	if p.restart {
		f("after a restart", p.stage(t, p.from, p.to), p.want[1])
	}
}

// stage starts a hub on the file with the edits made. Each has accounts, data and ports of its own.
func (p proof) stage(t *testing.T, from, to edits) *scene {
	t.Helper()
	s := &scene{dir: t.TempDir(), more: newProofWorld(t)}
	s.sim = s.more.sim
	s.path = filepath.Join(s.dir, "router_profiles.yaml")
	s.getenv = env(t)
	put(t, s.path, s.more.file(s.dir, from, to))
	put(t, filepath.Join(s.dir, "issuer.pem"), s.more.pem(t))
	put(t, filepath.Join(s.dir, "auth.json"), `{"tokens":{"access_token":"key-slow","refresh_token":"first"}}`)
	put(t, filepath.Join(s.dir, "old.json"), `{"tokens":{"access_token":"`+webToken(time.Now().Add(-time.Hour))+`","refresh_token":"first"}}`)
	s.program = start(t, s.getenv, "serve", "--config", s.path, "--log-level", "debug")
	return s
}

// post asks the first account's role for a completion; headers are pairs.
func (s *scene) post(path, body string, headers ...string) answered {
	s.t.Helper()
	return s.send(http.MethodPost, s.proxy+path, body, headers...)
}

func (s *scene) send(method, url, body string, headers ...string) answered {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Host = req.Header.Get("Host")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body) // a cut answer is one to look at
	return answered{res.StatusCode, res.Header, string(text)}
}

// answered is what came of a request.
type answered struct {
	status int
	header http.Header
	body   string
}

// line is the status with the hub's word on the matters asked for: "200 first".
func (a answered) line(matters ...string) string {
	words := []string{fmt.Sprint(a.status)}
	for _, m := range matters {
		words = append(words, a.header.Get("X-Hub-"+m))
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

const (
	chatPath = "/v1/chat/completions"
	autoBody = `{"model":"auto","messages":[{"role":"user","content":"hi"}]}`
)

// who is the account that serves the next request, and how many were asked for it.
func who(s *scene) string {
	return s.post(chatPath, chatBody).line("Profile", "Attempts")
}

// status makes a look out of a request.
func status(method, plane, path, body string, headers ...string) func(*scene) string {
	return func(s *scene) string {
		base := s.proxy
		if plane == "admin" {
			base = s.admn
		}
		return s.send(method, base+path, body, headers...).line()
	}
}

// chosen is who would serve role main in so long a time.
func (s *scene) chosen(in time.Duration, session string) string {
	s.t.Helper()
	query, err := json.Marshal(map[string]any{"role": "main", "session": session, "at": time.Now().Add(in).UTC().Format(time.RFC3339)})
	if err != nil {
		s.t.Fatal(err)
	}
	bearer, err := admin.Mint(router.NewSecret(proofSecret), "hermes-hub", "", "", admin.ScopeViewer, time.Hour, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.send(http.MethodPost, s.admn+"/admin/v1/explain", string(query), "Authorization", "Bearer "+bearer, "Content-Type", "application/json")
	var e struct{ Chosen string }
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		s.t.Fatalf("%v: %s", err, a.body)
	}
	return e.Chosen
}

// after lets the first account fail so once, and tells who would serve that much later.
func after(step simulator.Step, in time.Duration) func(*scene) string {
	return func(s *scene) string {
		s.sim.Push("first", step)
		s.post(chatPath, chatBody)
		return s.chosen(in, "")
	}
}

// series is the value of one series of /metrics.
func (s *scene) series(name string) string {
	s.t.Helper()
	_, text := s.get(s.admn+"/metrics", "")
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return "absent"
}

// says makes a look out of what a command prints: whether the words are in it.
func says(words string, args ...string) func(*scene) string {
	return func(s *scene) string {
		_, out, errs := command(s.t, s.getenv, "", append(args, "--config", s.path)...)
		return fmt.Sprint(strings.Contains(out+errs, words))
	}
}

// lastRequest is a field of the log's line about the last request.
func (s *scene) lastRequest(field string) string {
	var last map[string]any
	for line := range strings.Lines(s.err.String()) {
		var record map[string]any
		if json.Unmarshal([]byte(line), &record) == nil && record["msg"] == "request" {
			last = record
		}
	}
	return fmt.Sprint(last[field])
}

// exists tells which of the files are in the scene's folder.
func (s *scene) exists(names ...string) string {
	var found bytes.Buffer
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			found.WriteString(name + " ")
		}
	}
	return strings.TrimSpace(found.String())
}

// hold keeps a call under way at the first account until leave is called.
func (s *scene) hold() (leave func()) {
	s.t.Helper()
	s.sim.Push("first", simulator.Hang)
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.proxy+chatPath, strings.NewReader(chatBody))
	if err != nil {
		s.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
			res.Body.Close()
		}
	}()
	if err := s.sim.WaitCalls(s.t.Context(), "first", 1); err != nil {
		s.t.Error(err)
	}
	return func() { cancel(); <-gone }
}
