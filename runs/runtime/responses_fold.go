package runtime

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"hermes-hub/runs"
)

// ResponseEvent is the event of OpenAI's stream that a row of a background response was made of, with its sequence number.
// ok is false for rows that tell of no such event: those of the journal and of the hub itself.
func ResponseEvent(e runs.Event) (event json.RawMessage, seq int64, ok bool) {
	raw := gjson.GetBytes(e.Payload, "raw")
	n := raw.Get("sequence_number")
	if !raw.IsObject() || raw.Get("type").Str == "" || n.Type != gjson.Number {
		return nil, 0, false
	}
	return json.RawMessage(raw.Raw), n.Int(), true
}

// ResponseFold is a background response, made of its run's rows from the first on. It belongs to one goroutine; the zero
// value has seen none.
//
// The journal cuts what is over its caps. An end that was cut is put together again from the output's items, so that only an
// item over the cap of one event is cut; of a run over its own caps the deltas that were left out are missing, and with them
// their sequence numbers. Of a run with content metadata there are no events, and its output is not known.
type ResponseFold struct {
	run   runs.Fold
	base  json.RawMessage // the newest response object told
	cut   bool            // and it was cut
	items []item
	next  int64 // sequence number
	seen  int64
}

// item is one item of the output.
type item struct {
	id    string
	index int64
	done  json.RawMessage // nil while it goes on
	text  []byte          // of its deltas
}

// Apply adds a row and returns the event to send for it, if there is one. An end that the hub itself put to the run, because
// the call failed or the hub was stopped, is told as response.failed. A cancelled run has no last event: its stream ends.
func (f *ResponseFold) Apply(e runs.Event) (event json.RawMessage, seq int64, ok bool) {
	if e.Seq <= f.seen {
		return nil, 0, false
	}
	f.seen = e.Seq
	f.run.Apply(e)
	event, seq, ok = ResponseEvent(e)
	if ok {
		f.note(e, gjson.ParseBytes(event))
		f.next = max(f.next, seq+1)
		if e.Terminal && f.cut {
			event, _ = sjson.SetRawBytes(event, "response", f.Object()) // fails for empty names only
		}
		return event, seq, true
	}
	if e.Terminal && e.Type != runs.TypeCancelled {
		f.cut = true // of what the account said of the end nothing is left, if it said anything
		kind := "response.failed"
		if e.Type == runs.TypeDone {
			kind = "response.completed"
		}
		event, _ = sjson.SetBytes([]byte(`{"type":"`+kind+`"}`), "sequence_number", f.next) // as above
		event, _ = sjson.SetRawBytes(event, "response", f.Object())
		f.next++
		return event, f.next - 1, true
	}
	return nil, 0, false
}

// note remembers what an event tells.
func (f *ResponseFold) note(e runs.Event, v gjson.Result) {
	if r := v.Get("response"); r.IsObject() {
		f.base, f.cut = json.RawMessage(r.Raw), gjson.GetBytes(e.Payload, "truncated").Bool()
	}
	switch v.Get("type").Str {
	case "response.output_item.added":
		f.item(v.Get("item.id").Str, v.Get("output_index").Int())
	case "response.output_item.done":
		f.item(v.Get("item.id").Str, v.Get("output_index").Int()).done = json.RawMessage(v.Get("item").Raw)
	case "response.output_text.delta":
		one := f.item(v.Get("item_id").Str, v.Get("output_index").Int())
		one.text = append(one.text, v.Get("delta").Str...)
	}
}

// item is the item of that place, there from now on.
func (f *ResponseFold) item(id string, index int64) *item {
	at := slices.IndexFunc(f.items, func(i item) bool { return i.index == index })
	if at < 0 {
		f.items = append(f.items, item{id: id, index: index})
		at = len(f.items) - 1
	}
	return &f.items[at]
}

// Object is the response object, as GET /v1/responses/{id} answers it.
func (f *ResponseFold) Object() json.RawMessage {
	run := f.run.Run()
	object := []byte(f.base)
	if object == nil {
		object = []byte(`{"object":"response","error":null,"incomplete_details":null,"output":[],"usage":null}`)
	}
	set := func(name string, value any) { object, _ = sjson.SetBytes(object, name, value) } // fails for empty names only
	set("id", ResponseID(run.RunID))
	set("object", "response")
	set("background", true)
	set("store", true)
	if !gjson.GetBytes(object, "created_at").Exists() {
		set("created_at", int64(run.CreatedAt))
	}
	if gjson.GetBytes(object, "model").Str == "" {
		set("model", run.Model)
	}
	if u := gjson.ParseBytes(run.Usage); u.IsObject() && !gjson.GetBytes(object, "usage").IsObject() {
		for _, name := range []string{"input_tokens", "output_tokens", "total_tokens"} {
			set("usage."+name, u.Get(name).Int())
		}
	}
	whole := gjson.GetBytes(object, "status").Str
	switch run.Status {
	case runs.Queued:
		set("status", "queued")
	case runs.Canceled:
		set("status", "cancelled")
	case runs.Failed:
		set("status", "failed")
		if !gjson.GetBytes(object, "error").IsObject() {
			set("error", map[string]string{
				"code": cmp.Or(gjson.GetBytes(run.Error, "code").Str, "server_error"), "message": gjson.GetBytes(run.Error, "message").Str,
			})
		}
	case runs.Completed:
		if whole != "incomplete" {
			set("status", "completed")
		}
	default:
		set("status", "in_progress")
	}
	if run.Status != runs.Completed || f.cut {
		object, _ = sjson.SetRawBytes(object, "output", f.output())
	}
	return object
}

// output are the items that are known: those that are done, and what there is of the others' text.
func (f *ResponseFold) output() []byte {
	items := slices.SortedFunc(slices.Values(f.items), func(a, b item) int { return cmp.Compare(a.index, b.index) })
	output := []byte(`[]`)
	for _, i := range items {
		one := []byte(i.done)
		if one == nil && len(i.text) > 0 {
			one = []byte(`{"type":"message","role":"assistant","status":"incomplete","content":[{"type":"output_text","annotations":[]}]}`)
			one, _ = sjson.SetBytes(one, "id", i.id) // these fail for empty names only
			one, _ = sjson.SetBytes(one, "content.0.text", string(i.text))
		}
		if one != nil {
			output, _ = sjson.SetRawBytes(output, "-1", one)
		}
	}
	return output
}
