package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// book keeps what it is told, a line each.
type book struct {
	mu    sync.Mutex
	ids   []string
	lines []string
	each  func(line string) // called before a line is kept; nil = nothing
}

func (b *book) write(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if b.each != nil {
		b.each(line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
}

func (b *book) Record(r *Recorded) Recording {
	line := fmt.Sprintf("call %s %q by %q role %s/%s session %q stream %t", r.Endpoint, r.Model, r.Key, r.Role, r.RoleSource, r.Session, r.Stream)
	if r.Fields != nil {
		line += " " + string(r.Fields)
	}
	if r.Input != "" {
		line += fmt.Sprintf(" asks %q", r.Input)
	}
	b.write("%s", line)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids = append(b.ids, r.RunID)
	return b
}

func (b *book) Text(delta string)      { b.write("text %q", delta) }
func (b *book) Reasoning(delta string) { b.write("reasoning %q", delta) }
func (b *book) Tool(c ToolCall)        { b.write("tool %s %s %s", c.ID, c.Name, c.Arguments) }
func (b *book) Left(pieces int)        { b.write("left %d", pieces) }
func (b *book) End(x *telemetry.Exchange) {
	b.write("end %s %d after %d attempts", x.Outcome, x.Status, len(x.Attempts))
}

// read are the lines so far, once everything was told.
func (b *book) read(t *testing.T, r *rig) []string {
	t.Helper()
	if err := r.proxy.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.lines...)
}

// recording is a setup whose calls leave so much in the book.
func recording(s setup, depth Depth, b *book) setup {
	config := s.config
	s.config = func(c *Config) {
		if config != nil {
			config(c)
		}
		c.Record = depth
	}
	s.options = func(o *Options) { o.Recorder = b }
	return s
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const (
	plainCall = `call /v1/chat/completions "sim-1" by "" role main/default_fallback session "" stream false`
	streamed  = `call /v1/chat/completions "sim-1" by "" role main/default_fallback session "" stream true`
)

// Whatever a call comes to, it leaves a run with a beginning and an end, and its answer names the run. What could not be
// read, or came from nobody, leaves none.
func TestRecordedOutcomes(t *testing.T) {
	f := func(name, body string, steps []simulator.Step, want, recorded, end string) {
		t.Run(name, func(t *testing.T) {
			b := &book{}
			bubble(t, recording(setup{}, KeepFacts, b), func(t *testing.T, r *rig) {
				for i, step := range steps {
					r.sim.Push([]string{"a", "b", "c"}[i], step)
				}
				got := r.chat(body)
				r.want(got, want)
				if recorded == "" {
					wantLines(t, b.read(t, r))
					if id, ok := got.header[headerRunID]; ok {
						t.Errorf("the answer names run %s", id)
					}
					return
				}
				wantLines(t, b.read(t, r), recorded, end)
				if id := got.header.Get(headerRunID); len(b.ids) != 1 || id != b.ids[0] || len(id) != len("run_")+32 {
					t.Errorf("the answer names run %q, recorded are %q", id, b.ids)
				}
			})
		})
	}
	all := func(s simulator.Step) []simulator.Step { return []simulator.Step{s, s, s} }
	f("success", ask, nil, "200 profile=a attempts=1", plainCall, "end success 200 after 1 attempts")
	f("stream", askStream, nil, "200 profile=a attempts=1 [DONE]", streamed, "end success 200 after 1 attempts")
	f("failover", ask, all(quotaResets("3600"))[:1], "200 profile=b attempts=2 after=quota_exhausted", plainCall, "end success 200 after 2 attempts")
	f("exhausted", ask, all(simulator.PaymentRequired), "402 attempts=3 after=billing,billing,billing should-retry=false code=payment_required", plainCall, "end exhausted 402 after 3 attempts")
	f("interrupted", askStream, all(simulator.CutEOF)[:1], "200 profile=a attempts=1 code=upstream_interrupted cut", streamed, "end interrupted 200 after 1 attempts")
	f("the client's own mistake", ask, all(simulator.BadRequest)[:1], "400 attempts=1 code=unsupported_parameter", plainCall, "end invalid_request 400 after 1 attempts")
	f("unknown role", strings.Replace(ask, "sim-1", "role:nobody", 1), nil, "404 code=model_not_found",
		`call /v1/chat/completions "role:nobody" by "" role / session "" stream false`, "end invalid_request 404 after 0 attempts")
	f("not JSON", `{"model":`, nil, "400 code=invalid_request_error", "", "")
}

// A client that goes away leaves a run that ends, and so does a bug of the hub.
func TestRecordedClientGone(t *testing.T) {
	b := &book{}
	r := newRig(t, recording(setup{}, KeepFacts, b))
	r.sim.Push("a", simulator.Stall)
	conn := r.dial()
	r.say(conn, post(askStream))
	heard("data: ")(r, conn)
	r.reset(conn)
	r.ended(1, "client_closed")
	wantLines(t, b.read(t, r), streamed, "end client_closed 200 after 1 attempts")
}

func TestRecordedPanic(t *testing.T) {
	b := &book{}
	r := newRig(t, recording(setup{keys: brokenKeys{}}, KeepFacts, b))
	r.want(r.chat(ask), "500 code=internal_error")
	wantLines(t, b.read(t, r), plainCall, "end internal_error 500 after 0 attempts")
}

// A run is there while its call goes on, and so is the lease that names it.
func TestRecordedWhileItGoesOn(t *testing.T) {
	b := &book{}
	bubble(t, recording(setup{}, KeepFacts, b), func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Hang)
		go r.chat(ask)
		synctest.Wait()
		wantLines(t, b.read(t, r), plainCall)
		if held := r.router.Leases(); len(held) != 1 || *held[0].RunID != b.ids[0] {
			t.Errorf("held: %+v", held)
		}
		time.Sleep(time.Hour)
		wantLines(t, b.read(t, r), plainCall, "end exhausted 503 after 1 attempts")
	})
}

// What a client tells of its call is kept with its run: the fields of Hermes, from the body or from headers, and nothing else.
func TestRecordedFacts(t *testing.T) {
	s := setup{config: guarded, roles: []router.Role{
		{ID: "main", Chain: []router.ChainItem{{Profile: "a"}}}, {ID: "other", Chain: []router.ChainItem{{Profile: "b"}}},
	}}
	f := func(body, want string, headers ...string) {
		t.Helper()
		b := &book{}
		r := newRig(t, recording(s, KeepFacts, b))
		r.chat(body, append(headers, "Authorization", "Bearer key-few")...)
		wantLines(t, b.read(t, r)[:1], `call /v1/chat/completions "sim-1" by "few" role other/`+want)
	}
	with := func(member string) string { return strings.Replace(ask, "{", "{"+member+",", 1) }
	f(ask, `client_key session "" stream false`)
	f(ask, `explicit session "s-1" stream false`, "X-Hub-Session", "s-1", "X-Hub-Role", "other")
	f(with(`"metadata":{"task_id":"t","turn_id":"u","api_request_id":"q","session_id":"s","platform":"cli","provider":"p","base_url":"http://h/v1","api_mode":"chat","api_call_count":3,"color":"red","role":"other"}`),
		`explicit session "s" stream false {"task_id":"t","turn_id":"u","api_request_id":"q","session_id":"s","platform":"cli","provider":"p","base_url":"http://h/v1","api_mode":"chat","api_call_count":3}`)
	f(ask, `client_key session "s" stream false {"turn_id":"u\"","session_id":"s","api_call_count":"3"}`,
		"X-Hermes-Session-Id", "s", "X-Hermes-Turn-Id", `u"`, "X-Hermes-Api-Call-Count", "3")
	f(with(`"metadata":{"task_id":"body"}`), `client_key session "" stream false {"task_id":"body"}`, "X-Hermes-Task-Id", "header")
	f(with(`"metadata":{"task_id":["t"],"turn_id":null,"platform":"`+strings.Repeat("x", 300)+`","api_mode":true}`), `client_key session "" stream false`)
	f(with(`"metadata":{"task_id":"x\\u0041"}`), `client_key session "" stream false {"task_id":"x\\u0041"}`)
}

// Nothing is left by calls that generate nothing, by those that wish to leave nothing, by those of runs, and where nothing
// is configured to be kept.
func TestUnrecorded(t *testing.T) {
	f := func(depth Depth, path, body string, headers ...string) {
		t.Helper()
		b := &book{}
		r := newRig(t, recording(setup{}, depth, b))
		got := r.send(http.MethodPost, path, body, headers...)
		if id, ok := got.header[headerRunID]; ok {
			t.Errorf("%s %v: the answer names run %s", path, headers, id)
		}
		wantLines(t, b.read(t, r))
	}
	const chat = "/v1/chat/completions"
	f(KeepNothing, chat, ask)
	f(KeepWords, chat, ask, "Cache-Control", "no-store")
	f(KeepWords, chat, ask, "Cache-Control", "max-age=0, No-Store")
	f(KeepWords, "/v1/embeddings", `{"model":"sim-1","input":"hi"}`)
	f(KeepWords, "/v1/messages/count_tokens", `{"model":"sim-1","messages":[]}`)

	b := &book{}
	r := newRig(t, recording(setup{}, KeepWords, b))
	r.want(r.within(inner(ask)), "200 profile=a attempts=1")
	r.want(r.chat(ask, "Cache-Control", "no-cache"), "200 profile=a attempts=1")
	if lines := b.read(t, r); len(lines) != 3 {
		t.Errorf("recorded: %q", lines)
	}

	r = newRig(t, setup{config: func(c *Config) { c.Record = KeepWords }}) // nobody is there who could
	r.want(r.chat(ask), "200 profile=a attempts=1")
	if err := r.proxy.Settle(t.Context()); err != nil {
		t.Error(err)
	}
}

// I11: a recorder that hangs delays no answer and changes none, and what waits for it is bounded. What it could not be told
// it is told of.
func TestRecorderHangs(t *testing.T) {
	b, free, asked := &book{}, make(chan struct{}), make(chan struct{})
	hangs := sync.OnceFunc(func() { close(asked) })
	b.each = func(string) { hangs(); <-free }
	r := newRig(t, recording(setup{}, KeepWords, b))
	r.proxy.scribe.open = mostOpen - 2 // as if so many went on
	f := func(recorded bool) {
		t.Helper()
		got := r.chat(askStream)
		r.want(got, "200 profile=a attempts=1 [DONE]")
		if got.header.Get(headerRunID) != "" != recorded {
			t.Errorf("recorded: %t", !recorded)
		}
	}
	f(true)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(ErrStopping)
	if err := r.proxy.Settle(ctx); !errors.Is(err, ErrStopping) {
		t.Errorf("settled with %v", err)
	}
	<-asked
	f(true)
	f(false) // there is no room for it
	if log := r.log.String(); strings.Count(log, "does not keep up") != 1 {
		t.Errorf("log: %s", log)
	}

	many := make([]saying, 1100)
	for i := range many {
		many[i].text = strings.Repeat("x", 1<<10)
	}
	one := r.proxy.scribe.due[len(r.proxy.scribe.due)-1]
	one.ended = false
	r.proxy.scribe.say(one, many)
	if one.untold > mostUntold {
		t.Errorf("%d bytes wait", one.untold)
	}
	close(free)
	lines := strings.Join(b.read(t, r), "\n")
	if strings.Count(lines, "left ") != 1 || strings.Count(lines, "call ") != 2 {
		t.Errorf("told: %.300s", lines)
	}
	r.settle()
}

// Whoever waits for the recorder waits for what there was when it came, and not for what comes in the meantime.
func TestSettleUnderLoad(t *testing.T) {
	b := &book{}
	r := newRig(t, recording(setup{}, KeepFacts, b))
	b.each = func(string) { // there is always more
		r.proxy.scribe.admit(&record{})
	}
	r.want(r.chat(ask), "200 profile=a attempts=1")
	if lines := b.read(t, r); lines[0] != plainCall {
		t.Errorf("told: %q", lines)
	}
}

// I11: a recorder that panics loses the call that it panicked over, and nothing else happens.
func TestRecorderPanics(t *testing.T) {
	for _, at := range []string{"call", "text", "end"} {
		b, times := &book{}, 0
		b.each = func(line string) {
			if times++; strings.HasPrefix(line, at) && times <= 3 {
				panic("a bug of the recorder")
			}
		}
		r := newRig(t, recording(setup{}, KeepWords, b))
		r.want(r.chat(askStream), "200 profile=a attempts=1 [DONE]")
		_ = b.read(t, r)
		if log := r.log.String(); strings.Count(log, "panic while recording") != 1 {
			t.Errorf("at %s: log: %s", at, log)
		}
		times = 9
		r.want(r.chat(askStream), "200 profile=a attempts=1 [DONE]")
		if lines := b.read(t, r); !strings.HasPrefix(lines[len(lines)-1], "end success") {
			t.Errorf("at %s: the next call: %q", at, lines)
		}
		if open := r.proxy.scribe.open; open != 0 {
			t.Errorf("at %s: %d calls are still open", at, open)
		}
	}
}

// Ids of runs are of one form, grow with the time, and are never the same.
func TestRunIDs(t *testing.T) {
	form := regexp.MustCompile(`^run_[0-9a-f]{32}$`)
	at := time.UnixMilli(1_700_000_000_000)
	a, b, later := newRunID(at), newRunID(at), newRunID(at.Add(time.Millisecond))
	if !form.MatchString(a) || a == b || a >= later || b >= later {
		t.Errorf("%s, %s, then %s", a, b, later)
	}
}
