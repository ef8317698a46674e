package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// longestCallID is the length of a call's id that OpenAI takes in a message.
const longestCallID = 40

// messages writes the conversation. Each turn is a message, a run of the system's or of the assistant's is one: servers
// want the system's words in one place, and an answer's calls in one message.
func (e *encoder) messages() error {
	e.add(`,"messages":[`)
	m := messages{encoder: e, open: map[string]string{}}
	turns := e.r.Turns
	for len(turns) > 0 {
		n := 1
		for role := turns[0].Role; n < len(turns) && turns[n].Role == role && (role == neutral.System || role == neutral.Assistant); n++ {
		}
		if err := m.write(turns[:n]); err != nil {
			return err
		}
		turns = turns[n:]
	}
	if err := m.answered(); err != nil {
		return err
	}
	e.add(`]`)
	return nil
}

// messages writes messages one behind the other.
type messages struct {
	*encoder
	calls []string          // ids of the last turn's calls in order
	open  map[string]string // path of each call that has no result yet, by its id
}

func refuse(field, what string) error { return &wire.FieldError{Field: field, What: what} }

// answered refuses a conversation that goes on although a call has no result.
func (m *messages) answered() error {
	for _, id := range m.calls {
		if path, open := m.open[id]; open {
			return refuse(path, "has no result behind it: this account's protocol wants one for every call")
		}
	}
	m.calls = m.calls[:0]
	return nil
}

// write writes the message of a run of turns.
func (m *messages) write(turns []neutral.Turn) error {
	if turns[0].Role != neutral.ToolRole {
		if err := m.answered(); err != nil {
			return err
		}
	}
	var parts []*neutral.Part
	for i := range turns {
		for j := range turns[i].Parts {
			m.without("cache_control", turns[i].Parts[j].Cache)
			parts = append(parts, &turns[i].Parts[j])
		}
	}
	switch role := turns[0].Role; role {
	case neutral.System:
		m.begin("system", turns[0].Name)
		m.add(`,"content":"`)
		m.raw(joined(parts, neutral.TextPart, paragraph))
		m.add(`"}`)
	case neutral.User:
		m.begin("user", turns[0].Name)
		m.add(`,"content":`)
		if err := m.content(parts); err != nil {
			return err
		}
		m.add(`}`)
	case neutral.Assistant:
		m.assistant(parts, turns[0].Name)
	default:
		for _, p := range parts {
			if err := m.result(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *messages) begin(role, name string) {
	m.separate()
	m.add(`{"role":"` + role + `"`)
	if name != "" {
		m.member("name", wire.Quote(name))
	}
}

// What stands between texts that become one, as the inside of a literal.
const (
	paragraph = `\n\n`
	line      = `\n`
)

// joined is the inside of the texts of a kind.
func joined(parts []*neutral.Part, kind neutral.PartKind, between string) (inner []byte) {
	for _, p := range parts {
		if p.Kind != kind || p.Text.Empty() {
			continue
		}
		if len(inner) > 0 {
			inner = append(inner, between...)
		}
		inner = append(inner, p.Text.Inner()...)
	}
	return inner
}

// content writes a text where it is one, else a list of parts.
func (m *messages) content(parts []*neutral.Part) error {
	if len(parts) == 1 && parts[0].Kind == neutral.TextPart {
		m.raw(parts[0].Text)
		return nil
	}
	m.add(`[`)
	for _, p := range parts {
		m.separate()
		if err := m.part(p); err != nil {
			return err
		}
	}
	m.add(`]`)
	return nil
}

func (m *messages) part(p *neutral.Part) error {
	switch media := &p.Media; {
	case p.Kind == neutral.TextPart:
		m.add(`{"type":"text","text":`)
		m.raw(p.Text)
		m.add(`}`)
	case p.Kind == neutral.ImagePart && media.FileID == "":
		m.add(`{"type":"image_url","image_url":{"url":`)
		m.address(media, "image/png")
		if media.Detail != "" {
			m.member("detail", wire.Quote(media.Detail))
		}
		m.add(`}}`)
	case p.Kind == neutral.AudioPart:
		m.add(`{"type":"input_audio","input_audio":{"data":`)
		m.quote(media.Data)
		m.member("format", wire.Quote(audioFormat(media.Type)))
		m.add(`}}`)
	case p.Kind == neutral.FilePart && media.URL == "":
		m.file(p)
	default:
		return refuse(p.Path, "cannot be sent to this account: its protocol (chat completions) takes texts, images by address or data, sounds and files by data or id")
	}
	return nil
}

func (m *messages) file(p *neutral.Part) {
	m.add(`{"type":"file","file":{`)
	if p.Media.FileID != "" {
		m.add(`"file_id":`)
		m.quote(p.Media.FileID)
	} else {
		m.add(`"file_data":`)
		m.address(&p.Media, "application/pdf")
		if p.Name != "" {
			m.member("filename", wire.Quote(p.Name))
		}
	}
	m.add(`}}`)
}

// address writes where a thing is: on the web, or in a data: URL. Data is base64 and nothing else.
func (m *messages) address(media *neutral.Media, otherwise string) {
	if media.URL != "" {
		m.quote(media.URL)
		return
	}
	kind := strings.ToLower(media.Type)
	if kind == "" {
		kind = otherwise
	}
	m.quote("data:" + kind + ";base64,")
	m.body = append(append(m.body[:len(m.body)-1], media.Data...), '"')
}

// audioFormat is the word for a type of sound.
func audioFormat(kind string) string {
	if kind == "audio/mpeg" {
		return "mp3"
	}
	return strings.TrimPrefix(kind, "audio/")
}

// assistant writes what the model has thought, said and called.
func (m *messages) assistant(parts []*neutral.Part, name string) {
	m.begin("assistant", name)
	text, refusal := joined(parts, neutral.TextPart, paragraph), joined(parts, neutral.RefusalPart, paragraph)
	calls := slices.ContainsFunc(parts, func(p *neutral.Part) bool { return p.Kind == neutral.ToolCallPart })
	m.raw(appendText([]byte(`,"content":`), text, !calls && len(refusal) == 0))
	if len(refusal) > 0 {
		m.raw(appendText([]byte(`,"refusal":`), refusal, false))
	}
	m.recall(parts, calls)
	open := `,"tool_calls":[{`
	for _, p := range parts {
		if p.Kind != neutral.ToolCallPart {
			continue
		}
		m.add(open)
		open = ",{"
		m.body = appendCall(m.body, shortened(p.ID), p.Name)
		m.body = append(m.body[:len(m.body)-1], asText(p.Arguments)...)
		m.add(`}`)
		m.body = append(appendExtra(m.body, p.Seal), '}')
		m.calls, m.open[p.ID] = append(m.calls, p.ID), p.Path
	}
	if calls {
		m.add(`]`)
	}
	m.add(`}`)
}

// asText writes a call's arguments as a JSON string; what is not UTF-8 in them is replaced.
func asText(arguments []byte) []byte {
	if len(arguments) == 0 {
		return noArguments
	}
	q, err := json.Marshal(string(arguments))
	if err != nil { // no string fails to marshal
		return noArguments
	}
	return q
}

// recall writes the thoughts: what is sealed in reasoning_details, and the plain text where the model's maker wants it back.
func (m *messages) recall(parts []*neutral.Part, calls bool) {
	var details []byte
	var plain []*neutral.Part
	n := 0
	for _, p := range parts {
		switch {
		case p.Kind != neutral.ReasoningPart:
		case p.Seal.Is():
			details = append(appendDetail(details, p.Seal, p.Text, n), ',')
			n++
		default:
			plain = append(plain, p)
		}
	}
	if n > 0 {
		m.add(`,"reasoning_details":[`)
		m.raw(details[:len(details)-1])
		m.add(`]`)
	}
	switch thought := joined(plain, neutral.ReasoningPart, paragraph); {
	case len(thought) == 0:
	case calls && wantsThoughts(m.t.Model):
		m.raw(appendText([]byte(`,"reasoning_content":`), thought, false))
	default:
		m.drop("messages[].reasoning_content")
	}
}

// wantsThoughts reports whether a model goes on with a turn only when it is told again what it thought: DeepSeek and Moonshot
// refuse a turn with calls that has no reasoning_content, others go on better with it. Strict servers of other models refuse
// the member.
func wantsThoughts(model string) bool {
	model = strings.ToLower(model)
	return slices.ContainsFunc([]string{"deepseek", "kimi", "mimo", "glm", "minimax"}, func(maker string) bool { return strings.Contains(model, maker) })
}

// result writes what a call gave: a text where it is one.
func (m *messages) result(p *neutral.Part) error {
	if _, open := m.open[p.ID]; !open {
		return refuse(p.Path, "answers no call of the turn before it, or one that is answered already")
	}
	delete(m.open, p.ID)
	m.without("messages[].is_error", p.IsError)
	m.separate()
	m.add(`{"role":"tool","tool_call_id":`)
	m.quote(shortened(p.ID))
	m.add(`,"content":`)
	parts := make([]*neutral.Part, len(p.Result))
	texts := true
	for i := range p.Result {
		parts[i] = &p.Result[i]
		texts = texts && p.Result[i].Kind == neutral.TextPart
	}
	if texts {
		m.raw(appendText(nil, joined(parts, neutral.TextPart, line), true))
	} else if err := m.content(parts); err != nil {
		return err
	}
	m.add(`}`)
	return nil
}

// shortened is an id that is short enough, and the same for the same id.
func shortened(id string) string {
	if len(id) <= longestCallID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:longestCallID]
}
