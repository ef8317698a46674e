package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Payload is what an event says: one of this package's payload structs, or Raw.
type Payload interface{ Type() Type }

// Raw is an event whose payload comes from outside as a JSON object. It is kept member by member, known or not.
type Raw struct {
	Family Type
	Object json.RawMessage
}

// ErrBadPayload is a payload that is no JSON object, or of a family that nobody knows.
var ErrBadPayload = errors.New("an event's payload must be a JSON object of a known family")

// draft is an event before it has a place in a run. Its payload is compact, valid UTF-8 and one JSON object.
type draft struct {
	kind     Type
	payload  json.RawMessage
	terminal bool
	at       time.Time
	seq      int64 // its place, once it had one
}

// event is the draft as a store gets it.
func (d draft) event() Event {
	return Event{Type: d.kind, CreatedAt: d.at, Terminal: d.terminal, Payload: d.payload}
}

// draw makes a draft of a payload.
func draw(p Payload) (draft, error) {
	t := p.Type()
	if _, known := families[t]; !known {
		return draft{}, fmt.Errorf("%w: %q", ErrBadPayload, t)
	}
	var value any = p
	if raw, ok := p.(Raw); ok {
		value = raw.Object
	}
	// The encoder escapes what would break a line (CR, LF, U+2028), also inside raw members.
	body, err := json.Marshal(value)
	if err != nil {
		return draft{}, fmt.Errorf("%w: %s: %w", ErrBadPayload, t, err)
	}
	if len(body) == 0 || body[0] != '{' {
		return draft{}, fmt.Errorf("%w: %s is a %.20q", ErrBadPayload, t, body)
	}
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return draft{kind: t, payload: body, terminal: ends(t, body)}, nil
}

// Type is the family that the outside named.
func (r Raw) Type() Type { return r.Family }

// RunStarted is the first row: what was asked for, by whom, and what can be done with the run.
type RunStarted struct {
	Status      Status          `json:"status"`
	Controls    []string        `json:"controls"`
	Runtime     string          `json:"runtime,omitempty"`
	Model       string          `json:"model,omitempty"`
	Provider    string          `json:"provider,omitempty"`
	Role        string          `json:"role,omitempty"`
	Profile     string          `json:"profile,omitempty"`
	Workspace   string          `json:"workspace,omitempty"`
	Toolsets    []string        `json:"toolsets,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Source      string          `json:"source,omitempty"` // voice, web, …
	Input       json.RawMessage `json:"input,omitempty"`  // what the user said: a string, or messages of which the last is theirs
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Words       string          `json:"words,omitempty"`        // webui: its observers are told in those words
	Content     Content         `json:"content,omitempty"`      // how much of the run is kept, whoever goes on with it
	RequestHash string          `json:"request_hash,omitempty"` // of the order's body: an idempotency key stands for one request
	WriterHash  string          `json:"writer_hash,omitempty"`  // of the token that an outside runtime appends with
}

// StatusChanged says that a live run stands elsewhere now.
type StatusChanged struct {
	Status   Status   `json:"status"`
	Controls []string `json:"controls,omitzero"` // nil: as before
	Reason   string   `json:"reason,omitempty"`

	UpstreamRunID string          `json:"upstream_run_id,omitempty"` // the runtime's own name of the run
	Raw           json.RawMessage `json:"raw,omitempty"`             // the runtime's own event
}

// TokenDelta is more of the visible answer.
type TokenDelta struct {
	MessageID   string `json:"message_id,omitempty"`
	Delta       string `json:"delta"`
	ContentType string `json:"content_type,omitempty"`
}

// ReasoningDelta is more of the model's thoughts.
type ReasoningDelta struct {
	BlockID    string `json:"block_id,omitempty"`
	Delta      string `json:"delta"`
	Visibility string `json:"visibility,omitempty"`
}

// ReasoningDone is a block of thoughts, whole.
type ReasoningDone struct {
	BlockID    string `json:"block_id,omitempty"`
	Text       string `json:"text"`
	Visibility string `json:"visibility,omitempty"`
}

// Progress is one line on what is going on.
type Progress struct {
	Phase      string `json:"phase,omitempty"`
	Text       string `json:"text"`
	ToolCallID string `json:"tool_call_id,omitempty"`

	Model   string `json:"model,omitempty"` // with Phase PhaseRoute: who answers
	Role    string `json:"role,omitempty"`
	Profile string `json:"profile,omitempty"`
}

// PhaseRoute is a Progress that tells who answers.
const PhaseRoute = "route"

// ToolStarted opens a tool's card.
type ToolStarted struct {
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Name       string          `json:"name"`
	Preview    string          `json:"preview,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	StartedAt  float64         `json:"started_at,omitempty"` // epoch seconds
}

// ToolUpdated is what a running tool wrote.
type ToolUpdated struct {
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Stdout     string          `json:"stdout,omitempty"`
	Stderr     string          `json:"stderr,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// ToolDone closes a tool's card.
type ToolDone struct {
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Preview    string          `json:"preview,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Status     string          `json:"status,omitempty"`
	ExitCode   *int            `json:"exit_code,omitempty"`
	Duration   float64         `json:"duration"` // seconds
	IsError    bool            `json:"is_error"`
}

// ApprovalRequested asks whether the run may do something.
type ApprovalRequested struct {
	ApprovalID     string   `json:"approval_id"`
	Tool           string   `json:"tool,omitempty"`
	Command        string   `json:"command,omitempty"`
	Description    string   `json:"description,omitempty"`
	PatternKey     string   `json:"pattern_key,omitempty"`
	PatternKeys    []string `json:"pattern_keys,omitempty"`
	RiskLevel      string   `json:"risk_level,omitempty"`
	Choices        []string `json:"choices,omitempty"`
	AllowSession   bool     `json:"allow_session,omitempty"`
	AllowPermanent bool     `json:"allow_permanent,omitempty"`
}

// ApprovalResolved is the answer to one ApprovalRequested.
type ApprovalResolved struct {
	ApprovalID string `json:"approval_id"`
	Choice     string `json:"choice"`
	Status     string `json:"status,omitempty"`
}

// ClarifyRequested asks the user a question.
type ClarifyRequested struct {
	ClarifyID   string   `json:"clarify_id"`
	Question    string   `json:"question"`
	Choices     []string `json:"choices,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
}

// ClarifyResolved is the answer to one ClarifyRequested.
type ClarifyResolved struct {
	ClarifyID string `json:"clarify_id"`
	Response  string `json:"response,omitempty"`
	Status    string `json:"status,omitempty"`
}

// TitleUpdated names the session.
type TitleUpdated struct {
	Title  string `json:"title"`
	Source string `json:"source,omitempty"`
}

// Usage is what a run consumed, in tokens, of what is known.
type Usage struct {
	InputTokens     int64    `json:"input_tokens"`
	OutputTokens    int64    `json:"output_tokens"`
	TotalTokens     int64    `json:"total_tokens"`
	CacheReadTokens int64    `json:"cache_read_tokens,omitempty"`
	Cost            *float64 `json:"cost,omitempty"` // US dollars
	Model           string   `json:"model,omitempty"`
	Provider        string   `json:"provider,omitempty"`
	Profile         string   `json:"profile,omitempty"`  // the account
	Duration        float64  `json:"duration,omitempty"` // seconds
}

// UsageUpdated is the usage so far.
type UsageUpdated struct {
	Usage Usage `json:"usage"`
}

// UsageFinal is the usage of the whole run. It may come after the terminal row.
type UsageFinal struct {
	Usage Usage `json:"usage"`
}

// ErrorRaised is something that went wrong. Only one with Ends ends the run.
type ErrorRaised struct {
	Reason          string          `json:"type"` // cancelled, interrupted, tool_limit_reached, rate_limit, …
	Code            string          `json:"code,omitempty"`
	Message         string          `json:"message"` // safe to be shown
	Hint            string          `json:"hint,omitempty"`
	Details         json.RawMessage `json:"details,omitempty"`
	Ends            bool            `json:"terminal"`
	RecoveryControl bool            `json:"recovery_control,omitempty"` // said by the journal, not by the model
}

// RunDone ends a run well.
type RunDone struct {
	Output        string        `json:"output,omitempty"` // "": what the deltas added up to
	Usage         *Usage        `json:"usage,omitempty"`
	TerminalState TerminalState `json:"terminal_state,omitempty"`
}

// RunCancelled ends a run because somebody asked for it.
type RunCancelled struct {
	Message string `json:"message,omitempty"`
}

// RunClosed seals the log.
type RunClosed struct{}

// Truncated says that the run is over a cap of the journal.
type Truncated struct {
	Reason string `json:"reason"` // max_rows or max_bytes
}

// GapMarked says that rows are missing before this one.
type GapMarked struct {
	Reason  string `json:"reason"`            // overload or lost
	Dropped int64  `json:"dropped,omitempty"` // events that were left out, when that is known
}

func (RunStarted) Type() Type        { return TypeStarted }           // Type is TypeStarted.
func (StatusChanged) Type() Type     { return TypeStatus }            // Type is TypeStatus.
func (TokenDelta) Type() Type        { return TypeTokenDelta }        // Type is TypeTokenDelta.
func (ReasoningDelta) Type() Type    { return TypeReasoningDelta }    // Type is TypeReasoningDelta.
func (ReasoningDone) Type() Type     { return TypeReasoningDone }     // Type is TypeReasoningDone.
func (Progress) Type() Type          { return TypeProgress }          // Type is TypeProgress.
func (ToolStarted) Type() Type       { return TypeToolStarted }       // Type is TypeToolStarted.
func (ToolUpdated) Type() Type       { return TypeToolUpdated }       // Type is TypeToolUpdated.
func (ToolDone) Type() Type          { return TypeToolDone }          // Type is TypeToolDone.
func (ApprovalRequested) Type() Type { return TypeApprovalRequested } // Type is TypeApprovalRequested.
func (ApprovalResolved) Type() Type  { return TypeApprovalResolved }  // Type is TypeApprovalResolved.
func (ClarifyRequested) Type() Type  { return TypeClarifyRequested }  // Type is TypeClarifyRequested.
func (ClarifyResolved) Type() Type   { return TypeClarifyResolved }   // Type is TypeClarifyResolved.
func (TitleUpdated) Type() Type      { return TypeTitleUpdated }      // Type is TypeTitleUpdated.
func (UsageUpdated) Type() Type      { return TypeUsageUpdated }      // Type is TypeUsageUpdated.
func (UsageFinal) Type() Type        { return TypeUsageFinal }        // Type is TypeUsageFinal.
func (ErrorRaised) Type() Type       { return TypeError }             // Type is TypeError.
func (RunDone) Type() Type           { return TypeDone }              // Type is TypeDone.
func (RunCancelled) Type() Type      { return TypeCancelled }         // Type is TypeCancelled.
func (RunClosed) Type() Type         { return TypeClosed }            // Type is TypeClosed.
func (Truncated) Type() Type         { return TypeTruncated }         // Type is TypeTruncated.
func (GapMarked) Type() Type         { return TypeGap }               // Type is TypeGap.
