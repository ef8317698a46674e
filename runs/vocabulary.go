package runs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Dialect is the words that a client knows events by.
type Dialect int

// The dialects.
const (
	Hermes Dialect = iota // the events of a Hermes gateway's runs: flat members beside the envelope
	WebUI                 // the wire names of the Hermes WebUI's browser stream: members within the payload
)

// WordsWebUI is RunStarted.Words of a run whose observers are told in the WebUI's words.
const WordsWebUI = "webui"

// family is one row of the vocabulary.
type family struct {
	words   [2]string // its name by Dialect, "" where there is none
	members []member
	kept    []string // members that tell no content: what `content: metadata` keeps
	minor   bool     // may be left out when a run is over its caps
}

// member is a payload member's name here and in each dialect, "" where it is not told.
type member struct {
	ours  string
	words [2]string
}

// same are members that are called alike everywhere.
func same(names ...string) (ms []member) {
	for _, n := range names {
		ms = append(ms, member{n, [2]string{n, n}})
	}
	return ms
}

// families is the vocabulary. The Hermes column is that of gateway/platforms/api_server_runs.py in hermes-agent, the WebUI
// column that of static/messages.js in hermes-webui. Of two rows for one member the first is read and both are written.
var families = map[Type]family{
	TypeStarted: {kept: []string{"status", "controls", "runtime", "model", "provider", "role", "profile", "toolsets", "source", "words", "content", "request_hash", "writer_hash"}},
	TypeStatus:  {kept: []string{"status", "controls", "reason", "upstream_run_id"}},
	TypeTokenDelta: {words: [2]string{"message.delta", "token"}, minor: true, members: []member{
		{"delta", [2]string{"delta", "text"}},
	}},
	TypeReasoningDelta: {words: [2]string{"reasoning.delta", "reasoning"}, minor: true, members: []member{
		{"delta", [2]string{"delta", "text"}},
	}},
	TypeReasoningDone: {words: [2]string{"reasoning.available", ""}, minor: true, members: same("text"), kept: []string{"block_id"}},
	TypeProgress:      {minor: true, kept: []string{"phase", "tool_call_id", "model", "role", "profile"}},
	TypeToolStarted: {words: [2]string{"tool.started", "tool"}, members: append(same("preview", "args"),
		member{"name", [2]string{"tool", "name"}}, member{"tool_call_id", [2]string{"tool_call_id", "tid"}},
	), kept: []string{"tool_call_id", "name", "started_at"}},
	TypeToolUpdated: {minor: true, kept: []string{"tool_call_id"}},
	TypeToolDone: {words: [2]string{"tool.completed", "tool_complete"}, members: append(same("preview", "duration"),
		member{"name", [2]string{"tool", "name"}}, member{"tool_call_id", [2]string{"tool_call_id", "tid"}},
		member{"is_error", [2]string{"error", "is_error"}},
	), kept: []string{"tool_call_id", "name", "status", "exit_code", "duration", "is_error"}},
	TypeApprovalRequested: {words: [2]string{"approval.request", "approval"}, members: append(
		same("approval_id", "tool", "command", "description", "pattern_key", "pattern_keys", "risk_level", "choices", "allow_session", "allow_permanent"),
		member{"approval_id", [2]string{"request_id", ""}},
	), kept: []string{"approval_id", "tool", "risk_level", "choices"}},
	TypeApprovalResolved: {words: [2]string{"approval.responded", ""}, members: append(
		same("approval_id", "choice"), member{"approval_id", [2]string{"request_id", ""}},
	), kept: []string{"approval_id", "choice", "status"}},
	TypeClarifyRequested: {words: [2]string{"clarify.request", "clarify"}, members: append(same("clarify_id", "question", "multi_select"),
		member{"choices", [2]string{"choices", "choices_offered"}},
	), kept: []string{"clarify_id", "multi_select"}},
	TypeClarifyResolved: {words: [2]string{"clarify.responded", ""}, members: same("clarify_id"), kept: []string{"clarify_id", "status"}},
	TypeTitleUpdated:    {words: [2]string{"", "title"}, members: same("title"), kept: []string{"source"}},
	TypeUsageUpdated:    {words: [2]string{"", "metering"}, members: same("usage"), kept: []string{"usage"}},
	TypeUsageFinal:      {kept: []string{"usage"}},
	TypeError: {words: [2]string{"run.failed", "apperror"}, members: append(same("hint", "details"),
		member{"message", [2]string{"error", "message"}}, member{"type", [2]string{"", "type"}},
	), kept: []string{"type", "code", "terminal", "recovery_control"}},
	TypeDone:      {words: [2]string{"run.completed", "done"}, members: same("output", "usage"), kept: []string{"usage", "terminal_state"}},
	TypeCancelled: {words: [2]string{"run.cancelled", "cancel"}, members: []member{{"message", [2]string{"", "message"}}}},

	TypeClosed:    {words: [2]string{"", "stream_end"}},
	TypeTruncated: {kept: []string{"reason"}},
	TypeGap:       {kept: []string{"reason", "dropped"}},
}

// warning is what the WebUI calls an error that ends nothing. Hermes has no word for it.
const warning = "warning"

// Name is what the dialect calls the event, "" where it has no word.
func (d Dialect) Name(e Event) string {
	if e.Type == TypeError && !e.Terminal {
		return [2]string{Hermes: "", WebUI: warning}[d]
	}
	return families[e.Type].words[d]
}

// Frame is the row as one JSON object in one line: the envelope, and `event` with the dialect's name of it, null where it
// has none. The dialect's members stand beside the envelope (Hermes, with `timestamp`) or within the payload (WebUI).
func (d Dialect) Frame(e Event) ([]byte, error) {
	name, line := d.Name(e), []byte(nil)
	if d == WebUI {
		for _, m := range families[e.Type].members {
			if v := gjson.GetBytes(e.Payload, m.ours); v.Exists() && m.words[d] != "" && m.words[d] != m.ours {
				e.Payload, _ = sjson.SetRawBytes(e.Payload, m.words[d], []byte(v.Raw)) // fails for empty names only
			}
		}
	}
	line, err := e.MarshalJSON() // as json.Marshal does, which would look through it once more
	if err != nil {
		return nil, fmt.Errorf("frame row %s: %w", e.ID(), err)
	}
	line = line[:len(line)-1]
	if name == "" {
		return append(line, `,"event":null}`...), nil
	}
	line = append(append(append(line, `,"event":"`...), name...), '"')
	if d == Hermes {
		line = append(append(line, `,"timestamp":`...), seconds(e.CreatedAt)...)
		for _, m := range families[e.Type].members {
			if v := gjson.GetBytes(e.Payload, m.ours); v.Exists() && m.words[d] != "" {
				line = append(append(append(line, `,"`...), m.words[d]...), `":`...)
				line = append(line, v.Raw...)
			}
		}
	}
	return append(line, '}'), nil
}

// ErrUnknownWord is an event whose name the dialect does not have.
var ErrUnknownWord = errors.New("no family has this name")

// Read turns an event of the dialect into ours: object has the event's members, flat. All of them are kept, and ours are
// added. Hermes' words without a family of ours (subagent.start, run.steered …) become progress.
func (d Dialect) Read(name string, object []byte) (Raw, error) {
	if !gjson.ParseBytes(object).IsObject() || !json.Valid(object) {
		return Raw{}, fmt.Errorf("%w: %.40q", ErrBadPayload, name)
	}
	t := d.family(name)
	if t == "" {
		return Raw{}, fmt.Errorf("%w: %.40q", ErrUnknownWord, name)
	}
	raw, seen := Raw{t, object}, map[string]bool{}
	for _, m := range families[t].members {
		if v := gjson.GetBytes(object, m.words[d]); m.words[d] != "" && v.Exists() && !seen[m.ours] {
			seen[m.ours] = true
			raw.Object, _ = sjson.SetRawBytes(raw.Object, m.ours, []byte(v.Raw)) // fails for empty names only
		}
	}
	if t == TypeError {
		raw.Object, _ = sjson.SetBytes(raw.Object, "terminal", name != warning)
	}
	return raw, nil
}

func (d Dialect) family(name string) Type {
	if name == "" {
		return ""
	}
	if d == WebUI && name == warning {
		return TypeError
	}
	for t, f := range families {
		if f.words[d] == name {
			return t
		}
	}
	if d == Hermes && (name == "run.steered" || name == "subagent.start" || name == "subagent.complete") {
		return TypeProgress
	}
	return ""
}
