package runtime

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// check asks how the run stands, and appends what no event will tell of it.
func (f *hermesFollow) check(ctx context.Context) error {
	within := hermesCallIn
	if f.stream != nil {
		within = hermesGlanceIn
	}
	record, err := f.x.h.status(ctx, within, f.x.id)
	if ctx.Err() != nil {
		return nil
	}
	defer func() { f.timer.Reset(f.every()) }()
	switch {
	case f.stream != nil && (err != nil || !record.known): // the stream is what counts
		return nil
	case err != nil:
		return f.unreachable(err)
	case !record.known:
		return f.forgotten()
	}
	f.unknown = time.Time{}
	if err := f.reachable(); err != nil {
		return err
	}
	if record.ended() {
		return f.conclude(record)
	}
	if err := f.live(record); err != nil {
		return err
	}
	if f.stream == nil && f.attaches > 0 {
		f.attach(ctx)
	}
	return nil
}

// conclude ends the run by its record. A stream that is attached is given the time to the next look to tell it itself.
func (f *hermesFollow) conclude(r hermesRecord) error {
	if f.stream != nil && !f.ended {
		f.ended, f.later = true, true
		return nil
	}
	return f.append(f.tale.recovered(r), true)
}

// live tells what a record of a run that goes on says: what it waits for, and that it is being stopped. While a stream is
// attached, that is believed when the record has not changed since it was asked for last: events are on their way.
func (f *hermesFollow) live(r hermesRecord) error {
	said := r.status
	if said != "running" {
		said += hermesMade(r.updatedAt())
	}
	was := f.said
	if f.said = said; f.stream != nil && was != said {
		return nil
	}
	rows := []runs.Payload(nil)
	switch r.status {
	case "waiting_for_approval":
		rows = f.tale.waits(f.x.approvals, "approval.request", "approval", r, f.x.h.now())
	case "waiting_for_clarify":
		rows = f.tale.waits(f.x.clarifies, "clarify.request", "clarify", r, f.x.h.now())
	case "stopping":
		if !f.x.stopped.Swap(true) {
			rows = append(rows, runs.StatusChanged{Status: runs.Cancelling, Controls: []string{}, Reason: "stopped_at_runtime"})
		}
	case "running":
		rows = f.tale.waitsNoMore()
	}
	return f.append(rows, false)
}

// unreachable says once that the server cannot be asked. The run may well go on.
func (f *hermesFollow) unreachable(err error) error {
	if f.away {
		return nil
	}
	f.away = true
	f.x.h.o.Logger.Warn("a runtime cannot be asked for a run", "runtime", f.x.h.o.Name, "upstream_run", f.x.id, "error", err)
	text := "The runtime cannot be reached. The hub goes on asking."
	if r, ok := errors.AsType[*Refused](err); ok && r.Status != http.StatusServiceUnavailable {
		text = r.Message + " The hub goes on asking."
	}
	return f.append([]runs.Payload{runs.Progress{Phase: "runtime_unreachable", Text: text}}, false)
}

func (f *hermesFollow) reachable() error {
	if !f.away {
		return nil
	}
	f.away = false
	return f.append([]runs.Payload{runs.Progress{Phase: "runtime_reachable", Text: "The runtime answers again."}}, false)
}

// forgotten ends a run that the server has not known for long enough. One that restarts says so at first of every run.
func (f *hermesFollow) forgotten() error {
	now := f.x.h.now()
	if f.unknown.IsZero() {
		f.unknown = now
	}
	if now.Sub(f.unknown) < f.x.h.o.ForgetAfter {
		return f.reachable()
	}
	if f.x.stopped.Load() {
		return f.append([]runs.Payload{runs.RunCancelled{Message: "The run was stopped. The runtime does not know it any more."}}, true)
	}
	return f.append([]runs.Payload{runs.ErrorRaised{
		Reason: "interrupted", Code: "runtime_forgot_run", Message: "The runtime does not know the run any more. It was probably restarted.", Ends: true,
	}}, true)
}

// waits makes the row of what a record says that the run waits for, if no event told of it.
func (t *hermesTale) waits(book *hermesAsked, event, member string, r hermesRecord, now time.Time) []runs.Payload {
	asked := gjson.GetBytes(r.object, member)
	if !asked.IsObject() {
		return t.blind(book, r)
	}
	raw, err := runs.Hermes.Read(event, []byte(asked.Raw))
	if err != nil {
		return nil
	}
	named := gjson.GetBytes(raw.Object, questionID(raw.Family)).Str != "" || asked.Get("id").Str != ""
	if !named && book.waiting() {
		return nil
	}
	if !asked.Get("timestamp").Exists() {
		raw.Object = with(raw.Object, "timestamp", r.updatedAt())
	}
	raw.Object = with(raw.Object, "recovered", true)
	return t.asks(book, raw, now)
}

// blind makes the row of an approval of which nobody knows what it is for. It can only be denied.
func (t *hermesTale) blind(book *hermesAsked, r hermesRecord) []runs.Payload {
	q := hermesFormer(hermesMade(r.updatedAt()))
	q.blind = true
	if book != t.approvals || book.waiting() || book.seen(q.at) || !book.ask(*q) {
		return nil
	}
	return []runs.Payload{runs.ApprovalRequested{
		ApprovalID: q.id, Choices: []string{"deny"},
		Description: "The runtime waits for an approval. What it is for was lost with its event stream, so that it can only be denied.",
	}}
}

// waitsNoMore makes the rows of questions that were settled unseen.
func (t *hermesTale) waitsNoMore() (rows []runs.Payload) {
	for _, id := range t.approvals.abandon() {
		rows = append(rows, runs.ApprovalResolved{ApprovalID: id, Status: "settled_at_runtime"})
	}
	for _, id := range t.clarifies.abandon() {
		rows = append(rows, runs.ClarifyResolved{ClarifyID: id, Status: "settled_at_runtime"})
	}
	return rows
}

// answersSent makes the rows of answers that were sent and that the server has not acknowledged before the run's end.
func (t *hermesTale) answersSent() (rows []runs.Payload) {
	for _, q := range t.approvals.sent() {
		rows = append(rows, runs.ApprovalResolved{ApprovalID: q.id, Choice: q.answer, Status: "sent"})
	}
	for _, q := range t.clarifies.sent() {
		rows = append(rows, runs.ClarifyResolved{ClarifyID: q.id, Response: q.answer, Status: "sent"})
	}
	return rows
}
