package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/admin/hub"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// show is a plane over a picture of accounts a, b and c, of which nobody knows anything. Its accounts write down what they are
// told.
type show struct {
	plane
	store         *hub.Store
	viewer, admin string // headers

	mu   sync.Mutex
	told []string
	fail error
}

func (s *show) note(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprintf(format, args...))
	return s.fail
}

func (s *show) Switch(_ context.Context, id string, on bool) error {
	return s.note("switch %s %v", id, on)
}

func (s *show) SetMain(_ context.Context, id string) error        { return s.note("set-main %s", id) }
func (s *show) ClearCooldown(_ context.Context, id string) error  { return s.note("clear %s", id) }
func (s *show) Refresh(_ context.Context, id string) error        { return s.note("refresh %q", id) }
func (s *show) StopSimulation(_ context.Context, id string) error { return s.note("stop %s", id) }

func (s *show) Test(_ context.Context, id string) (TestResult, error) {
	return TestResult{OK: true, Outcome: "measured", Models: []string{"m"}, Took: 1500 * time.Millisecond}, s.note("test %s", id)
}

func (s *show) Simulate(_ context.Context, id string, b quota.Bucket) error {
	in := "unknown"
	if !b.ResetAt.IsZero() {
		in = b.ResetAt.Sub(testNow).String()
	}
	return s.note("simulate %s %s %v %v %s", id, b.ID, b.RemainingPercent.Value, b.UsedPercent.Value, in)
}

func newShow(t testing.TB, change func(*Options)) *show {
	t.Helper()
	profiles := []router.Profile{{ID: "c"}, {ID: "a"}, {ID: "b"}}
	for i := range profiles {
		profiles[i].Provider, profiles[i].Enabled = router.Provider{ID: "openai-codex", Name: "Codex"}, true
	}
	table, err := router.NewTable(profiles, []router.Role{{ID: "main", Chain: []router.ChainItem{{Profile: "a"}, {Profile: "b"}}}}, router.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := hub.OpenCounter(t.Context(), hub.CounterOptions{NewEpoch: func() string { return "e1" }})
	if err != nil {
		t.Fatal(err)
	}
	s := &show{viewer: "Authorization: Bearer " + mint(t, ScopeViewer), admin: "Authorization: Bearer " + mint(t, ScopeAdmin)}
	s.store = hub.NewStore(t.Context(), hub.StoreOptions{
		Collect:  func(context.Context) hub.Sources { return hub.Sources{Router: router.NewSnapshot(table)} },
		Sequence: counter, Now: clock,
	})
	s.plane = newPlane(t, func(o *Options) {
		window := telemetry.NewWindow(telemetry.WindowOptions{Now: clock, Labels: telemetry.Labels{Roles: []string{"main"}, Providers: []string{"openai-codex"}}})
		o.Picture = &Picture{
			Store: s.store, Accounts: s, Host: func() host.Metrics { return host.Metrics{Source: host.Measurement} },
			Calls: func(d time.Duration, f telemetry.Filter) telemetry.Breakdown { return window.Breakdown(testNow, d, f) },
		}
		if change != nil {
			change(o)
		}
	})
	return s
}

// refresh publishes a picture that is fresh.
func (s *show) refresh(t testing.TB) {
	t.Helper()
	if err := s.store.Complete(t.Context(), s.store.Begin(t.Context(), hub.KeyAll)); err != nil {
		t.Fatal(err)
	}
}

// get is a GET of a viewer, in short.
func (s *show) get(target string, headers ...string) string {
	return answer(s.do("GET", "/admin/v1"+target, "", append(headers, s.viewer)...))
}

// A07, S01: before anything is known the snapshot is there: 200, generation 0, stale, everything empty.
func TestSnapshotAtBootstrap(t *testing.T) {
	s := newShow(t, nil)
	w := s.do("GET", "/admin/v1/snapshot", "", s.viewer)
	var snapshot hub.HubSnapshot
	if err := json.Unmarshal(w.Body.Bytes(), &snapshot); err != nil || w.Code != http.StatusOK || w.Header().Get("ETag") != `"e1.0.0"` {
		t.Fatalf("%d %v %v", w.Code, err, w.Header())
	}
	if snapshot.Generation != 0 || snapshot.Seq != 0 || !snapshot.IsStale || len(snapshot.AllProfiles)+len(snapshot.Agents)+len(snapshot.Quotas) > 0 {
		t.Errorf("%+v", snapshot)
	}
	for _, empty := range []string{`"all_profiles":{}`, `"agents":[]`, `"routing":{}`, `"quotas":{}`, `"providers":[]`} {
		if !strings.Contains(w.Body.String(), empty) {
			t.Errorf("no %s in %s", empty, w.Body)
		}
	}
}

// S13, S05: the ETag is epoch, generation and seq, and who has it is sent nothing, as long as it is fresh.
func TestSnapshotConditional(t *testing.T) {
	s := newShow(t, nil)
	s.refresh(t)
	w := s.do("GET", "/admin/v1/snapshot", "", s.viewer)
	tag := w.Header().Get("ETag")
	if tag != `"e1.1.2"` || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
		t.Errorf("%v", w.Header())
	}
	f := func(match, want string) {
		t.Helper()
		w := s.do("GET", "/admin/v1/snapshot", "", s.viewer, "If-None-Match: "+match)
		if got := fmt.Sprint(w.Code, " ", w.Body.Len() > 0, " ", w.Header().Get("ETag")); got != want {
			t.Errorf("%s: got %s, want %s", match, got, want)
		}
	}
	f(tag, `304 false "e1.1.2"`)
	f("W/"+tag+`, "e0.9.9"`, `304 false "e1.1.2"`)
	f(`"e1.1.1"`, `200 true "e1.1.2"`)
	s.Admin.now = func() time.Time { return testNow.Add(hub.StaleAfter) }
	f(tag, `304 false "e1.1.2"`)
	s.Admin.now = func() time.Time { return testNow.Add(hub.StaleAfter + time.Second) }
	f(tag, `200 true "e1.1.2"`) // it has become stale, which its reader does not know yet
	s.Admin.now = clock
	if err := s.store.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	f(tag, `200 true "e1.2.3"`)
}

// Who has read of a seq waits for its snapshot, and not for ever.
func TestSnapshotOfSeq(t *testing.T) {
	s := newShow(t, nil)
	seen := make(chan string)
	go func() { seen <- s.do("GET", "/admin/v1/snapshot?min_seq=1", "", s.viewer).Header().Get("ETag") }()
	for s.waits.count() == 0 {
		time.Sleep(time.Millisecond) // it is another goroutine that begins to wait
	}
	if err := s.store.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tag := <-seen; tag != `"e1.1.1"` {
		t.Errorf("it waited for %s", tag)
	}
	s.Close()
	if got, want := s.get("/snapshot?min_seq=2"), "503 snapshot-behind: No snapshot of seq 2 has been published; the newest has 1."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is asked for is understood or refused: parameters and members that nobody knows, values out of bounds, names that nothing
// has.
func TestPictureRefusals(t *testing.T) {
	s := newShow(t, nil)
	s.refresh(t)
	get := func(target, want string) {
		t.Helper()
		if got := s.get(target); got != want {
			t.Errorf("%s:\n got %s\nwant %s", target, got, want)
		}
	}
	for _, path := range []string{"/snapshot", "/snapshot.schema.json", "/events", "/profiles", "/profiles/a", "/quotas", "/quotas/a", "/telemetry", "/host", "/leases"} {
		get(path+"?such=1", `400 invalid-request: the parameter "such" is not known here`)
	}
	get("/snapshot?min_seq=1&min_seq=2", `400 invalid-request: the parameter "min_seq" is given twice`)
	get("/snapshot?min_seq=%zz", "400 invalid-request: the query cannot be read: it holds a ; or a % that is not followed by two hexadecimal digits")
	for _, bad := range []string{"-1", "1.5", "x", "18446744073709551616"} {
		get("/snapshot?min_seq="+bad, `400 invalid-request: min_seq is "`+bad+`"; want a seq, a whole number`)
	}
	for _, bad := range []string{"0s", "-1h", "25h", "day"} {
		get("/telemetry?window="+bad, `400 invalid-request: window is "`+bad+`"; want a length of time up to 24h, as in 90m or 24h`)
	}
	get("/telemetry?role=nobody", `404 unknown-role: There is no role "nobody".`)
	get("/telemetry?provider=nobody", `404 unknown-provider: There is no provider "nobody".`)
	get("/telemetry?profile=nobody", `404 unknown-profile: There is no profile "nobody".`)
	get("/profiles/nobody", `404 unknown-profile: There is no profile "nobody".`)
	get("/quotas/nobody", `404 unknown-profile: There is no profile "nobody".`)
	get("/profiles?limit=0", `400 invalid-request: limit is "0"; want a whole number from 1 to 500`)

	post := func(target, body, want string) {
		t.Helper()
		if got := answer(s.do("POST", "/admin/v1"+target, body, s.admin)); got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", target, body, got, want)
		}
	}
	post("/profiles/a/enable", `{"for":"ever"}`, `400 invalid-request: the body is no such JSON: unknown field "for"`)
	post("/profiles/a/test?deep=1", "", `400 invalid-request: the parameter "deep" is not known here`)
	post("/quotas/refresh", `{"provider":"x"}`, `400 invalid-request: the body is no such JSON: unknown field "provider"`)
	post("/stream-token", `{"scope":"admin"}`, `400 invalid-request: the body is no such JSON: unknown field "scope"`)
	post("/quotas/refresh", strings.Repeat(" ", maxBody+1), "413 too-large: The body has more than 1048576 bytes.")
	const bucket = `; want the id of one, as in codex.session or antigravity.claude.5h`
	post("/quotas/a/simulate", `{"remaining_percent":1}`, `400 invalid-request: bucket is ""`+bucket)
	post("/quotas/a/simulate", `{"bucket":"../x","remaining_percent":1}`, `400 invalid-request: bucket is "../x"`+bucket)
	post("/quotas/a/simulate", `{"bucket":"session","remaining_percent":1}`, `400 invalid-request: bucket is "session"`+bucket)
	const percent = "400 invalid-request: remaining_percent is missing or outside of 0 to 100; DELETE ends a simulation"
	for _, bad := range []string{``, `,"remaining_percent":null`, `,"remaining_percent":-1`, `,"remaining_percent":100.5`} {
		post("/quotas/a/simulate", `{"bucket":"codex.session"`+bad+`}`, percent)
	}
	for _, bad := range []string{"0", "-5", "31622401"} {
		post("/quotas/a/simulate", `{"bucket":"codex.session","remaining_percent":1,"reset_in_seconds":`+bad+`}`,
			"400 invalid-request: reset_in_seconds is "+bad+"; want 1 to 31622400, or null where the reset is not known")
	}
	if len(s.told) > 0 {
		t.Errorf("what was refused was done: %q", s.told)
	}
}

// A05: what an operator may do, and what the answer is when it has been done, or could not be.
func TestActions(t *testing.T) {
	s := newShow(t, nil)
	s.refresh(t)
	f := func(call, body, want string) {
		t.Helper()
		method, target, _ := strings.Cut(call, " ")
		s.told = nil
		w := s.do(method, "/admin/v1"+target, body, s.admin)
		var done struct {
			Profile    *hub.ProfileViewModel `json:"profile"`
			Generation uint64                `json:"generation"`
			Seq        uint64                `json:"seq"`
			StoreEpoch string                `json:"store_epoch"`
		}
		got := answer(w)
		if w.Code == http.StatusOK {
			if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprintf("%d.%d %s %v", done.Generation, done.Seq, done.StoreEpoch, done.Profile != nil)
		}
		if got = strings.Join(s.told, ", ") + " → " + got; got != want {
			t.Errorf("%s:\n got %s\nwant %s", call, got, want)
		}
		s.told = nil
		if w := s.do(method, "/admin/v1"+target, body, s.viewer); w.Code != http.StatusForbidden || len(s.told) > 0 {
			t.Errorf("%s of a viewer: %d %q", call, w.Code, s.told)
		}
	}
	f("POST /profiles/a/enable", "", "switch a true → 1.2 e1 true")
	f("POST /profiles/a/disable", "{}", "switch a false → 1.2 e1 true")
	f("POST /profiles/a/set-main", " ", "set-main a → 1.2 e1 true")
	f("POST /profiles/a/clear-cooldown", "", "clear a → 1.2 e1 true")
	f("POST /profiles/a/refresh", "", `refresh "a" → 1.2 e1 true`)
	f("POST /profiles/a/test", "", "test a → 1.2 e1 false")
	f("POST /quotas/refresh", "", `refresh "" → 1.2 e1 false`)
	f("POST /quotas/refresh", `{"profile":"b"}`, `refresh "b" → 1.2 e1 true`)
	f("POST /quotas/a/simulate", `{"bucket":"codex.session","remaining_percent":12.5,"reset_in_seconds":90}`, "simulate a codex.session 12.5 87.5 1m30s → 1.2 e1 true")
	f("POST /quotas/a/simulate", `{"bucket":"claude.weekly.sonnet","remaining_percent":0}`, "simulate a claude.weekly.sonnet 0 100 unknown → 1.2 e1 true")
	f("DELETE /quotas/a/simulate", "", "stop a → 1.2 e1 true")
	s.fail = ErrUnknownProfile
	f("POST /profiles/x/enable", "", `switch x true → 404 unknown-profile: There is no profile "x".`)
	s.fail = &LookError{errors.New("usage: status:500")}
	f("POST /profiles/a/refresh", "", `refresh "a" → 502 look-failed: The provider could not be asked: usage: status:500`)
	s.fail = fmt.Errorf("refresh account:a: %w", hub.ErrStopped)
	f("POST /profiles/a/refresh", "", `refresh "a" → 503 stopping: The hub is stopping; ask again when it is back.`)
	s.fail = errors.New("disk full at /secret")
	f("POST /profiles/a/disable", "", "switch a false → 500 internal: The hub failed; its log says why, under this instance.")

	s.fail = nil
	if got, want := answer(s.do("POST", "/admin/v1/profiles/a/test", "", s.admin)),
		`200 {"profile_id":"a","ok":true,"outcome":"measured","detail_ru":"","detail_en":"","models":["m"],"took_ms":1500,"generation":1,"seq":2,"store_epoch":"e1"}`; got != want {
		t.Errorf("test:\n got %s\nwant %s", got, want)
	}
}

// Lists come by name, in pages that stay right while accounts come and go.
func TestPictureLists(t *testing.T) {
	s := newShow(t, nil)
	s.refresh(t)
	f := func(list, id string) {
		t.Helper()
		var names []string
		for cursor, pages := "", 0; ; pages++ {
			var part struct {
				Data       []map[string]any `json:"data"`
				NextCursor *string          `json:"next_cursor"`
			}
			if err := json.Unmarshal(s.do("GET", "/admin/v1/"+list+"?limit=2"+cursor, "", s.viewer).Body.Bytes(), &part); err != nil || pages > 3 {
				t.Fatal(pages, err)
			}
			for _, item := range part.Data {
				names = append(names, item[id].(string))
			}
			if part.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *part.NextCursor
		}
		if got := strings.Join(names, " "); got != "a b c" {
			t.Errorf("%s: %s", list, got)
		}
	}
	f("profiles", "profile_id")
	f("quotas", "account_id")
	if got := s.get("/quotas/a"); !strings.HasPrefix(got, `200 {"account_id":"a","provider":"openai-codex","buckets":[]`) {
		t.Errorf("a quota: %s", got)
	}
	if got := s.get("/profiles/a"); !strings.HasPrefix(got, `200 {"profile_id":"a",`) {
		t.Errorf("a profile: %s", got)
	}
	if got := s.get("/host"); !strings.HasPrefix(got, `200 {"source":"host_measurement","has_data":false,"cpu_percent":null`) {
		t.Errorf("the host: %s", got)
	}
	const none = `200 {"source":"own_measurement","has_data":false,"total_calls":0,`
	if got := s.get("/telemetry?role=main"); !strings.HasPrefix(got, none) || !strings.Contains(got, `"by_provider":{"openai-codex":{`) || !strings.Contains(got, `"window_seconds":86400`) {
		t.Errorf("telemetry: %s", got)
	}
	if got := s.get("/snapshot.schema.json"); !strings.Contains(got, "2020-12") {
		t.Errorf("the schema: %.200s", got)
	}
}
