package httpapi_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// script is an executor that begins runs and leaves what comes of them to the test.
type script struct {
	j *runs.Journal

	mu       sync.Mutex
	n        int
	orders   []runtime.Order
	byKey    map[string]runtime.Started
	writers  map[string]*runs.Writer
	controls []string
	refuse   error // of Start and Control
}

func (s *script) Start(ctx context.Context, o runtime.Order) (runtime.Started, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return runtime.Started{}, s.refuse
	}
	if at, ok := s.byKey[o.Key]; ok && o.Key != "" {
		at.Replayed = true
		return at, nil
	}
	s.n++
	s.orders = append(s.orders, o)
	id := cmp.Or(o.RunID, fmt.Sprintf("run_%032d", s.n))
	o.Started.Status, o.Started.Controls, o.Started.Runtime, o.Started.Content = runs.Running, []string{"cancel"}, cmp.Or(o.Runtime, "completion"), o.Content
	if o.Dialect == runs.WebUI {
		o.Started.Words = runs.WordsWebUI
	}
	w, created, err := s.j.Create(ctx, id, runs.Origin{SessionID: o.SessionID, Owner: o.Owner}, o.Content, o.Started)
	if err != nil || !created {
		return runtime.Started{}, fmt.Errorf("created %v: %w", created, err)
	}
	s.writers[id] = w
	at := runtime.Started{RunID: id, SessionID: o.SessionID, Status: runs.Running}
	if o.Key != "" {
		s.byKey[o.Key] = at
	}
	return at, nil
}

func (s *script) StartExternal(ctx context.Context, o runtime.Order) (runtime.Started, string, error) {
	sum := sha256.Sum256([]byte("the-token"))
	o.Started.WriterHash = hex.EncodeToString(sum[:])
	at, err := s.Start(ctx, o)
	return at, "the-token", err
}

func (s *script) Control(ctx context.Context, runID string, c runtime.Control) (runs.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controls = append(s.controls, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Verb, c.ID, c.Text, c.Mode)))
	if s.refuse != nil {
		return runs.Run{}, s.refuse
	}
	if w := s.writers[runID]; c.Verb == runtime.Cancel && w != nil {
		if err := w.Append(runs.RunCancelled{}); err != nil {
			return runs.Run{}, runtime.ErrNotActive
		}
		_ = w.Append(runs.RunClosed{})
		if _, err := w.Sync(ctx); err != nil {
			return runs.Run{}, err
		}
	}
	return s.j.Look(ctx, runID)
}

// store is a memory that fails while it is told to, and may hide a row as if it had lost it.
type store struct {
	*memstore.Store
	mu     sync.Mutex
	down   error
	hidden int64 // seq
	rows   int   // that were read
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func (s *store) Read(ctx context.Context, run string, after int64, limit, maxBytes int) (runs.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return runs.Page{}, s.down
	}
	page, err := s.Store.Read(ctx, run, after, limit, maxBytes)
	page.Rows = slices.DeleteFunc(slices.Clone(page.Rows), func(e runs.Event) bool { return e.Seq == s.hidden })
	s.rows += len(page.Rows)
	return page, err
}

// took is how many rows were read since it was asked last.
func (s *store) took() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.rows
	s.rows = 0
	return n
}

// pipes are a network in memory, which waits as synctest understands it.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// rig is an API behind a real server.
type rig struct {
	t     *testing.T
	api   *httpapi.API
	j     *runs.Journal
	store *store
	exec  *script
	net   pipes
	http  *http.Client
	who   httpapi.Client
	stop  context.CancelCauseFunc // of all requests
	wg    sync.WaitGroup
}

// rigged runs a test in a bubble with a rig.
func rigged(t *testing.T, change func(*httpapi.Options), f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, store: &store{Store: new(memstore.Store)}, net: make(pipes), who: httpapi.Client{Owner: "me"}}
		r.j = runs.New(runs.Options{Store: r.store, Instance: "here", MaxWaiting: 1 << 20})
		r.exec = &script{j: r.j, byKey: map[string]runtime.Started{}, writers: map[string]*runs.Writer{}}
		o := httpapi.Options{Journal: r.j, Executor: r.exec}
		if change != nil {
			change(&o)
		}
		r.api = httpapi.New(o)
		ctx, stop := context.WithCancelCause(t.Context())
		r.stop = stop
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			its, cancel := context.WithCancelCause(q.Context())
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
			q = q.WithContext(its)
			switch {
			case !strings.HasPrefix(q.URL.Path, "/v1/responses"):
				r.api.Serve(w, q, r.who)
			case q.Header.Get("Background") != "":
				body, _ := io.ReadAll(q.Body)
				r.api.StartResponse(w, q, r.who, body)
			default:
				r.api.ServeResponse(w, q, r.who)
			}
		})}
		life, end := context.WithCancel(t.Context())
		r.wg.Go(func() { _ = server.Serve(r.net) })
		r.wg.Go(func() { _ = r.j.Run(life) })
		r.http = &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return r.dial(), nil }}}
		defer func() {
			r.http.CloseIdleConnections()
			_ = server.Close()
			end()
			r.wg.Wait()
		}()
		f(t, r)
	})
}

func (r *rig) dial() net.Conn {
	ours, theirs := net.Pipe()
	r.net <- theirs
	return ours
}

// open sends a request: a method and path, then headers `Name: value` a line each, then a body behind an empty line.
func (r *rig) open(request string) *http.Response {
	r.t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	q, err := http.NewRequestWithContext(r.t.Context(), method, "http://hub"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		q.Header.Add(name, value)
	}
	a, err := r.http.Do(q)
	if err != nil {
		r.t.Fatalf("%s: %v", lines[0], err)
	}
	return a
}

// ask sends a request and returns the answer's status and body.
func (r *rig) ask(request string) string {
	r.t.Helper()
	a := r.open(request)
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatalf("%s: %v", request, err)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", a.StatusCode, body))
}

// begin begins a run that the client owns, in session s.
func (r *rig) begin(id string, o runtime.Order) *runs.Writer {
	r.t.Helper()
	o.RunID, o.SessionID, o.Owner, o.Content = id, "s", "me", cmp.Or(o.Content, runs.Redacted)
	if _, err := r.exec.Start(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	return r.exec.writers[id]
}

// add appends and waits until it is stored.
func (r *rig) add(w *runs.Writer, ps ...runs.Payload) {
	r.t.Helper()
	for _, p := range ps {
		if err := w.Append(p); err != nil {
			r.t.Fatalf("append %s: %v", p.Type(), err)
		}
	}
	if _, err := w.Sync(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func delta(text string) runs.TokenDelta { return runs.TokenDelta{Delta: text} }

// frames reads a stream frame by frame, in short: `5` is a row, `+gap{…}` a control frame, `:` a heartbeat, `DONE`, `EOF`.
type frames struct {
	*bufio.Reader
	io.Closer
	lastID string
}

func (r *rig) observe(request string) *frames {
	r.t.Helper()
	a := r.open(request)
	if a.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s", request, a.Status)
	}
	return &frames{Reader: bufio.NewReader(a.Body), Closer: a.Body}
}

// next is the next frame that is no heartbeat.
func (f *frames) next() string {
	for {
		if frame := f.any(); frame != ":" {
			return frame
		}
	}
}

func (f *frames) any() string {
	id, event, data := "", "", ""
	for {
		line, err := f.ReadString('\n')
		if err != nil {
			return "EOF"
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "event: "):
			event = line[7:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case strings.HasPrefix(line, "retry: "):
			event = "retry " + line[7:]
		case line != "":
			event = ":"
		case event == ":":
			return ":"
		case event != "":
			return "+" + event + data
		case data == "[DONE]":
			return "DONE"
		default:
			_, seq, _ := strings.Cut(id, ":")
			f.lastID = id
			return seq
		}
	}
}

// until are the frames up to and with the one that begins so.
func (f *frames) until(last string) string {
	var all []string
	for {
		frame := f.next()
		all = append(all, frame)
		if strings.HasPrefix(frame, last) || frame == "EOF" {
			return strings.Join(all, " ")
		}
	}
}

// listOf are the ids of a list, page by page.
func listOf(r *rig, path string) string {
	r.t.Helper()
	var pages []string
	for at := path; ; {
		status, body, _ := strings.Cut(r.ask("GET "+at), " ")
		if status != "200" {
			return status + " " + gjson.Get(body, "error.param").Str
		}
		var ids []string
		for _, run := range gjson.Get(body, "data.#.run_id").Array() {
			ids = append(ids, run.Str)
		}
		pages = append(pages, strings.Join(ids, " "))
		next := gjson.Get(body, "next_cursor").Str
		if next == "" {
			return strings.Join(pages, " | ")
		}
		at = path + "&cursor=" + next
	}
}
