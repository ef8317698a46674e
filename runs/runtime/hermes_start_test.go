package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/runs/runtime/fakehermes"
)

func done(*fakehermes.Turn) (string, error) { return "done", nil }

// What a client says of workspace, attachments, profile, toolsets, project and voice gets to the runtime byte for byte, in
// either dialect, and so does what nobody knows; only what is the hub's own is taken out.
func TestHermesPassesOrdersOn(t *testing.T) {
	const context = `"workspace":"/home/me/päth","attachments":[{"name":"a.png","size":12345678901234567890}],"profile":"work",` +
		`"toolsets":["web","terminal"],"source":"voice","metadata":{"project":{"id":7,"tags":[]},"route":"/x"},"unknown":{"deep":[1.50,null]}`
	f := func(o Order, want string) {
		t.Helper()
		bubble(t, fakehermes.Options{}, done, func(t *testing.T, rig *hermesRig) {
			if _, err := rig.h.Start(t.Context(), playID, o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(rig.fake.Calls("POST", "/v1/runs")[0].Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
	body := func(s string) Order { return Order{Body: json.RawMessage(s)} }
	f(body(`{"input":"hi",`+context+`}`), `{"input":"hi",`+context+`}`)
	f(body(`{"input":"hi","runtime":"hermes",`+context+`}`), `{"input":"hi",`+context+`}`)
	f(body(`{"input":[{"role":"user","content":"hi"}], "session_id":"s"}`), `{"input":[{"role":"user","content":"hi"}], "session_id":"s"}`)
	f(body(`{"message":"hi \u00e4",`+context+`}`), `{`+context+`,"input":"hi \u00e4"}`)
	f(body(`{"input":"a","message":"b"}`), `{"input":"a","message":"b"}`)
	f(Order{Body: json.RawMessage(`{"input":"a"}`), SessionID: "s9"}, `{"input":"a","session_id":"s9"}`)
	f(Order{Body: json.RawMessage(`{"input":"a","session_id":"s1"}`), SessionID: "s9"}, `{"input":"a","session_id":"s1"}`)
}

// The headers of an order: the hub's key and no client's, the run id as the idempotency key, the session's id and key.
func TestHermesHeaders(t *testing.T) {
	f := func(o Order, want map[string]string) {
		t.Helper()
		bubble(t, fakehermes.Options{Key: "runtime-key"}, done, func(t *testing.T, rig *hermesRig) {
			if _, err := rig.h.Start(t.Context(), playID, o); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for name, values := range rig.fake.Calls("POST", "/v1/runs")[0].Header {
				got[name] = strings.Join(values, "|")
			}
			want["Authorization"], want["Content-Type"], want["Accept"], want["Idempotency-Key"] = "Bearer runtime-key", "application/json", "application/json", playID
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	client := http.Header{"X-Hermes-Session-Key": {"webui:s1"}, "Authorization": {"Bearer client"}, "Cookie": {"c=1"}, "Idempotency-Key": {"client's"}}
	f(Order{Body: json.RawMessage(hello), Header: client}, map[string]string{"X-Hermes-Session-Id": "s1", "X-Hermes-Session-Key": "webui:s1"})
	f(Order{Body: json.RawMessage(`{"input":"x"}`)}, map[string]string{})
	f(Order{Body: json.RawMessage(`{"input":"x","session_id":"a\r\nb: c"}`)}, map[string]string{})
}

// P26: what goes wrong at the start is told in the hub's words, by status, code and when to come back. What the runtime says
// of itself, its host and the hub's key are in none of it.
func TestHermesRefusals(t *testing.T) {
	f := func(answer http.HandlerFunc, status int, code, message string, wait time.Duration) {
		t.Helper()
		bubble(t, fakehermes.Options{Key: "runtime-key"}, done, func(t *testing.T, rig *hermesRig) {
			answers(rig.fake, "POST", "/v1/runs", answer)
			_, err := rig.h.Start(t.Context(), playID, Order{Body: json.RawMessage(hello)})
			wantRefused(t, err, status, code)
			if r, ok := errors.AsType[*Refused](err); ok && (r.Message != message || r.RetryAfter != wait) {
				t.Errorf("it says %q, wait %s; want %q, %s", r.Message, r.RetryAfter, message, wait)
			}
		})
	}
	says := func(status int, code, message string, retryAfter ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Retry-After"] = retryAfter
			w.Header().Set("Location", "http://elsewhere.invalid/v1/runs")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "code": code}})
		}
	}
	f(says(400, "", "Missing 'input' field"), 400, "invalid_request", "Missing 'input' field", 0)
	f(says(400, "invalid_idempotency_key", "bad\n\x00key"), 400, "invalid_idempotency_key", "bad key", 0)
	f(says(400, "<b>", strings.Repeat("ä", 400)), 400, "invalid_request", strings.Repeat("ä", 300)+"…", 0)
	f(says(413, "request_too_large", "Too large"), 400, "request_too_large", "Too large", 0)
	f(says(422, "", ""), 400, "invalid_request", "The runtime did not understand the request.", 0)
	f(says(401, "gateway_auth_failed", "key runtime-key is wrong"), 502, "runtime_auth_failed", "The runtime did not accept the hub's key.", 0)
	f(says(403, "", ""), 502, "runtime_auth_failed", "The runtime did not accept the hub's key.", 0)
	f(says(404, "", "no route"), 502, "runtime_unsupported", "The runtime has no such call.", 0)
	f(says(409, "idempotency_key_conflict", "Key was used"), 409, "idempotency_key_conflict", "Key was used", 0)
	f(says(429, "", "Too many concurrent runs (max 10)"), 429, "runtime_busy", "Too many concurrent runs (max 10)", 0)
	f(says(429, "rate_limit_exceeded", "Too many", "7"), 429, "rate_limit_exceeded", "Too many", 7*time.Second)
	f(says(503, "gateway_draining", "draining", "1"), 503, "gateway_draining", "The runtime takes no runs now.", time.Second)
	f(says(503, "", "", "Sat, 01 Jan 2000 00:00:30 GMT"), 503, "runtime_unavailable", "The runtime takes no runs now.", 30*time.Second)
	f(says(503, "", "", "-5"), 503, "runtime_unavailable", "The runtime takes no runs now.", 0)
	f(says(500, "", "Traceback: /root/x"), 502, "runtime_failed", "The runtime failed.", 0)
	f(says(302, "", ""), 502, "runtime_bad_answer", "The runtime answered with something else than it should.", 0)
	f(says(202, "", ""), 502, "runtime_bad_answer", "The runtime did not say which run it started.", 0)
	f(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(202)
		fmt.Fprint(w, `{"run_id":"../../etc"}`)
	}, 502, "runtime_bad_answer", "The runtime did not say which run it started.", 0)
	f(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 503, "runtime_unavailable", "The runtime cannot be reached.", time.Second)
	f(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 503, "runtime_unavailable", "The runtime did not answer in time.", time.Second)
}

// A body that is no object is refused before anybody is asked.
func TestHermesBadOrder(t *testing.T) {
	for _, body := range []string{"", "null", "[]", `"x"`, `{"input":`, "{} x"} {
		bubble(t, fakehermes.Options{}, done, func(t *testing.T, rig *hermesRig) {
			_, err := rig.h.Start(t.Context(), playID, Order{Body: json.RawMessage(body)})
			wantRefused(t, err, 400, "invalid_request")
			if n := len(rig.fake.Calls("POST", "/v1/runs")); n != 0 {
				t.Errorf("%q was sent", body)
			}
		})
	}
}

// An order that is repeated, because nobody knows whether it was taken, is one run at a runtime that knows idempotency keys.
func TestHermesStartAgain(t *testing.T) {
	bubble(t, fakehermes.Options{}, done, func(t *testing.T, rig *hermesRig) {
		var ids []string
		for range 2 {
			x, err := rig.h.Start(t.Context(), playID, Order{Body: json.RawMessage(hello)})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, x.(*hermesRun).UpstreamRunID())
		}
		if ids[0] != ids[1] {
			t.Errorf("the runs are %q", ids)
		}
		_, err := rig.h.Start(t.Context(), playID, Order{Body: json.RawMessage(`{"input":"other"}`)})
		wantRefused(t, err, 409, "idempotency_key_conflict")
	})
}

// Who waits for a start and leaves is told why it ended, not that the runtime is away.
func TestHermesStartLeaves(t *testing.T) {
	bubble(t, fakehermes.Options{}, done, func(t *testing.T, rig *hermesRig) {
		answers(rig.fake, "POST", "/v1/runs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { synctest.Wait(); cancel(ErrStopping) }()
		if _, err := rig.h.Start(ctx, playID, Order{Body: json.RawMessage(hello)}); !errors.Is(err, ErrStopping) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestNewHermes(t *testing.T) {
	f := func(base, want string) {
		t.Helper()
		h, err := NewHermes(HermesOptions{Name: "h", BaseURL: base})
		switch {
		case err != nil && (want != "" || !strings.Contains(err.Error(), "base_url")):
			t.Errorf("%s: %v", base, err)
		case err == nil && h.wire.base != want:
			t.Errorf("%s became %s", base, h.wire.base)
		}
	}
	f("http://127.0.0.1:8642", "http://127.0.0.1:8642")
	f("http://127.0.0.1:8642/v1/", "http://127.0.0.1:8642")
	f("https://h.example/p/work/v1", "https://h.example/p/work")
	f("", "")
	f("127.0.0.1:8642", "")
	f("ftp://h", "")
	f("http://user:pass@h", "")
	f("http://h/?x=1", "")
}

// The key is in no log and in no error, whatever happens.
func TestHermesKeepsItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		fake := fakehermes.New(fakehermes.Options{Key: "other"}, done)
		defer fake.Close()
		o := HermesOptions{
			Name: "h", BaseURL: "http://h.invalid", Client: fake.Client(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			APIKey: func() string { return "very-secret" },
		}
		h, err := NewHermes(o)
		if err != nil {
			t.Fatal(err)
		}
		_, first := h.Start(t.Context(), playID, Order{Body: json.RawMessage(hello)})
		fake.Down(true)
		_, second := h.Start(t.Context(), playID, Order{Body: json.RawMessage(hello)})
		if text := fmt.Sprintf("%v %v %+v %+v %s", first, second, o, h, log.String()); strings.Contains(text, "very-secret") || log.Len() == 0 {
			t.Errorf("the key is in %s", text)
		}
		wantRefused(t, first, 502, "runtime_auth_failed")
	})
}

func TestReadHermesSkills(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		var got []string
		skills := readHermesSkills([]byte(body))
		for _, v := range skills.verbs() {
			got = append(got, string(v)+" "+skills.path(v, "r/1", "s 1"))
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	f(``, "")
	f(`[1`, "")
	f(`{"features":{"run_stop":true,"run_approval_response":false}}`, "cancel /v1/runs/r%2F1/stop")
	f(`{"features":{"run_steer":false},"endpoints":{"run_steer":{"method":"POST","path":"/v1/runs/{run_id}/steer"}}}`, "")
	f(`{"endpoints":{"run_stop":{"method":"POST","path":"/v2/{run_id}/halt"}}}`, "cancel /v2/r%2F1/halt")
	f(`{"endpoints":{"run_stop":{"method":"POST","path":"//evil.example/x"},"run_steer":{"method":"GET","path":"/x"}}}`, "")
	f(`{"features":{"session_clarify":true}}`, "clarify /api/sessions/s%201/clarify")
	f(`{"features":{"session_clarify":true,"run_clarify":true}}`, "clarify /v1/runs/r%2F1/clarify")
}
