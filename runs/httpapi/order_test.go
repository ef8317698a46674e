package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// orderOf is what the executor got, in a line.
func orderOf(o runtime.Order) string {
	started, _ := json.Marshal(o.Started)
	text := fmt.Sprintf("%s|%s|%s|%s|%s|%d|%s|%s|%v|%s", o.Owner, o.SessionID, o.Runtime, o.Role, o.Model, o.Dialect, o.Content, o.Key, o.Header, started)
	return strings.NewReplacer("map[]", "", `"status":"",`, "", `"controls":null,`, "", `"status":"","controls":null`, "").Replace(text)
}

// What a run is begun with reaches the runtime whole, in both dialects (W02, W07), with workspace, attachments, profile,
// toolsets, source and project metadata unchanged (the contract's Artifact 3).
func TestStart(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		n := 0
		f := func(headers, body, order, answer string) {
			t.Helper()
			n++
			answer = strings.ReplaceAll(answer, "$id", fmt.Sprintf("run_%032d", n))
			if got := r.ask("POST /v1/runs" + headers + "\n\n" + body); got != "202 "+answer {
				t.Errorf("%s: %s, want %s", body, got, answer)
			}
			o := r.exec.orders[len(r.exec.orders)-1]
			if got := orderOf(o); got != order {
				t.Errorf("%s: order\n%s, want\n%s", body, got, order)
			}
			if string(o.Body) != body || o.Surface != runtime.RunsAPI {
				t.Errorf("%s: the runtime gets %s as %s", body, o.Body, o.Surface)
			}
		}
		f("", `{"model":"m","input":"hi","unknown":[1,{"a":null}]}`, `me||||m|0|redacted|||{"input":"hi"}`,
			`{"run_id":"$id","status":"started","session_id":null,"replayed":false}`)
		f("\nX-Hermes-Session-Id: abc\nX-Hermes-Session-Key: webui:abc",
			`{"input":[{"role":"user","content":"hi"}],"instructions":"be kind","conversation_history":[{"role":"user","content":"x"}],"metadata":{"project":"p","task_id":"t"},"turn_id":"u","api_call_count":3}`,
			`me|abc||||0|redacted||map[X-Hermes-Session-Key:[webui:abc]]|{"input":[{"role":"user","content":"hi"}],"metadata":{"project":"p","task_id":"t","turn_id":"u","api_call_count":3}}`,
			`{"run_id":"$id","status":"started","session_id":"abc","replayed":false}`)
		f("\nX-Hermes-Session-Id: abc", `{"session_id":"s1","message":"hi","attachments":[{"path":"/w/a.png"}],"workspace":"/w","profile":"work","provider":"openai","model":"m","toolsets":["web","files"],"source":"voice","metadata":{"route":"/api/chat"}}`,
			`me|s1|||m|1|redacted|||{"provider":"openai","profile":"work","workspace":"/w","toolsets":["web","files"],"attachments":[{"path":"/w/a.png"}],"source":"voice","input":"hi","metadata":{"route":"/api/chat","provider":"openai"}}`,
			`{"run_id":"$id","status":"started","session_id":"s1","replayed":false,"stream_id":"$id","cursor":"0"}`)
		f("", `{"runtime":"external","session_id":"s1"}`, `me|s1|external|||0|redacted|||{"writer_hash":"`+tokenHash+`"}`,
			`{"run_id":"$id","status":"started","session_id":"s1","replayed":false,"writer_token":"the-token"}`)
		f("\nCache-Control: max-age=0, no-store", `{"input":"hi"}`, `me|||||0|metadata|||{"input":"hi"}`,
			`{"run_id":"$id","status":"started","session_id":null,"replayed":false}`)
		f("", `{"input":"hi","store":false}`, `me|||||0|metadata|||{"input":"hi"}`,
			`{"run_id":"$id","status":"started","session_id":null,"replayed":false}`)
		f("\nIdempotency-Key: k!~1", `{"input":"hi"}`, `me|||||0|redacted|k!~1||{"input":"hi"}`,
			`{"run_id":"$id","status":"started","session_id":null,"replayed":false}`)
		again := r.open("POST /v1/runs\nIdempotency-Key: k!~1\n\n" + `{"input":"hi"}`)
		body, _ := io.ReadAll(again.Body)
		if !strings.Contains(string(body), `"replayed":true`) || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("X-Hub-Run-Id") == "" {
			t.Errorf("%s %v", body, again.Header)
		}
		r.exec.byKey = map[string]runtime.Started{}
		r.who.Roles = func(name string) (string, error) {
			switch name {
			case "manager":
				return "orchestrator", nil
			case "secret":
				return "", httpapi.ErrRoleForbidden
			}
			return "", httpapi.ErrUnknownRole
		}
		const plain = `{"run_id":"$id","status":"started","session_id":null,"replayed":false}`
		f("\nX-Hub-Role: manager", `{"input":"hi","metadata":{"role":"secret"}}`, `me|||orchestrator||0|redacted|||{"input":"hi","metadata":{"role":"secret"}}`, plain)
		f("", `{"input":"hi","metadata":{"role":"manager"}}`, `me|||orchestrator||0|redacted|||{"input":"hi","metadata":{"role":"manager"}}`, plain)
		f("", `{"input":"hi","model":"role:manager"}`, `me||||role:manager|0|redacted|||{"input":"hi"}`, plain)
		r.who.Role = "coder"
		f("\nX-Hub-Role: nobody", `{"input":"hi"}`, `me|||coder||0|redacted|||{"input":"hi"}`, plain)
	})
}

const tokenHash = "c2a73fcf61dfbdcadc79a10ba330b2ef5eb66fc0a6735ed69b796bb3c97b97ae"

// What is wrong with a request is told in one line: what, where, how to mend it. Nothing is begun.
func TestStartRefuses(t *testing.T) {
	rigged(t, func(o *httpapi.Options) { o.MaxBody = 1 << 10 }, func(t *testing.T, r *rig) {
		f := func(headers, body, want string) {
			t.Helper()
			got := r.ask("POST /v1/runs" + headers + "\n\n" + body)
			got = strings.NewReplacer(`{"error":{"message":`, "", `"type":"invalid_request_error",`, "", "}}", "").Replace(got)
			if got != want {
				t.Errorf("%.60s: %s, want %s", body, got, want)
			}
		}
		f("", `{`, `400 "the body is no JSON: unexpected end of JSON input","param":null,"code":"invalid_request_error"`)
		f("", ``, `400 "the body is no JSON: unexpected end of JSON input","param":null,"code":"invalid_request_error"`)
		f("", `[]`, `400 "the body must be a JSON object","param":null,"code":"invalid_request_error"`)
		f("", `{}`, `400 "Missing 'input' field: say what is to be done, as a string or as messages of which the last is the user's","param":"input","code":"invalid_request_error"`)
		f("", `{"input":""}`, `400 "Missing 'input' field: say what is to be done, as a string or as messages of which the last is the user's","param":"input","code":"invalid_request_error"`)
		f("", `{"input":5}`, `400 "input must be a string or an array, not a number","param":"input","code":"invalid_request_error"`)
		f("", `{"input":"a","in\u0070ut":"b"}`, `400 "input is there twice: send it once","param":"input","code":"invalid_request_error"`)
		f("", `{"input":"a","model":{}}`, `400 "model must be a string, not an object","param":"model","code":"invalid_request_error"`)
		f("", `{"input":"a","toolsets":["a",1]}`, `400 "toolsets[1] must be a string, not a number","param":"toolsets","code":"invalid_request_error"`)
		f("", `{"input":"a","metadata":[]}`, `400 "metadata must be an object, not an array","param":"metadata","code":"invalid_request_error"`)
		f("", `{"input":"a","store":"no"}`, `400 "store must be a boolean, not a string","param":"store","code":"invalid_request_error"`)
		f("", `{"input":"a","session_id":"a\u0000b"}`, `400 "session_id must have at most 256 bytes that can be printed","param":"session_id","code":"invalid_request_error"`)
		f("\nX-Hermes-Session-Key: "+strings.Repeat("k", 257), `{"input":"a"}`, `400 "X-Hermes-Session-Key must have at most 256 bytes that can be printed","param":null,"code":"invalid_request_error"`)
		const badKey = `400 "Idempotency-Key must be one key of 1 to 255 visible ASCII characters","param":null,"code":"invalid_idempotency_key"`
		f("\nIdempotency-Key: ", `{"input":"a"}`, badKey)
		f("\nIdempotency-Key: a b", `{"input":"a"}`, badKey)
		f("\nIdempotency-Key: "+strings.Repeat("k", 256), `{"input":"a"}`, badKey)
		f("\nIdempotency-Key: a\nIdempotency-Key: b", `{"input":"a"}`, badKey)
		f("", `{"input":"`+strings.Repeat("x", 2000)+`"}`, `413 "the body is larger than 1024 bytes","param":null,"code":"request_too_large"`)
		f("\nContent-Encoding: gzip", `x`, `415 "Content-Encoding \"gzip\" is not supported: send the body as it is","param":null,"code":"unsupported_encoding"`)
		r.who.Roles = func(name string) (string, error) {
			if name == "secret" {
				return "", httpapi.ErrRoleForbidden
			}
			return "", httpapi.ErrUnknownRole
		}
		f("\nX-Hub-Role: nobody", `{"input":"a"}`, `404 "role \"nobody\" is not configured","param":null,"code":"model_not_found"`)
		f("", `{"input":"a","model":"role:secret"}`, `403 "this key may not use role \"secret\"","param":null,"code":"role_forbidden"`)
		f("", `{"input":"a","model":"secret"}`, `403 "this key may not use role \"secret\"","param":null,"code":"role_forbidden"`)
		r.who.Roles = nil
		if len(r.exec.orders) != 0 {
			t.Errorf("%d runs were begun", len(r.exec.orders))
		}
		for err, want := range map[error]string{
			runtime.ErrNoRuntime:   `400 "runtime \"x\" is not configured","param":"runtime","code":"invalid_request_error"`,
			runtime.ErrKeyConflict: `409 "the idempotency key was used for another request","param":null,"code":"idempotency_key_conflict"`,
			&runtime.Refused{Status: 429, Code: "too_many_runs", Message: "Too many concurrent runs"}: `429 "Too many concurrent runs","param":null,"code":"too_many_runs"`,
			errors.New("disk full at /var"): `503 "the journal of runs cannot be used at the moment","type":"server_error","param":null,"code":"hub_unavailable"`,
			runtime.ErrStopping:             `503 "the hub is stopping","type":"server_error","param":null,"code":"hub_unavailable"`,
		} {
			r.exec.refuse = err
			f("", `{"input":"a","runtime":"x"}`, want)
		}
		r.exec.refuse = nil
		r.who.ReadOnly = true
		f("", `{"input":"a"}`, `403 "this client may look only","param":null,"code":"read_only"`)
	})
}

// Paths and methods that are not there: an error at once, never a redirect, which clients refuse.
func TestRoutes(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		f := func(request, want string) {
			t.Helper()
			a := r.open(request)
			a.Body.Close()
			if got := strings.TrimSpace(fmt.Sprint(a.StatusCode, " ", a.Header.Get("Allow"))); got != want {
				t.Errorf("%s: %s, want %s", request, got, want)
			}
		}
		for _, prefix := range []string{"/v1/", "/r/coder/v1/", "/r/v1/v1/", "/admin/v1/"} {
			f("GET "+prefix+"runs", "200")
			f("GET "+prefix+"runs/", "200")
			f("GET "+prefix+"runs/r/", "200")
			f("GET "+prefix+"sessions/v1/runs", "200")
		}
		f("GET /v1/sessions/a%2Fv1%2Fruns/runs", "200")
		f("GET /v2/runs", "404")
		f("GET /", "404")
		f("GET /v1/runs//events", "404")
		f("GET /v1/runs/r/events/x", "404")
		f("PUT /v1/runs", "405 POST, GET")
		f("HEAD /v1/runs/r/events", "405 GET, POST")
		f("GET /v1/runs/r/stop", "405 POST")
		f("GET /v1/sessions/s", "405 DELETE")
	})
}

// Runs are listed newest first, those of the client only, and no page shows one twice.
func TestList(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		for i := range 5 {
			w := r.begin(fmt.Sprint("r", i), runtime.Order{})
			if i%2 == 0 {
				r.add(w, runs.RunDone{}, runs.RunClosed{})
			}
		}
		for _, owner := range []string{"", "other"} {
			if _, err := r.exec.Start(t.Context(), runtime.Order{RunID: "of-" + owner, SessionID: "s", Owner: owner, Content: runs.Redacted}); err != nil {
				t.Fatal(err)
			}
		}
		f := func(path, want string) {
			t.Helper()
			if got := listOf(r, path); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		f("/v1/runs", "r4 r3 r2 r1 r0")
		f("/v1/runs?limit=2", "r4 r3 | r2 r1 | r0")
		f("/v1/runs?limit=9999", "r4 r3 r2 r1 r0")
		f("/v1/runs?active=true", "r3 r1")
		f("/v1/runs?session_id=other", "")
		f("/v1/runs?active=maybe", `400 active`)
		f("/v1/runs?limit=x", `400 limit`)
		f("/v1/runs?cursor=eHg", `400 cursor`)
		f("/v1/sessions/s/runs", "r3 r1 r4 r2 r0") // J31: the active run first
		f("/v1/sessions/s/runs?limit=1", "r3 r1 r4 | r2 | r0")
		r.who = httpapi.Client{}
		f("/v1/runs", "of-")
		r.who = httpapi.Client{All: true}
		f("/admin/v1/runs?limit=3", "r4 r3 r2 | r1 r0 of-other | of-")
	})
}
