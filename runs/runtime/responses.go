package runtime

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"hermes-hub/runs"
)

// ResponseID is what a client knows a background response by: resp_ and the digits of its run's id.
func ResponseID(runID string) string { return "resp_" + strings.TrimPrefix(runID, "run_") }

// ResponseRun is the id of the run behind a response of ours, ok false for every other id.
func ResponseRun(responseID string) (runID string, ok bool) {
	digits, found := strings.CutPrefix(responseID, "resp_")
	if !found || len(digits) != 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return "run_" + digits, true
}

// responsesBody is the call that an order of POST /v1/responses stands for: the same request, streamed, and neither in the
// background nor stored at the account's. previous_response_id and conversation mean what the account takes them for.
func responsesBody(o Order) ([]byte, error) {
	if !gjson.ValidBytes(o.Body) || !gjson.ParseBytes(o.Body).IsObject() {
		return nil, badOrder("the body must be a JSON object")
	}
	body := []byte(o.Body)
	for _, name := range []string{"background", "store"} {
		body, _ = sjson.DeleteBytes(body, name) // fails for empty names only
	}
	body, _ = sjson.SetBytes(body, "model", model(cmp.Or(o.Model, gjson.GetBytes(body, "model").Str)))
	body, _ = sjson.SetBytes(body, "stream", true)
	return body, nil
}

// responsesAnswer makes events of the events of a response. Each is kept in the row's `raw`, with the response's id being
// ours and its sequence number as it came: a client that resumes gets them as if it had never left.
type responsesAnswer struct {
	id    string
	route route
	last  int64 // sequence number, one more
	ended bool
	usage *runs.Usage
}

func (a *responsesAnswer) routed(r route) { a.route = r }

func (a *responsesAnswer) event(w *runs.Writer, data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	if !gjson.ValidBytes(data) || !gjson.ParseBytes(data).IsObject() {
		return false, interrupted()
	}
	raw := a.ours(data)
	v := gjson.ParseBytes(raw)
	a.note(v.Get("response"))
	kind := v.Get("type").Str
	if a.ended = kind == "error" || endings[kind]; a.ended {
		return true, a.close(w, kind, v)
	}
	row := runs.Raw{Family: runs.TypeStatus, Object: []byte(`{}`)}
	set := func(name, value string) { row.Object, _ = sjson.SetBytes(row.Object, name, value) } // fails for empty names only
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		row.Family = runs.TypeTokenDelta
		set("message_id", v.Get("item_id").Str)
		set("delta", v.Get("delta").Str)
		if kind == "response.refusal.delta" {
			set("content_type", "refusal")
		}
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		row.Family = runs.TypeReasoningDelta
		set("block_id", v.Get("item_id").Str)
		set("delta", v.Get("delta").Str)
	}
	row.Object, _ = sjson.SetRawBytes(row.Object, "raw", raw)
	_ = w.Append(row) // what is refused here is refused at the end, too
	return false, nil
}

// endings are the events that end a response, besides error.
var endings = map[string]bool{"response.completed": true, "response.incomplete": true, "response.failed": true, "response.cancelled": true}

// ours is an event with our response's id, as one of a response in the background, and with a sequence number that is higher
// than those before, should it have none.
func (a *responsesAnswer) ours(data []byte) []byte {
	raw := data
	if gjson.GetBytes(data, "response").IsObject() {
		raw, _ = sjson.SetBytes(raw, "response.id", a.id) // these fail for empty names only
		raw, _ = sjson.SetBytes(raw, "response.background", true)
		raw, _ = sjson.SetBytes(raw, "response.store", true)
	}
	if gjson.GetBytes(data, "response_id").Exists() {
		raw, _ = sjson.SetBytes(raw, "response_id", a.id)
	}
	n := gjson.GetBytes(data, "sequence_number")
	if n.Type != gjson.Number || n.Int() < a.last {
		raw, _ = sjson.SetBytes(raw, "sequence_number", a.last)
		n = gjson.GetBytes(raw, "sequence_number")
	}
	a.last = n.Int() + 1
	return raw
}

// note remembers what a response object tells of consumption.
func (a *responsesAnswer) note(response gjson.Result) {
	if u := response.Get("usage"); u.IsObject() {
		usage := usageOf(u)
		a.usage = &usage
	}
	a.route.model = cmp.Or(a.route.model, response.Get("model").Str)
}

// close tells the response's end.
func (a *responsesAnswer) close(w *runs.Writer, kind string, v gjson.Result) error {
	row := runs.Raw{Family: runs.TypeDone, Object: []byte(`{}`)}
	switch kind {
	case "response.cancelled":
		row.Family = runs.TypeCancelled
	case "response.failed", "error":
		row.Family = runs.TypeError
		e := v.Get("response.error")
		if kind == "error" {
			e = v
			if inner := v.Get("error"); inner.IsObject() {
				e = inner
			}
		}
		code, message := errorSaid([]byte(`{"error":` + cmp.Or(e.Raw, "null") + `}`))
		code = cmp.Or(code, "upstream_error")
		for _, m := range [][2]string{{"type", reason(0, code)}, {"code", code}, {"message", cmp.Or(message, "The response failed.")}} {
			row.Object, _ = sjson.SetBytes(row.Object, m[0], m[1])
		}
		row.Object, _ = sjson.SetBytes(row.Object, "terminal", true)
	}
	if u := v.Get("response.usage"); u.IsObject() && row.Family == runs.TypeDone {
		row.Object, _ = sjson.SetBytes(row.Object, "usage", a.usage)
	}
	row.Object, _ = sjson.SetRawBytes(row.Object, "raw", []byte(v.Raw))
	return w.Append(row)
}

// whole takes a response that did not stream.
func (a *responsesAnswer) whole(w *runs.Writer, body []byte) error {
	status := cmp.Or(gjson.GetBytes(body, "status").Str, "completed")
	event, _ := sjson.SetRawBytes([]byte(`{"type":"response.`+status+`"}`), "response", body) // fails for empty names only
	if !endings["response."+status] {
		return fails("upstream_error", "The answer is no response that has ended.")
	}
	_, err := a.event(w, event)
	return err
}

func (a *responsesAnswer) settle(w *runs.Writer, took time.Duration) {
	tellUsage(w, a.usage, a.route, took)
}

// end is called for a stream that ended without saying so, or after its own end.
func (a *responsesAnswer) end(*runs.Writer) error {
	if a.ended {
		return nil
	}
	return interrupted()
}
