package runs

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Run is the run object: what its rows say of it.
type Run struct {
	RunID             string          `json:"run_id"`
	SessionID         string          `json:"session_id"`
	Status            Status          `json:"status"`
	LastEventID       string          `json:"last_event_id"`  // "" before the first row
	TerminalState     TerminalState   `json:"terminal_state"` // "" while it goes on
	Output            string          `json:"output"`
	Error             json.RawMessage `json:"error"` // the payload of the error that ended it, null without one
	Usage             json.RawMessage `json:"usage"` // null when unknown
	ActiveControls    []string        `json:"active_controls"`
	PendingApprovalID string          `json:"pending_approval_id"` // the oldest, "" without one
	PendingClarifyID  string          `json:"pending_clarify_id"`
	Runtime           string          `json:"runtime"`
	Model             string          `json:"model"`
	Role              string          `json:"role"`
	Title             string          `json:"title"`
	CreatedAt         float64         `json:"created_at"` // epoch seconds
	Metadata          json.RawMessage `json:"metadata"`

	Profile       string          `json:"-"`
	Input         json.RawMessage `json:"-"`
	Words         Dialect         `json:"-"` // what its observers are told in
	RequestHash   string          `json:"-"`
	WriterHash    string          `json:"-"`
	Content       Content         `json:"-"`
	UpstreamRunID string          `json:"-"` // "" until the runtime has taken the run
}

// Fold is a run's state, made of its rows alone. Apply takes them in order; a row that it has seen changes nothing, so that
// replays may overlap. The zero Fold has seen none. It belongs to one goroutine.
type Fold struct {
	run        Run
	last       int64
	text       strings.Builder
	approvals  []string // pending, oldest first
	clarifies  []string
	ended      bool
	finalUsage bool
}

// Apply adds a row.
func (f *Fold) Apply(e Event) {
	if e.Seq <= f.last {
		return
	}
	if f.last == 0 {
		f.run.RunID, f.run.SessionID, f.run.CreatedAt = e.RunID, e.SessionID, float64(e.CreatedAt.UnixMicro())/1e6
		f.run.Status = Queued
	}
	f.last, f.run.LastEventID = e.Seq, e.ID()
	p := gjson.ParseBytes(e.Payload)
	if e.Terminal {
		f.end(e, p)
		return
	}
	switch e.Type {
	case TypeTitleUpdated:
		f.run.Title = p.Get("title").Str
	case TypeUsageFinal, TypeUsageUpdated:
		if f.finalUsage = f.finalUsage || e.Type == TypeUsageFinal; !f.finalUsage || e.Type == TypeUsageFinal {
			f.run.Usage = raw(p.Get("usage"))
		}
	default:
		if !f.ended {
			f.goOn(e.Type, p)
		}
	}
}

// goOn applies a row of a run that has not ended.
func (f *Fold) goOn(t Type, p gjson.Result) {
	switch t {
	case TypeStarted:
		f.run.Runtime, f.run.Model, f.run.Role = p.Get("runtime").Str, p.Get("model").Str, p.Get("role").Str
		f.run.Metadata, f.run.Input, f.run.Profile = raw(p.Get("metadata")), raw(p.Get("input")), p.Get("profile").Str
		f.run.RequestHash, f.run.WriterHash = p.Get("request_hash").Str, p.Get("writer_hash").Str
		f.run.Content = Content(p.Get("content").Str)
		if p.Get("words").Str == WordsWebUI {
			f.run.Words = WebUI
		}
		f.run.Status = Running
		f.stand(p)
	case TypeStatus:
		f.stand(p)
	case TypeProgress:
		if p.Get("phase").Str == PhaseRoute {
			f.run.Model, f.run.Role, f.run.Profile = cmp.Or(f.run.Model, p.Get("model").Str), cmp.Or(f.run.Role, p.Get("role").Str), cmp.Or(p.Get("profile").Str, f.run.Profile)
		}
	case TypeTokenDelta:
		if !p.Get("recovery_control").Bool() { // said by the journal, not by the model
			f.text.WriteString(p.Get("delta").Str)
		}
	case TypeApprovalRequested:
		f.approvals = pend(f.approvals, p.Get("approval_id").Str)
		f.wait()
	case TypeApprovalResolved:
		f.approvals = settle(f.approvals, p.Get("approval_id").Str)
		f.wait()
	case TypeClarifyRequested:
		f.clarifies = pend(f.clarifies, p.Get("clarify_id").Str)
		f.wait()
	case TypeClarifyResolved:
		f.clarifies = settle(f.clarifies, p.Get("clarify_id").Str)
		f.wait()
	}
}

// stand takes over the status and the controls that a row announces, and the runtime's own name of the run. A run that is
// being cancelled goes on nowhere but to its end.
func (f *Fold) stand(p gjson.Result) {
	if id := p.Get("upstream_run_id").Str; id != "" {
		f.run.UpstreamRunID = id
	}
	if s := Status(p.Get("status").Str); live[s] && f.run.Status != Cancelling {
		f.run.Status = s
	}
	if c := p.Get("controls"); c.IsArray() {
		f.run.ActiveControls = nil
		for _, name := range c.Array() {
			f.run.ActiveControls = append(f.run.ActiveControls, name.String())
		}
	}
}

// wait derives the status from what is pending. A run that is being cancelled or paused stays so.
func (f *Fold) wait() {
	switch {
	case f.run.Status == Cancelling || f.run.Status == Paused:
	case len(f.approvals) > 0:
		f.run.Status = AwaitingApproval
	case len(f.clarifies) > 0:
		f.run.Status = AwaitingClarify
	default:
		f.run.Status = Running
	}
}

// end applies the terminal row.
func (f *Fold) end(e Event, p gjson.Result) {
	f.ended, f.approvals, f.clarifies, f.run.ActiveControls = true, nil, nil, nil
	f.run.TerminalState = e.EndState()
	f.run.Status = f.run.TerminalState.Status()
	if e.Type == TypeError {
		f.run.Error = slices.Clone(e.Payload)
	}
	if out := p.Get("output"); out.Str != "" && !p.Get("recovery_control").Bool() {
		f.text.Reset()
		f.text.WriteString(out.Str)
	}
	if usage := p.Get("usage"); usage.IsObject() && !f.finalUsage {
		f.run.Usage = raw(usage)
	}
}

// Run is the state after the rows so far. What it refers to is not changed by later ones.
func (f *Fold) Run() Run {
	r := f.run
	r.Output = f.text.String()
	r.ActiveControls = append([]string{}, r.ActiveControls...)
	if len(f.approvals) > 0 {
		r.PendingApprovalID = f.approvals[0]
	}
	if len(f.clarifies) > 0 {
		r.PendingClarifyID = f.clarifies[0]
	}
	return r
}

// Pending reports whether this approval or clarification waits for an answer now.
func (f *Fold) Pending(id string) bool {
	return slices.Contains(f.approvals, id) || slices.Contains(f.clarifies, id)
}

// Tombstone is the run object of a run whose rows are gone.
func Tombstone(h Head) Run {
	return Run{
		RunID: h.RunID, SessionID: h.SessionID, Status: Expired, TerminalState: h.End, LastEventID: h.LastEventID(),
		ActiveControls: []string{}, CreatedAt: float64(h.CreatedAt.UnixNano()) / float64(time.Second),
	}
}

func pend(ids []string, id string) []string {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

func settle(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}

func raw(r gjson.Result) json.RawMessage {
	if !r.Exists() {
		return nil
	}
	return json.RawMessage(r.Raw)
}
