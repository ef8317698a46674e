package fakehermes

import (
	"encoding/json"
	"maps"
	"time"
)

// run is one run. Server.mu guards it, but for its channels.
type run struct {
	s    *Server
	id   string
	key  string // idempotency key, "" = none
	body json.RawMessage

	status, lastEvent string
	created, updated  time.Time
	session           string
	more              map[string]any // further members of the record

	queue       *queue // nil: gone
	subscribers int
	approvals   []*ask
	clarifies   []*ask
	asks        int
	steered     []string
	taken       []json.RawMessage // messages and goals

	stopping bool
	stop     chan struct{} // closed by a stop
	killed   chan struct{} // closed when the process is gone: the agent leaves no trace
}

// ask is an approval or a question that the agent waits with.
type ask struct {
	id     string
	object map[string]any
	answer chan string // takes one
}

// ended are the statuses that a run does not leave.
var ended = map[string]bool{"completed": true, "failed": true, "cancelled": true, "interrupted": true}

func (r *run) over() bool { return ended[r.status] }

// set changes the record.
func (r *run) set(status, lastEvent string, more map[string]any) {
	r.status, r.updated = status, r.s.o.Now()
	if lastEvent != "" {
		r.lastEvent = lastEvent
	}
	if more != nil {
		if r.more == nil {
			r.more = map[string]any{}
		}
		maps.Copy(r.more, more)
	}
}

// record is the status record.
func (r *run) record() map[string]any {
	object := map[string]any{
		"object": "hermes.run", "run_id": r.id, "status": r.status, "created_at": epoch(r.created), "updated_at": epoch(r.updated),
		"session_id": r.session, "model": "hermes-agent", "last_event": r.lastEvent,
	}
	maps.Copy(object, r.more)
	if r.status == "waiting_for_approval" && len(r.approvals) > 0 && !r.s.o.Old {
		object["approval"] = r.approvals[0].object
	}
	if r.status == "waiting_for_clarify" && len(r.clarifies) > 0 {
		object["clarify"] = r.clarifies[0].object
	}
	if r.over() && len(r.steered) > 0 {
		object["pending_steer"] = r.steered
	}
	return object
}

// emit queues an event, which is lost when the queue is gone.
func (r *run) emit(event string, members map[string]any) {
	object := map[string]any{"event": event, "run_id": r.id, "timestamp": epoch(r.s.o.Now())}
	maps.Copy(object, members)
	line, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	r.push("data: " + string(line) + "\n\n")
}

func (r *run) push(frame string) {
	if r.queue != nil {
		r.queue.push(frame)
	}
}

// end makes the run's last record and event.
func (r *run) end(status, event string, record, members map[string]any) {
	r.set(status, event, record)
	r.emit(event, members)
	if r.queue != nil {
		r.queue.end()
	}
}

// kill has the agent vanish. It may be called twice.
func (r *run) kill() {
	select {
	case <-r.killed:
	default:
		close(r.killed)
	}
}

func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
