package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// Type is the family of an event.
type Type string

// The families of the run adapter contract, then the journal's own rows.
const (
	TypeStarted           Type = "run.started"
	TypeStatus            Type = "status"
	TypeTokenDelta        Type = "token.delta"
	TypeReasoningDelta    Type = "reasoning.delta"
	TypeReasoningDone     Type = "reasoning.done"
	TypeProgress          Type = "progress"
	TypeToolStarted       Type = "tool.started"
	TypeToolUpdated       Type = "tool.updated"
	TypeToolDone          Type = "tool.done"
	TypeApprovalRequested Type = "approval.requested"
	TypeApprovalResolved  Type = "approval.resolved"
	TypeClarifyRequested  Type = "clarify.requested"
	TypeClarifyResolved   Type = "clarify.resolved"
	TypeTitleUpdated      Type = "title.updated"
	TypeUsageUpdated      Type = "usage.updated"
	TypeUsageFinal        Type = "usage.final"
	TypeError             Type = "error"
	TypeDone              Type = "done"
	TypeCancelled         Type = "cancelled"

	TypeClosed    Type = "run.closed"        // seals the log
	TypeTruncated Type = "journal.truncated" // the run is over its cap: from here on only its lifecycle is kept
	TypeGap       Type = "journal.gap"       // rows were lost or left out here
)

// Kind says where in a run a row may stand.
type Kind string

// The kinds of a row.
const (
	Normal       Kind = "normal"        // before the terminal row
	Terminal     Kind = "terminal"      // once
	PostTerminal Kind = "post-terminal" // before the terminal row or after it
	Closing      Kind = "close"         // once, after the terminal row; nothing follows
)

// Event is one stored row.
type Event struct {
	RunID     string
	SessionID string // "" when the run belongs to no session
	Seq       int64  // from 1; the next row's is one more, or follows a jump with a new Epoch
	Epoch     int64  // 0, and one more after each proven loss of rows
	Type      Type
	CreatedAt time.Time // UTC, in microseconds
	Terminal  bool
	Payload   json.RawMessage // a JSON object without line breaks
}

// ID is the row's cursor: `<run id>:<seq>`.
func (e Event) ID() string { return eventID(e.RunID, e.Seq) }

func eventID(run string, seq int64) string { return run + ":" + strconv.FormatInt(seq, 10) }

// Kind is the row's kind.
func (e Event) Kind() Kind {
	switch {
	case e.Terminal:
		return Terminal
	case e.Type == TypeClosed:
		return Closing
	case e.Type == TypeTitleUpdated, e.Type == TypeUsageFinal:
		return PostTerminal
	default:
		return Normal
	}
}

// ends reports whether a row of this type and payload is the run's end. An error says so itself: most errors of a tool or
// of one attempt end nothing.
func ends(t Type, payload []byte) bool {
	return t == TypeDone || t == TypeCancelled || t == TypeError && gjson.GetBytes(payload, "terminal").Bool()
}

// EndState is how a terminal row ends its run, "" for other rows. An error tells by its payload's type.
func (e Event) EndState() TerminalState {
	switch {
	case !e.Terminal:
		return ""
	case e.Type == TypeDone && gjson.GetBytes(e.Payload, "terminal_state").Str == string(EndToolLimit):
		return EndToolLimit
	case e.Type == TypeDone:
		return EndCompleted
	case e.Type == TypeCancelled:
		return EndInterruptedByUser
	}
	switch gjson.GetBytes(e.Payload, "type").Str {
	case "cancelled", "canceled":
		return EndInterruptedByUser
	case "interrupted":
		return EndInterruptedByCrash
	case string(EndToolLimit):
		return EndToolLimit
	default:
		return EndErrored
	}
}

// envelope is the wire form of an Event.
type envelope struct {
	EventID   string          `json:"event_id"`
	Seq       int64           `json:"seq"`
	Epoch     int64           `json:"epoch"`
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Type      Type            `json:"type"`
	CreatedAt json.Number     `json:"created_at"` // epoch seconds with fraction
	Terminal  bool            `json:"terminal"`
	Payload   json.RawMessage `json:"payload"`
}

// MarshalJSON writes the contract's envelope.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.plain() {
		return e.appendPlain(make([]byte, 0, 256+len(e.Payload))), nil
	}
	payload := e.Payload
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	return json.Marshal(envelope{e.ID(), e.Seq, e.Epoch, e.RunID, e.SessionID, e.Type, seconds(e.CreatedAt), e.Terminal, payload})
}

// plain reports whether the row can be written as it is: its names need no escaping, and its payload is JSON in one line.
// That is so of nearly every row, and rows are written once for each of their observers.
func (e Event) plain() bool {
	return ValidID(e.RunID) && plainText(e.SessionID) && plainText(string(e.Type)) &&
		gjson.ValidBytes(e.Payload) && bytes.IndexByte(e.Payload, '\n') < 0 && bytes.IndexByte(e.Payload, '\r') < 0
}

func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// appendPlain writes the envelope of a plain row, byte for byte as the encoder does.
func (e Event) appendPlain(b []byte) []byte {
	b = append(append(b, `{"event_id":"`...), e.RunID...)
	b = strconv.AppendInt(append(b, ':'), e.Seq, 10)
	b = strconv.AppendInt(append(b, `","seq":`...), e.Seq, 10)
	b = strconv.AppendInt(append(b, `,"epoch":`...), e.Epoch, 10)
	b = append(append(b, `,"run_id":"`...), e.RunID...)
	b = append(append(b, `","session_id":"`...), e.SessionID...)
	b = append(append(b, `","type":"`...), e.Type...)
	b = strconv.AppendFloat(append(b, `","created_at":`...), float64(e.CreatedAt.UnixMicro())/1e6, 'f', 6, 64)
	b = strconv.AppendBool(append(b, `,"terminal":`...), e.Terminal)
	return append(append(append(b, `,"payload":`...), e.Payload...), '}')
}

// UnmarshalJSON reads an envelope. An event_id that is not that of run and seq is an error: such a row is damaged.
func (e *Event) UnmarshalJSON(data []byte) error {
	var v envelope
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	at, err := v.CreatedAt.Float64()
	if err != nil {
		return fmt.Errorf("created_at: %w", err)
	}
	*e = Event{v.RunID, v.SessionID, v.Seq, v.Epoch, v.Type, time.UnixMicro(int64(math.Round(at * 1e6))).UTC(), v.Terminal, v.Payload}
	if v.EventID != e.ID() {
		return fmt.Errorf("event_id %q is not that of run %q, seq %d", v.EventID, v.RunID, v.Seq)
	}
	return nil
}

func seconds(t time.Time) json.Number {
	return json.Number(strconv.FormatFloat(float64(t.UnixMicro())/1e6, 'f', 6, 64))
}

// stamp is a time as rows keep it.
func stamp(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }
