package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// canaries are secrets by the place where each stands. None looks like a credential, so that only the care of the program
// keeps them in, and not the redactor that lies under the log.
type canaries map[string]string

// in is the canary of a place.
func (c canaries) in(place string) string {
	if c[place] == "" {
		c[place] = fmt.Sprintf("Vireo%02dplumage-of-many-colours", len(c)+1)
	}
	return c[place]
}

// absent proves that a text holds none of them but those of the places it may show, and that there is something to look at.
func (c canaries) absent(t *testing.T, where, text string, may ...string) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		t.Errorf("%s is empty: nothing was looked at", where)
	}
places:
	for place, secret := range c {
		for _, allowed := range may {
			if place == allowed {
				continue places
			}
		}
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s holds the secret of the %s: …%s…", where, place, text[max(0, at-200):min(len(text), at+200)])
			}
		}
	}
}

// canaryConfig has a secret everywhere the file may have one.
// For every fault there is a role with an account of its own in front of the second.
const canaryConfig = `
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0", redis_url: "redis://hub:REDIS@127.0.0.1:6379/0"}
client_keys:
  - {name: desk, key: CLIENT}
  - {name: phone, key: "${PHONE}", roles: [proxied]}
admin: {jwt_secret: ADMIN, metrics_token: METRICS}
router: {cooldown_wait_seconds: 0, lease_wait_seconds: 0}
roles:
  orchestrator: {preferred_chain: [second]}
  proxied: {preferred_chain: [third]}
  slow: {preferred_chain: [slow]}
ROLESprofiles:
PROFILES  second:
    provider: openai-compatible
    custom_base_url: BASE
    preferred_models: [sim-1]
    headers: {X-Tenant: TENANT}
    auth_config: {api_key: "file:KEYFILE"}
  slow: {provider: openai-compatible, custom_base_url: BASE, preferred_models: [sim-1], auth_config: {api_key: SLOW}}
  third:
    provider: openai-compatible
    custom_base_url: http://upstream.test/v1
    preferred_models: [sim-1]
    proxy_url: "http://hub:PROXY@PROXYADDRESS"
    auth_config: {access_token: THIRD}
runs:
  runtimes: {hermes: {kind: hermes, base_url: "http://127.0.0.1:8642", api_key: RUNTIME}}
`

// canaryWorld is a hub with all of them, run in this process at its most talkative.
type canaryWorld struct {
	*program
	canaries
	app        *app
	faults     []fault
	getenv     func(string) string
	path, data string
	bodies     bytes.Buffer // everything that clients were told
}

func newCanaryWorld(t *testing.T) *canaryWorld {
	t.Helper()
	w := &canaryWorld{program: &program{t: t, out: &output{}, err: &output{}}, canaries: canaries{}, data: t.TempDir()}
	w.plan()
	accounts := []simulator.Account{
		{Name: "second", Key: w.in("second account's key file"), Models: []string{"sim-1"}},
		{Name: "slow", Key: w.in("slow account's key"), Models: []string{"sim-1"}, ChunkPace: 20 * time.Millisecond},
	}
	var roles, profiles strings.Builder
	for i, f := range w.faults {
		accounts = append(accounts, simulator.Account{Name: f.account, Key: w.key(i), Models: []string{"sim-1"}, Script: []simulator.Step{f.step}})
		fmt.Fprintf(&roles, "  %s: {preferred_chain: [%s, second]}\n", f.role, f.account)
		fmt.Fprintf(&profiles, "  %s: {provider: openai-compatible, custom_base_url: BASE, preferred_models: [sim-1], headers: {X-Team: TEAM}, auth_config: {api_key: \"${FIRST}-%d\"}}\n", f.account, i)
	}
	_, base := provider(t, accounts...)
	echoing := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("X-Upstream-Account", w.in("header of an upstream"))
		rw.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(rw, `{"error":{"message":"you sent %s and %s","type":"invalid_request_error","code":"unknown_parameter"}}`,
			r.Header.Get("Authorization"), r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(echoing.Close)
	keyFile := filepath.Join(t.TempDir(), "second.key")
	put(t, keyFile, w.in("second account's key file")+"\n")
	w.path = filepath.Join(t.TempDir(), "router_profiles.yaml")
	put(t, w.path, strings.NewReplacer("ROLES", roles.String(), "PROFILES", profiles.String()).Replace(canaryConfig))
	edit(t, w.path, replace(
		"REDIS", w.in("Redis password"), "CLIENT", w.in("client key"), "ADMIN", w.in("admin secret")+"-0123456789",
		"METRICS", w.in("metrics token"), "TEAM", w.in("first profiles' header"), "TENANT", w.in("second profile's header"),
		"KEYFILE", keyFile, "PROXYADDRESS", strings.TrimPrefix(echoing.URL, "http://"), "PROXY", w.in("proxy password"),
		"SLOW", w.in("slow account's key"), "THIRD", w.in("third account's token"), "RUNTIME", w.in("runtime's key"), "BASE", base,
	))
	w.getenv = env(t, "PHONE", w.in("client key of the environment"), "FIRST", w.in("first accounts' key"))
	w.run()
	return w
}

// run starts the program by the steps of serve, with a bug in front of the proxy plane that strikes where a request asks.
func (w *canaryWorld) run() {
	w.t.Helper()
	fail := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	log, err := newLogger(world{stderr: w.err}, serveFlags{logLevel: "debug", logFormat: "json"})
	fail(err)
	cfg, err := (&configFile{path: w.path, getenv: w.getenv}).load()
	fail(err)
	cfg.Server.DataDir = w.data
	warn(cfg, log)
	w.app, err = newApp(w.t.Context(), cfg, log)
	fail(err)
	server := w.app.planes[0].server
	sane := server.Handler
	server.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("bug") {
			rw = &breaking{ResponseWriter: rw, after: len(r.URL.Query().Get("bug"))}
		}
		sane.ServeHTTP(rw, r)
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.app.run(ctx) }()
	w.stop = func() int { cancel(); fail(<-done); return 0 }
	w.waitLog(`"serving"`, 1)
	w.readAddresses()
}

// breaking is a writer with a bug after some writes.
type breaking struct {
	http.ResponseWriter
	after int
}

func (b *breaking) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *breaking) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		panic("a bug")
	}
	return b.ResponseWriter.Write(p)
}

// headers are what a client may send besides its key, each with a secret.
func (w *canaryWorld) headers() http.Header {
	h := http.Header{}
	for _, name := range []string{
		"X-Api-Key", "Cookie", "Proxy-Authorization", "X-Forwarded-For", "Forwarded", "Referer", "User-Agent", "X-Custom", "Idempotency-Key",
		"Traceparent", "Baggage", "X-Hub-Session", "Openai-Organization", "X-Goog-Api-Key",
	} {
		h.Set(name, w.in("header "+name))
	}
	return h
}

// body is a request's body with a secret in every text of it.
func (w *canaryWorld) body(stream bool) string {
	return fmt.Sprintf(`{"model":"sim-1","stream":%v,"messages":[{"role":"system","content":%q},{"role":"user","content":%q}],"input":%q,"prompt":%q,"user":%q,"tools":[{"type":"function","function":{"name":"t","description":%q}}]}`,
		stream, w.in("system prompt"), w.in("user's message"), w.in("user's message"), w.in("user's message"), w.in("user's name"), w.in("tool's description"))
}

// ask sends one request with everything in it and keeps what comes back.
func (w *canaryWorld) ask(method, url, body, key string, headers ...string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = w.headers()
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "" // the connection was cut
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body) // a cut stream is an answer too
	_ = res.Header.Write(&w.bodies) // a buffer takes everything
	w.bodies.Write(text)
	return res.Header.Get("X-Hub-Request-Id")
}

// abandon sends a request and resets the connection as soon as something of an answer is there.
func (w *canaryWorld) abandon(role, body string) {
	w.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.proxy, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /r/%s/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", role, w.in("client key"), len(body), body)
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // where nothing comes
	_, _ = io.ReadFull(c, make([]byte, 10))
	_ = c.(*net.TCPConn).SetLinger(0)
}

// Rows 7, 10, 11, 13, P26, F06: a secret in every place that may hold one, through every route and every way in which an
// account, a client or the hub itself can fail, with the most talkative log. None comes out: not on stdout or stderr, in
// metrics, in what a client or an operator is told, in what is kept on disk, or in what the commands print. A client is
// told what its provider answered; nothing of that is kept.
func TestCanaries(t *testing.T) {
	w := newCanaryWorld(t)
	w.everyFault()
	w.everyRoute()
	ids := w.everyBug()

	if n := len(w.canaries); n < 30 {
		t.Errorf("only %d secrets", n)
	}
	w.absent(t, "what clients were told", w.bodies.String(), "answer", "error of an upstream")
	_, metrics := w.get(w.admn+"/metrics", w.in("metrics token"))
	w.absent(t, "metrics", metrics)
	_, token, _ := command(t, w.getenv, "", "token", "--config", w.path, "--data-dir", w.data)
	token = strings.TrimSpace(token)
	for _, path := range []string{"leases", "snapshot", "profiles", "quotas", "telemetry", "host"} {
		_, told := w.get(w.admn+"/admin/v1/"+path, token)
		w.absent(t, path, told, "header X-Hub-Session") // an operator sees whose session an agent serves (V12)
	}
	for _, args := range [][]string{
		{"explain", "--role", "orchestrator"},
		{"explain", "--role", "proxied", "--json"},
		{"explain", "--role", "orchestrator", "--session", w.in("header X-Hub-Session"), "--json"},
		{"explain", "--request", ids[0], "--json"},
		{"explain", "--request", ids[len(ids)-1]},
	} {
		_, out, errs := command(t, w.getenv, "", append(args, "--config", w.path, "--data-dir", w.data, "--admin", w.admn)...)
		w.absent(t, strings.Join(args[:3], " "), out+errs)
	}
	w.stop()
	for _, args := range [][]string{{"check"}, {"check", "--show-effective"}, {"doctor", "--offline"}} {
		_, out, errs := command(t, w.getenv, "", append(args, "--config", w.path)...)
		w.absent(t, strings.Join(args, " "), out+errs)
	}
	log := w.err.String()
	w.absent(t, "stderr", log, "path") // which an operator must see
	for _, want := range []string{`"panic while serving"`, "http: panic serving", `"client_closed"`, `"interrupted"`, `"invalid_request"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not tell of %s: that was not tried", want)
		}
	}
	w.disk()
}

// fault is one way in which an account fails, with an account and a role for it alone.
type fault struct {
	account, role string
	step          simulator.Step
	stream        bool
}

// key is the credential of a fault's account.
func (w *canaryWorld) key(i int) string { return fmt.Sprintf("%s-%d", w.in("first accounts' key"), i) }

// plan lists every step of the simulator, and answers that echo what they were sent, each plain and streamed.
func (w *canaryWorld) plan() {
	add := func(step func(echo string) simulator.Step) {
		for _, stream := range []bool{false, true} {
			i := len(w.faults)
			echo := fmt.Sprintf("%s; your key is %s, your team %s", w.in("error of an upstream"), w.key(i), w.in("first profiles' header"))
			w.faults = append(w.faults, fault{fmt.Sprintf("first-%d", i), fmt.Sprintf("fault-%d", i), step(echo), stream})
		}
	}
	for _, status := range []int{400, 401, 402, 403, 404, 429, 500, 503, 200} {
		add(func(echo string) simulator.Step {
			return simulator.Status(status, fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":"unknown_parameter"}}`, echo, echo), http.Header{
				"X-Debug": {echo}, "Www-Authenticate": {echo}, "X-Request-Id": {w.in("header of an upstream")}, "Set-Cookie": {w.in("cookie of an upstream")},
			})
		})
		add(func(echo string) simulator.Step { return simulator.Status(status, echo, nil) })
	}
	add(func(echo string) simulator.Step {
		return simulator.Stream(fmt.Sprintf("data: {\"error\":{\"message\":%q}}\n\n", echo))
	})
	add(func(echo string) simulator.Step {
		return simulator.Stream(fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", w.in("answer")), fmt.Sprintf("data: {\"error\":{\"message\":%q}}\n\n", echo))
	})
	for _, info := range simulator.Steps() {
		add(func(string) simulator.Step { return info.Name })
	}
}

// everyFault meets them all. What never ends by itself is abandoned by its client.
func (w *canaryWorld) everyFault() {
	for _, f := range w.faults {
		switch f.step {
		case simulator.Hang, simulator.Stall, simulator.StallHeartbeats, simulator.SlowFirstToken:
			w.abandon(f.role, w.body(f.stream))
		default:
			w.ask(http.MethodPost, w.proxy+"/r/"+f.role+"/v1/chat/completions", w.body(f.stream), w.in("client key"))
		}
	}
}

// everyRoute asks for everything there is on both planes, and for what there is not, with and without the right to it.
func (w *canaryWorld) everyRoute() {
	query := "?api_key=" + w.in("query") + "&ticket=" + w.in("query")
	for _, key := range []string{w.in("client key"), w.in("client key of the environment"), w.in("wrong key"), ""} {
		for _, path := range []string{
			"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/models/sim-1", "/r/proxied/v1/chat/completions",
			"/r/nobody/v1/chat/completions", "/v1/responses", "/healthz", "/readyz", "/v1/" + w.in("path"), "/" + w.in("path") + "/../../etc/passwd",
		} {
			w.ask(http.MethodPost, w.proxy+path+query, w.body(false), key)
			w.ask(http.MethodGet, w.proxy+path+query, "", key)
		}
		w.ask(http.MethodPost, w.proxy+"/v1/chat/completions", `{"model":"sim-1","messages":"`+w.in("malformed body"), key)
		w.ask(http.MethodPost, w.proxy+"/v1/chat/completions", `{"model":"sim-1","messages":`+w.in("malformed body")+`}`, key)
	}
	for _, key := range []string{w.in("wrong token"), w.in("metrics token"), w.in("admin secret"), "a." + w.in("wrong token") + ".c"} {
		for _, path := range []string{"/admin/v1/version", "/admin/v1/leases", "/admin/v1/explain", "/metrics", "/healthz", "/admin/v1/" + w.in("path")} {
			w.ask(http.MethodGet, w.admn+path+query, "", key)
			w.ask(http.MethodPost, w.admn+path, `{"role":"`+w.in("malformed body"), key)
		}
	}
}

// everyBug has the hub itself fail: before the first byte of an answer, in the middle of a stream, and outside of what
// catches it. It returns the ids of requests that went well in between.
func (w *canaryWorld) everyBug() (ids []string) {
	for _, bug := range []string{"", "x", "xx"} {
		for _, stream := range []bool{false, true} {
			w.ask(http.MethodPost, w.proxy+"/r/slow/v1/chat/completions?bug="+bug, w.body(stream), w.in("client key"))
		}
		ids = append(ids, w.ask(http.MethodPost, w.proxy+"/v1/chat/completions", w.body(true), w.in("client key")))
	}
	w.ask(http.MethodOptions, w.proxy+"/v1/models?bug=", w.body(true), w.in("client key"), "Origin", "http://"+w.in("origin"), "Access-Control-Request-Method", "POST")
	return ids
}

// disk looks into everything that was kept.
func (w *canaryWorld) disk() {
	w.t.Helper()
	files := 0
	err := filepath.WalkDir(w.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if len(text) == 0 && strings.HasSuffix(path, ".lock") {
			return err // it is held, not written
		}
		files++
		w.absent(w.t, path, string(text))
		return err
	})
	if err != nil || files == 0 {
		w.t.Errorf("%d files, %v", files, err)
	}
}
