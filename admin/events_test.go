package admin

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/admin/hub"
)

// listener reads a stream of events as a browser gets it.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (s *show) listen(t *testing.T, server *httptest.Server, query string, headers ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/admin/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	return &listener{t, bufio.NewScanner(res.Body)}
}

// frame is the next frame in one line, heartbeats left out; "" = the end.
func (l *listener) frame() string {
	l.t.Helper()
	var frame []string
	for l.lines.Scan() {
		switch line := l.lines.Text(); {
		case line == "" && len(frame) > 0:
			return strings.Join(frame, " | ")
		case line != "" && !strings.HasPrefix(line, ":"):
			frame = append(frame, line)
		}
	}
	return ""
}

func live(t *testing.T) (*show, *httptest.Server) {
	t.Helper()
	s := newShow(t, func(o *Options) { o.Now = nil; o.Config.AllowedHosts = []string{"127.0.0.1"} })
	s.AllowHosts([]string{"127.0.0.1"})
	s.Admin.now = time.Now
	s.verifier = nil // tokens of the test's clock are of no use here: tickets are
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(s.Close)
	return s, server
}

// ticket is one that is good.
func (s *show) ticket(t *testing.T) string {
	t.Helper()
	ticket, ok := s.tickets.give(s.Admin.now())
	if !ok {
		t.Fatal("no ticket")
	}
	return ticket
}

// The events as the contract has them: event, data, id. Who comes back is sent what it missed, and who cannot be is told to read
// the snapshot again. When the hub closes the stream ends.
func TestEvents(t *testing.T) {
	s, server := live(t)
	first := s.listen(t, server, "?ticket="+s.ticket(t))
	s.refresh(t)
	const started = `event: REFRESH_STARTED | data: {"key":"all_accounts:full","generation":0,"seq":1} | id: e1-1`
	if got := first.frame(); got != started {
		t.Errorf("got %s", got)
	}
	added := first.frame()
	if !strings.HasPrefix(added, `event: ACCOUNT_ADDED | data: {"provider":"openai-codex","profile_id":"a","profile":{`) || !strings.HasSuffix(added, `"generation":1,"seq":2} | id: e1-2`) {
		t.Errorf("got %s", added)
	}
	for _, from := range []struct{ query, header string }{{"", "e1-1"}, {"&last_event_id=e1-1", ""}, {"&last_event_id=e1-5", "e1-1"}} {
		if got := s.listen(t, server, "?ticket="+s.ticket(t)+from.query, "Last-Event-ID: "+from.header).frame(); got != added {
			t.Errorf("%+v: got %s", from, got)
		}
	}
	if got := s.listen(t, server, "?ticket="+s.ticket(t), "Last-Event-ID: e0-77").frame(); !strings.HasPrefix(got, `event: RESYNC | data: {"generation":1,"seq":2} | id: e1-`) {
		t.Errorf("got %s", got)
	}
	if s.Streams() != 5 {
		t.Fatalf("%d streams are open", s.Streams())
	}
	s.Close()
	for first.frame() != "" {
	}
	if got := s.listen(t, server, "?ticket="+s.ticket(t)).frame(); got != "" {
		t.Errorf("after the end: %s", got)
	}
}

// sheet is a ResponseWriter that may be read while it is written.
type sheet struct {
	journal
	header http.Header
}

func (p *sheet) Header() http.Header { return p.header }
func (p *sheet) WriteHeader(int)     {}
func (p *sheet) Flush()              {}

// A stream is never silent for longer than five seconds.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter, err := hub.OpenCounter(t.Context(), hub.CounterOptions{NewEpoch: func() string { return "e1" }})
		if err != nil {
			t.Fatal(err)
		}
		store := hub.NewStore(t.Context(), hub.StoreOptions{Collect: func(context.Context) hub.Sources { return hub.Sources{} }, Sequence: counter})
		a := &Admin{picture: &Picture{Store: store}, now: time.Now}
		w := &sheet{header: http.Header{}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- a.followEvents(w, httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		}()
		for second := range 21 {
			synctest.Wait()
			if beats := strings.Count(w.String(), ": heartbeat\n\n"); beats < 1+second/5 {
				t.Fatalf("after %d s there were %d heartbeats", second, beats)
			}
			time.Sleep(time.Second)
		}
		cancel()
		if err := <-ended; err != nil || a.Streams() != 0 {
			t.Errorf("%v, %d streams are left", err, a.Streams())
		}
	})
}

// A ticket opens one stream, once and soon, and nothing else. A header says more than a ticket.
func TestTickets(t *testing.T) {
	s := newShow(t, func(o *Options) {
		o.Runs = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.RequestURI())) })
	})
	now := testNow
	s.Admin.now = func() time.Time { return now }
	const refused = "401 unauthorized: A valid bearer token is needed; `hermes-hub token` prints one."
	f := func(target, want string, headers ...string) {
		t.Helper()
		if got := answer(s.do("GET", "/admin/v1"+target, "", headers...)); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	one := s.ticket(t)
	f("/runs/r1/events?after_seq=3&ticket="+one, "200 /admin/v1/runs/r1/events?after_seq=3")
	f("/runs/r1/events?after_seq=3&ticket="+one, refused)
	f("/runs/r1/events?ticket=", refused)
	f("/runs/r1/events?ticket=guess", refused)
	f("/runs/r1/events?ticket="+s.ticket(t)+"&ticket="+s.ticket(t), refused)
	for _, closed := range []string{"/runs", "/runs/r1", "/snapshot", "/version"} {
		f(closed+"?ticket="+s.ticket(t), refused)
	}
	f("/runs/r1/events?ticket="+s.ticket(t), refused, "Authorization: Bearer junk")
	kept := s.ticket(t)
	f("/runs/r1/events?ticket="+kept, "200 /admin/v1/runs/r1/events", s.viewer)
	now = now.Add(ticketLife - time.Nanosecond)
	f("/runs/r1/events?ticket="+kept, "200 /admin/v1/runs/r1/events")
	late := s.ticket(t)
	now = now.Add(ticketLife)
	f("/runs/r1/events?ticket="+late, refused)

	now = testNow
	if got := answer(s.do("POST", "/admin/v1/stream-token", "", s.viewer)); !strings.HasPrefix(got, `200 {"ticket":"`) || !strings.HasSuffix(got, `","expires_in":30}`) {
		t.Errorf("got %s", got)
	}
	for len(s.tickets.out) < maxTickets {
		s.ticket(t)
	}
	if got, want := answer(s.do("POST", "/admin/v1/stream-token", "", s.viewer)), "503 too-many-tickets: Too many stream tickets are out; use those that you have."; got != want {
		t.Errorf("got %s", got)
	}
	now = now.Add(ticketLife)
	if got := answer(s.do("POST", "/admin/v1/stream-token", "", s.viewer)); !strings.HasPrefix(got, `200 {`) || len(s.tickets.out) != 1 {
		t.Errorf("got %s, %d are out", got, len(s.tickets.out))
	}
}
