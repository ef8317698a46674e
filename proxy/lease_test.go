package proxy

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// L01: an account whose slots are taken is passed over, and the trail says why.
func TestConcurrencyPassesOver(t *testing.T) {
	r := newRig(t, setup{profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = 1 }})
	r.sim.Push("a", simulator.Hang)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.chatUntil(ctx, ask) }()
	r.waitCalls("a", 1)
	got := r.chat(ask)
	r.want(got, "200 profile=b attempts=1")
	trail, ok := r.trails.Find(got.header.Get(headerRequestID))
	if !ok || trail.Candidates[0].Reason == nil || *trail.Candidates[0].Reason != "concurrency" {
		t.Errorf("trail %+v", trail)
	}
	cancel()
	<-done
	r.settle()
	r.want(r.chat(ask), "200 profile=a attempts=1")
}

// chatUntil sends a request that its client gives up when ctx ends.
func (r *rig) chatUntil(ctx context.Context, body string, headers ...string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := r.server.Client().Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	for buf := make([]byte, 4096); ; {
		if _, err := res.Body.Read(buf); err != nil {
			return
		}
	}
}

// L02: 200 calls at once never have more than the cap at one account, plain and streamed mixed.
func TestCapHolds(t *testing.T) {
	s := setup{
		accounts: []simulator.Account{{Name: "a", Key: "sk-a", Models: []string{"sim-1"}, Latency: 2 * time.Millisecond, MaxConcurrent: 5}, {Name: "b", Key: "sk-b", Models: []string{"sim-1"}}},
		profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = 5 },
	}
	r := newRig(t, s)
	r.sim.Strict(t)
	var wg sync.WaitGroup
	var served atomic.Int64
	for i := range 200 {
		wg.Go(func() {
			body := ask
			if i%2 == 0 {
				body = askStream
			}
			if got := r.chat(body); got.status == 200 && got.err == nil {
				served.Add(1)
			}
		})
	}
	wg.Wait()
	if served.Load() != 200 {
		t.Errorf("%d of 200 served", served.Load())
	}
	if peak := r.sim.Peak("a"); peak > 5 || peak == 0 {
		t.Errorf("peak %d at a cap of 5", peak)
	}
	r.settle()
}

// P29: a client that goes away cancels the upstream and frees the lease, wherever the request is, and hurts nobody.
func TestClientGone(t *testing.T) {
	for _, c := range []struct {
		name, body string
		step       simulator.Step
	}{
		{"waiting for a whole answer", ask, simulator.Hang},
		{"waiting for a stream", askStream, simulator.Hang},
		{"in the middle of a stream", askStream, simulator.Stall},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.sim.Push("a", c.step)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); r.chatUntil(ctx, c.body) }()
			r.waitCalls("a", 1)
			cancel()
			<-done
			wait, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			if err := r.sim.WaitCancelled(wait, "a", 1); err != nil {
				t.Fatal(err)
			}
			r.settle()
			if x := r.told.last(); x.Outcome != "client_closed" {
				t.Errorf("told as %s", x.Outcome)
			}
			r.want(r.chat(ask), "200 profile=a attempts=1")
		})
	}
}

// L03: a panic in the middle of a request frees what it held; the client gets a typed error and the process lives on.
func TestPanicFreesTheLease(t *testing.T) {
	r := newRig(t, setup{})
	sane := r.proxy.transport
	r.proxy.transport = func(*router.Profile) http.RoundTripper { return panicky{} }
	r.want(r.chat(ask), "500 code=internal_error")
	r.settle()
	if !strings.Contains(r.log.String(), "panic while serving") {
		t.Error("the log does not know of it")
	}
	r.proxy.transport = sane
	r.want(r.chat(ask), "200 profile=a attempts=1")
	if x := r.told.all[0]; x.Outcome != "internal_error" {
		t.Errorf("told as %q", x.Outcome)
	}
}

type panicky struct{}

func (panicky) RoundTrip(*http.Request) (*http.Response, error) { panic("a bug") }
