package runtime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"hermes-hub/runs"
)

// hermesTale turns what a server tells of one run into rows. Each row's payload has all members of the server's own object,
// and the family's beside them. It belongs to Follow, but for the questions.
type hermesTale struct {
	text      hermesText
	missed    bool // events may have been
	tools     hermesTools
	approvals *hermesAsked
	clarifies *hermesAsked
	stopped   func() bool // the server has taken a stop: whatever way the run fails then, it was cancelled
}

// read makes rows of one event. The last one is the run's end if ended.
func (t *hermesTale) read(f sseFrame, now time.Time) (rows []runs.Payload, ended bool) {
	data := bytes.ToValidUTF8(f.data, []byte("\uFFFD"))
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return nil, false
	}
	object := gjson.ParseBytes(data)
	switch {
	case f.tooLong:
		return []runs.Payload{runs.Progress{Phase: "unreadable_event", Text: "The runtime sent an event that is too long to be kept."}}, false
	case !json.Valid(data) || !object.IsObject():
		return []runs.Payload{runs.Progress{Phase: "unreadable_event", Text: "The runtime sent an event that is no JSON object."}}, false
	}
	name := cmp.Or(object.Get("event").Str, object.Get("type").Str, f.name)
	if name == "" || object.Get("choices").IsArray() && object.Get("event").Str == "" {
		return t.chunk(data, object), false
	}
	return t.event(name, data, now)
}

// event makes rows of an event of Hermes.
func (t *hermesTale) event(name string, data []byte, now time.Time) (rows []runs.Payload, ended bool) {
	if name == "run.interrupted" {
		return []runs.Payload{hermesInterrupted(data)}, true
	}
	raw, err := runs.Hermes.Read(name, data)
	if errors.Is(err, runs.ErrUnknownWord) {
		raw = runs.Raw{Family: runs.TypeProgress, Object: data}
	}
	if raw.Family != runs.TypeApprovalRequested && raw.Family != runs.TypeApprovalResolved {
		t.approvals.doubt()
	}
	switch raw.Family {
	case runs.TypeTokenDelta:
		t.text.add(gjson.GetBytes(raw.Object, "delta").Str)
	case runs.TypeProgress:
		raw.Object = labelled(name, raw.Object)
	case runs.TypeToolStarted:
		raw.Object = t.tools.started(raw.Object, now)
	case runs.TypeToolDone:
		raw.Object = t.tools.done(raw.Object)
	case runs.TypeApprovalRequested:
		return t.asks(t.approvals, raw, now), false
	case runs.TypeClarifyRequested:
		return t.asks(t.clarifies, raw, now), false
	case runs.TypeApprovalResolved:
		return resolves(t.approvals, raw), false
	case runs.TypeClarifyResolved:
		return resolves(t.clarifies, raw), false
	case runs.TypeDone, runs.TypeError, runs.TypeCancelled:
		return t.end(raw), true
	}
	return []runs.Payload{raw}, false
}

// labelled gives a progress row the members that it is shown by, unless the event has them.
func labelled(name string, object []byte) []byte {
	if !gjson.GetBytes(object, "phase").Exists() {
		object = with(object, "phase", name)
	}
	if gjson.GetBytes(object, "text").Type != gjson.String {
		text := name
		for _, member := range []string{"preview", "goal", "summary", "message"} {
			if s := gjson.GetBytes(object, member).Str; s != "" {
				text = s
				break
			}
		}
		object = with(object, "text", text)
	}
	return object
}

// with is the object with one more member.
func with(object []byte, name string, value any) []byte {
	object, _ = sjson.SetBytes(object, name, value) // fails for empty names, and for values that are no JSON
	return object
}

// asks makes the row of a question, none when it is known.
func (t *hermesTale) asks(book *hermesAsked, raw runs.Raw, now time.Time) []runs.Payload {
	member := questionID(raw.Family)
	id := cmp.Or(gjson.GetBytes(raw.Object, member).Str, gjson.GetBytes(raw.Object, "id").Str)
	q := hermesQuestion{id: id, named: id != "", at: gjson.GetBytes(raw.Object, "timestamp").Num}
	if q.at <= 0 {
		q.at = float64(now.UnixMicro()) / 1e6
	}
	if !q.named {
		q.id = book.madeID(q.at)
	}
	if !book.ask(q) {
		return nil
	}
	raw.Object = with(raw.Object, member, q.id)
	return []runs.Payload{raw}
}

// questionID is the member that names a question in rows of the family.
func questionID(t runs.Type) string {
	if t == runs.TypeClarifyRequested || t == runs.TypeClarifyResolved {
		return "clarify_id"
	}
	return "approval_id"
}

// resolves makes the row of an answer that the server says it has taken. One that names no question was for the oldest.
func resolves(book *hermesAsked, raw runs.Raw) (rows []runs.Payload) {
	member := questionID(raw.Family)
	if id := gjson.GetBytes(raw.Object, member).Str; id != "" {
		if book.settle(id) {
			rows = append(rows, raw)
		}
		return rows
	}
	for _, id := range book.settleOldest(int(gjson.GetBytes(raw.Object, "resolved").Int())) {
		rows = append(rows, runs.Raw{Family: raw.Family, Object: with(raw.Object, member, id)})
	}
	return rows
}

// chunk makes rows of an event in OpenAI's words, which other gateways send here.
func (t *hermesTale) chunk(data []byte, object gjson.Result) (rows []runs.Payload) {
	choice := object.Get("choices.0")
	add := func(family runs.Type, text string) {
		if text != "" {
			rows = append(rows, runs.Raw{Family: family, Object: with(data, "delta", text)})
		}
	}
	add(runs.TypeReasoningDelta, cmp.Or(choice.Get("delta.reasoning_content").Str, choice.Get("delta.reasoning").Str))
	content := choice.Get("delta.content").Str
	if whole := choice.Get("message.content").Str; content == "" && whole != "" {
		content = t.text.rest(whole)
	}
	t.text.add(content)
	add(runs.TypeTokenDelta, content)
	if u := object.Get("usage"); u.IsObject() {
		rows = append(rows, runs.UsageUpdated{Usage: hermesUsage(u)})
	}
	if e := object.Get("error"); e.IsObject() || e.Str != "" { // the run's status says whether that was its end
		_, message := errorSaid(data)
		rows = append(rows, runs.ErrorRaised{Reason: "error", Code: "runtime_error", Message: message, Details: json.RawMessage(e.Raw)})
	}
	return rows
}

// hermesUsage reads token counts in either vocabulary.
func hermesUsage(u gjson.Result) runs.Usage {
	in := cmp.Or(u.Get("input_tokens").Int(), u.Get("prompt_tokens").Int())
	out := cmp.Or(u.Get("output_tokens").Int(), u.Get("completion_tokens").Int())
	return runs.Usage{InputTokens: in, OutputTokens: out, TotalTokens: cmp.Or(u.Get("total_tokens").Int(), in+out)}
}
