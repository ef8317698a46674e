package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime/fakehermes"
)

// hermesRig is a journal, a fake Hermes, and a Hermes runtime in between.
type hermesRig struct {
	t       *testing.T
	store   *memstore.Store
	journal *runs.Journal
	fake    *fakehermes.Server
	h       *Hermes
	id      string // of the runs that it starts
}

// bubble runs a test with a rig in a bubble: time passes when everybody waits.
func bubble(t *testing.T, o fakehermes.Options, agent fakehermes.Agent, test func(*testing.T, *hermesRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := fakehermes.New(o, agent)
		defer fake.Close()
		rig := &hermesRig{t: t, store: new(memstore.Store), fake: fake, id: playID}
		rig.h = rig.hermes(HermesOptions{BaseURL: "http://hermes.invalid/v1", APIKey: func() string { return o.Key }, Client: fake.Client()})
		defer rig.opens("one")()
		test(t, rig)
	})
}

func (r *hermesRig) hermes(o HermesOptions) *Hermes {
	r.t.Helper()
	h, err := NewHermes(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// opens opens a journal over the store.
func (r *hermesRig) opens(instance string) (stop func()) {
	r.journal = runs.New(runs.Options{Store: r.store, Instance: instance})
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func(j *runs.Journal) { ended <- j.Run(ctx) }(r.journal)
	return func() {
		cancel()
		<-ended
	}
}

// hermesPlay is one run as it is executed.
type hermesPlay struct {
	*hermesRig
	w     *runs.Writer
	x     *hermesRun
	stop  context.CancelCauseFunc
	ended chan error
}

const playID = "run_0123456789abcdef0123456789abcdef"

// starts starts a run and follows it.
func (r *hermesRig) starts(body string) *hermesPlay {
	r.t.Helper()
	w, err := r.journal.Begin(r.id, runs.Origin{SessionID: gjson.Get(body, "session_id").Str}, runs.Redacted, runs.RunStarted{Status: runs.Queued})
	if err != nil {
		r.t.Fatal(err)
	}
	x, err := r.h.Start(r.t.Context(), r.id, Order{Body: json.RawMessage(body)})
	if err != nil {
		r.t.Fatal(err)
	}
	_ = w.Append(runs.StatusChanged{Status: runs.Running, UpstreamRunID: x.(*hermesRun).UpstreamRunID()})
	return r.follows(w, x)
}

func (r *hermesRig) follows(w *runs.Writer, x Execution) *hermesPlay {
	ctx, stop := context.WithCancelCause(r.t.Context())
	p := &hermesPlay{hermesRig: r, w: w, x: x.(*hermesRun), stop: stop, ended: make(chan error, 1)}
	go func() { p.ended <- x.Follow(ctx, w) }()
	return p
}

// end waits for the end, seals the run and gives its rows.
func (p *hermesPlay) end() []runs.Event {
	p.t.Helper()
	if err := <-p.ended; err != nil {
		p.t.Fatalf("Follow: %v", err)
	}
	p.stop(nil)
	if err := p.w.Append(runs.RunClosed{}); err != nil {
		p.t.Fatalf("seal: %v", err)
	}
	return p.rows()
}

// rows are the rows so far. Those that hold the run together are made sure of.
func (p *hermesPlay) rows() []runs.Event {
	p.t.Helper()
	if _, err := p.w.Sync(p.t.Context()); err != nil {
		p.t.Fatalf("sync: %v", err)
	}
	page, err := p.store.Read(p.t.Context(), p.id, 0, 1<<20, 1<<30)
	if err != nil {
		p.t.Fatal(err)
	}
	terminal := 0
	for i, e := range page.Rows {
		if e.Seq != int64(i+1) {
			p.t.Fatalf("row %d has seq %d", i+1, e.Seq)
		}
		if e.Terminal {
			terminal++
		}
	}
	if terminal > 1 {
		p.t.Fatalf("%d terminal rows:\n%s", terminal, told(page.Rows))
	}
	return page.Rows
}

// look is the run object, once everybody waits.
func (p *hermesPlay) look() runs.Run {
	p.t.Helper()
	synctest.Wait()
	return folded(p.rows())
}

// control carries out a wish.
func (p *hermesPlay) control(v Verb, id, text string) error {
	return p.x.Control(p.t.Context(), Control{Verb: v, ID: id, Text: text})
}

func folded(rows []runs.Event) runs.Run {
	var f runs.Fold
	for _, e := range rows {
		f.Apply(e)
	}
	return f.Run()
}

// told are rows as text: each with the members that tests look at.
func told(rows []runs.Event) string {
	var b strings.Builder
	for _, e := range rows {
		fmt.Fprint(&b, e.Type)
		if e.Terminal {
			b.WriteString("!")
		}
		for _, name := range []string{"reason", "phase", "delta", "text", "name", "preview", "is_error", "command", "choice", "question", "type", "code", "output", "usage", "recovered"} {
			if v := gjson.GetBytes(e.Payload, name); v.Exists() {
				fmt.Fprintf(&b, " %s=%s", name, strings.ReplaceAll(v.Raw, `"`, ""))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// said is what observers that only add deltas up have.
func said(rows []runs.Event) (text string) {
	for _, e := range rows {
		if e.Type == runs.TypeTokenDelta {
			text += gjson.GetBytes(e.Payload, "delta").Str
		}
	}
	return text
}

// count is how many rows of the family there are.
func count(rows []runs.Event, of runs.Type) int {
	return len(slices.DeleteFunc(slices.Clone(rows), func(e runs.Event) bool { return e.Type != of }))
}

// wantRefused checks an error's status and code.
func wantRefused(t *testing.T, err error, status int, code string) {
	t.Helper()
	r, ok := errors.AsType[*Refused](err)
	if !ok || r.Status != status || r.Code != code {
		t.Errorf("error is %v, want a refusal %d %s", err, status, code)
	}
}

// later is a channel that is closed after d.
func later(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// answers has every request to that method and path answered so.
func answers(s *fakehermes.Server, method, path string, f http.HandlerFunc) {
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || r.URL.Path != path {
			return false
		}
		f(w, r)
		return true
	})
}
