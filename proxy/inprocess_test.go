package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// inside makes a call of the hub's own and reads its answer to the end.
func (r *rig) within(c Call) reply {
	r.t.Helper()
	res, err := r.proxy.Call(r.t.Context(), c)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text), err}
}

func inner(body string) Call {
	return Call{Path: "/v1/chat/completions", SessionID: "s", RunID: "run_1", Body: []byte(body)}
}

// guarded has two client keys, one of which may not use every role.
func guarded(c *Config) {
	c.Keys = []Key{
		{Name: "all", Secret: router.NewSecret("key-all")},
		{Name: "few", Secret: router.NewSecret("key-few"), Roles: []string{"other"}, DefaultRole: "other"},
	}
}

// A call of the hub's own is answered as a client's is: accounts in turn, errors in the contract's words, streams as they
// come, and never whole when it is not. It says which run it is for.
func TestInnerCall(t *testing.T) {
	f := func(name, body string, steps map[string]simulator.Step, want, outcome string) {
		t.Run(name, func(t *testing.T) {
			bubble(t, setup{}, func(t *testing.T, r *rig) {
				for account, step := range steps {
					r.sim.Push(account, step)
				}
				got := r.within(inner(body))
				r.want(got, want)
				if run := got.header.Get(headerRunID); run != "run_1" {
					t.Errorf("run %q", run)
				}
				if got.err != nil && !errors.Is(got.err, io.ErrUnexpectedEOF) {
					t.Errorf("ended with %v", got.err)
				}
				if x := r.told.last(); string(x.Outcome) != outcome || x.Endpoint != "/v1/chat/completions" {
					t.Errorf("told as %s of %s", x.Outcome, x.Endpoint)
				}
				r.settle()
			})
		})
	}
	a := func(s simulator.Step) map[string]simulator.Step { return map[string]simulator.Step{"a": s} }
	f("whole", ask, nil, "200 profile=a attempts=1", "success")
	f("stream", askStream, nil, "200 profile=a attempts=1 [DONE]", "success")
	f("failover", askStream, a(quotaResets("3600")), "200 profile=b attempts=2 after=quota_exhausted [DONE]", "success")
	f("cut stream", askStream, a(simulator.CutEOF), "200 profile=a attempts=1 code=upstream_interrupted cut", "interrupted")
	f("bad body", `{"model":`, nil, "400 code=invalid_request_error", "invalid_request")
	f("unknown role", strings.Replace(ask, "sim-1", "role:nobody", 1), nil, "404 code=model_not_found", "invalid_request")
}

// The client key is known by its name alone: its roles count, and what was taken away is refused as it is at the door. No
// header makes an outsider one of them.
func TestInnerCallKeys(t *testing.T) {
	s := setup{config: guarded, roles: []router.Role{
		{ID: "main", Chain: []router.ChainItem{{Profile: "a"}}}, {ID: "other", Chain: []router.ChainItem{{Profile: "b"}}},
	}}
	r := newRig(t, s)
	f := func(client, role, want string) {
		t.Helper()
		c := inner(ask)
		c.Client, c.Role, c.Header = client, role, http.Header{"Authorization": {"Bearer key-all"}}
		r.want(r.within(c), want)
	}
	f("all", "", "200 profile=a attempts=1")
	f("few", "", "200 profile=b attempts=1")
	f("few", "other", "200 profile=b attempts=1")
	f("few", "main", "403 code=role_forbidden")
	f("gone", "", "401 code=invalid_api_key")
	f("", "", "401 code=invalid_api_key")
	if x := r.told.last(); x.Key != "" {
		t.Errorf("told of key %q", x.Key)
	}
	r.want(r.chat(ask, headerRunID, "run_1", "X-Hub-Client", "all"), "401 code=invalid_api_key")
	r.wantCalls("a=1 b=2 c=0")
}

// A lease is told by the run that it serves.
func TestInnerCallHoldsItsRunsLease(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stall)
		res, err := r.proxy.Call(t.Context(), inner(askStream))
		if err != nil {
			t.Fatal(err)
		}
		if held := r.router.Leases(); len(held) != 1 || *held[0].RunID != "run_1" || *held[0].Session != "s" {
			t.Errorf("held: %+v", held)
		}
		res.Body.Close()
		r.settle()
	})
}

// Whoever hangs up frees the account at once: by the context, before the head and behind it, and by closing the body, also
// one that is not being read. No time passes.
func TestInnerCallHangsUp(t *testing.T) {
	f := func(name string, step simulator.Step, hangUp func(*http.Response, context.CancelFunc)) {
		t.Run(name, func(t *testing.T) {
			bubble(t, setup{}, func(t *testing.T, r *rig) {
				began := time.Now()
				r.sim.Push("a", step)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				answer := make(chan *http.Response, 1)
				go func() {
					res, err := r.proxy.Call(ctx, inner(askStream))
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					answer <- res
				}()
				synctest.Wait()
				if step == simulator.Hang {
					stop()
				}
				res := <-answer
				if res != nil {
					hangUp(res, stop)
				}
				synctest.Wait()
				r.settle()
				if x := r.told.last(); x.Outcome != "client_closed" {
					t.Errorf("told as %s", x.Outcome)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
	f("before the head", simulator.Hang, nil)
	f("context", simulator.Stall, func(res *http.Response, stop context.CancelFunc) {
		stop()
		if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("read to the end with %v", err)
		}
	})
	f("closed", simulator.Stall, func(res *http.Response, _ context.CancelFunc) {
		res.Body.Close()
		res.Body.Close()
		if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("read after close: %v", err)
		}
	})
}

// A reader that stops reading is not waited for longer than a client on a connection is.
func TestInnerCallWriteDeadline(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		res, err := r.proxy.Call(t.Context(), inner(askStream))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeStall)
		synctest.Wait()
		r.settle()
		if x := r.told.last(); x.Outcome != "client_closed" {
			t.Errorf("told as %s", x.Outcome)
		}
		if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read to the end with %v", err)
		}
	})
}

// A hub that stops refuses calls of its own too, and cuts those that do not end in time.
func TestInnerCallDrained(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stall)
		answers := make(chan reply, 1)
		go func() { answers <- r.within(inner(askStream)) }()
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if n := r.proxy.Drain(ctx); n != 1 {
			t.Errorf("%d cut", n)
		}
		r.want(<-answers, "200 profile=a attempts=1 code=upstream_interrupted cut")
		r.want(r.within(inner(ask)), "503 retry=1 code=hub_unavailable")
		r.settle()
	})
}

// A bug is answered, and does not take the process down.
func TestInnerCallPanics(t *testing.T) {
	r := newRig(t, setup{keys: brokenKeys{}})
	r.want(r.within(inner(ask)), "500 code=internal_error")
	if x := r.told.last(); x.Outcome != "internal_error" {
		t.Errorf("told as %s", x.Outcome)
	}
	r.settle()
}

type brokenKeys struct{ Credentials }

func (brokenKeys) Current(context.Context, *router.Profile) (Credential, error) { panic("a bug") }

// There are no calls but those that a client could make.
func TestInnerCallElsewhere(t *testing.T) {
	r := newRig(t, setup{})
	for _, path := range []string{"", "/", "/v1/models", "/v1/runs", "/r/main/v1/chat/completions", "http://evil.test/v1/messages"} {
		c := inner(ask)
		c.Path = path
		if got := r.within(c); got.err == nil {
			t.Errorf("%q was served: %s", path, got.line())
		}
	}
	r.wantCalls("a=0 b=0 c=0")
}
