package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// said is an account's event as the completion runtime keeps it.
func said(seq int, kind, more string) runs.Payload {
	family, extra := runs.TypeStatus, ""
	switch {
	case strings.HasSuffix(kind, "text.delta"):
		family, extra = runs.TypeTokenDelta, `"delta":`+gjson.Get("{"+strings.TrimPrefix(more, ",")+"}", "delta").Raw+","
	case kind == "response.completed":
		family = runs.TypeDone
	}
	return runs.Raw{Family: family, Object: json.RawMessage(fmt.Sprintf(`{%s"raw":{"type":%q,"sequence_number":%d%s}}`, extra, kind, seq, more))}
}

const (
	responseAsked = `{"model":"m","input":"hi","background":true,"stream":false}`
	objectBegun   = `,"response":{"id":"ours","object":"response","created_at":5,"status":"in_progress","model":"m","output":[]}`
	objectDone    = `,"response":{"id":"ours","object":"response","created_at":5,"status":"completed","model":"m","output":[{"id":"i"}]}`
)

// responding asks for a background response and returns its id and its run's writer.
func (r *rig) responding(body string) (id string, w *runs.Writer) {
	r.t.Helper()
	a := r.background(body)
	answer, err := io.ReadAll(a.Body)
	id = gjson.GetBytes(answer, "id").Str
	run, ok := runtime.ResponseRun(id)
	if err != nil || a.StatusCode != http.StatusOK || !ok || a.Header.Get("X-Hub-Run-Id") != run {
		r.t.Fatalf("%s %s %v", a.Status, answer, err)
	}
	return id, r.exec.writers[run]
}

// background is POST /v1/responses, whose body the plane has read.
func (r *rig) background(body string) *http.Response {
	return r.open("POST /v1/responses\nBackground: true\n\n" + body)
}

// A response that is made in the background is there for whoever asks, as an object and as a stream from any sequence number
// on, in OpenAI's shapes and with its numbers.
func TestResponses(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		id, w := r.responding(responseAsked)
		live := r.open("GET /v1/responses/" + id + "?stream=true")
		r.add(w, said(0, "response.created", objectBegun), said(1, "response.output_text.delta", `,"item_id":"i","output_index":0,"delta":"a"`))
		if got := r.ask("GET /v1/responses/" + id); gjson.Get(got[4:], "status").Str != "in_progress" || gjson.Get(got[4:], "output.0.content.0.text").Str != "a" {
			t.Error(got)
		}
		r.wg.Go(func() {
			time.Sleep(5 * time.Second)
			_ = w.Append(said(2, "response.completed", objectDone))
			_ = w.Append(runs.RunClosed{})
		})
		body, err := io.ReadAll(live.Body)
		created := "event: response.created\ndata: " + `{"type":"response.created","sequence_number":0` + objectBegun + "}\n\n"
		delta := "event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":1,"item_id":"i","output_index":0,"delta":"a"}` + "\n\n"
		completed := "event: response.completed\ndata: " + `{"type":"response.completed","sequence_number":2` + objectDone + "}\n\n"
		if want := created + delta + ": heartbeat\n" + completed; err != nil || string(body) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, body, want)
		}
		f := func(after, want string) {
			t.Helper()
			if got := r.ask("GET /v1/responses/" + id + "?stream=true&starting_after=" + after); got != "200 "+strings.TrimSpace(want) && got+" " != "200 "+want {
				t.Errorf("after %s:\n%s\nwant\n%s", after, got, want)
			}
		}
		f("0", delta+completed)
		f("1", completed)
		f("2", "")
		f("999999", "")
		for _, odd := range []string{"x", "-1", "1e9", "99999999999999999999"} {
			if got := r.ask("GET /v1/responses/" + id + "?stream=true&starting_after=" + odd); !strings.HasPrefix(got, "400 ") {
				t.Error(odd, got)
			}
		}
		if got := r.ask("GET /v1/responses/" + id); gjson.Get(got[4:], "status").Str != "completed" || gjson.Get(got[4:], "output.0.id").Str != "i" || gjson.Get(got[4:], "id").Str != id {
			t.Error(got)
		}
		if got := r.ask("POST /v1/responses/" + id + "/cancel"); gjson.Get(got[4:], "status").Str != "completed" {
			t.Error(got)
		}
	})
}

// A response is cancelled and removed under its own name, and whose it is not does not see it.
func TestResponsesEnd(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		id, w := r.responding(responseAsked)
		other, _ := r.responding(responseAsked)
		r.add(w, said(0, "response.created", objectBegun), said(1, "response.output_text.delta", `,"item_id":"i","output_index":0,"delta":"a"`))
		live := r.open("GET /v1/responses/" + id + "?stream=true&starting_after=0")
		r.who.Owner = "somebody"
		f := func(request, want string) {
			t.Helper()
			if got := short(r.ask(request)); got != want {
				t.Errorf("%s: %s, want %s", request, got, want)
			}
		}
		unknown := func(id string) string {
			return fmt.Sprintf(`404 "Response with id '%.64s' not found.","param":null,"code":"response_not_found"`, id)
		}
		for _, request := range []string{"GET /v1/responses/" + id, "DELETE /v1/responses/" + id, "POST /v1/responses/" + id + "/cancel", "GET /v1/responses/" + id + "?stream=true"} {
			f(request, unknown(id))
		}
		r.who.Owner = "me"
		for _, odd := range []string{"resp_1", "resp_" + strings.Repeat("0", 32), "run_x", strings.Repeat("x", 300)} {
			f("GET /v1/responses/"+odd, unknown(odd))
		}
		r.begin("run_"+strings.Repeat("a", 32), runtime.Order{})
		f("GET /v1/responses/resp_"+strings.Repeat("a", 32), unknown("resp_"+strings.Repeat("a", 32))) // a run, and no response
		f("PUT /v1/responses/"+id, `405 "PUT is not allowed here","param":null,"code":"method_not_allowed"`)

		got := r.ask("POST /v1/responses/" + id + "/cancel")
		if gjson.Get(got[4:], "status").Str != "cancelled" || gjson.Get(got[4:], "output.0.content.0.text").Str != "a" {
			t.Error(got)
		}
		if body, err := io.ReadAll(live.Body); err != nil || strings.Count(string(body), "event: ") != 1 {
			t.Errorf("%s %v", body, err)
		}
		f("DELETE /v1/responses/"+id, `200 {"id":"`+id+`","object":"response","deleted":true}`)
		f("GET /v1/responses/"+id, unknown(id))
		f("DELETE /v1/responses/"+other, `200 {"id":"`+other+`","object":"response","deleted":true}`) // while it is being made
		f("GET /v1/responses/"+other, unknown(other))
	})
}

// What a response in the background is asked with.
func TestResponsesAsked(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		first := r.open("POST /v1/responses\nBackground: true\nIdempotency-Key: k\nX-Hermes-Session-Id: s\n\n" + responseAsked)
		again := r.open("POST /v1/responses\nBackground: true\nIdempotency-Key: k\n\n" + responseAsked)
		if first.Header.Get("X-Hub-Run-Id") != again.Header.Get("X-Hub-Run-Id") || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Error(first.Header, again.Header)
		}
		o := r.exec.orders[0]
		if o.Surface != runtime.ResponsesAPI || string(o.Body) != responseAsked || o.Owner != "me" || o.Model != "m" || o.Key != "k" {
			t.Errorf("%+v", o)
		}
		if got := short(r.ask("POST /v1/responses\nBackground: true\n\n" + `{"background":true,"store":false}`)); got != `400 "store cannot be false with background: true: nobody could fetch the response later","param":"store","code":"invalid_request_error"` {
			t.Error(got)
		}
		stream := r.background(`{"model":"m","input":"hi","background":true,"stream":true}`)
		w := r.exec.writers[stream.Header.Get("X-Hub-Run-Id")]
		r.add(w, said(0, "response.created", objectBegun), runs.ErrorRaised{Reason: "upstream_interrupted", Message: "broken off", Ends: true})
		body, err := io.ReadAll(stream.Body)
		if err != nil || !strings.HasPrefix(string(body), "event: response.created\n") || !strings.Contains(string(body), "event: response.failed\n") || strings.Contains(string(body), "[DONE]") {
			t.Errorf("%s %v", body, err)
		}
		r.exec.refuse = &runtime.Refused{Status: 503, Code: "upstream_unavailable", Message: "no account is usable", RetryAfter: 7 * time.Second}
		refused := r.background(responseAsked)
		if refused.StatusCode != 503 || refused.Header.Get("Retry-After") != "7" {
			t.Error(refused.Status, refused.Header)
		}
		r.who = httpapi.Client{ReadOnly: true}
		if got := r.background(responseAsked); got.StatusCode != 403 {
			t.Error(got.Status)
		}
	})
}
