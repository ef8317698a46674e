package responses

import (
	"crypto/sha256"
	"encoding/hex"

	"hermes-hub/proxy/wire/neutral"
)

// input writes the conversation as items.
func (e *encoder) input(turns []neutral.Turn) error {
	e.add(`,"input":[`)
	i := input{encoder: e, open: map[string]string{}}
	for t := range turns {
		turn := &turns[t]
		e.unnamed(turn)
		if turn.Role != neutral.Assistant {
			i.forget()
		}
		if turn.Role == neutral.User || turn.Role == neutral.System {
			if err := i.answered(); err != nil {
				return err
			}
		}
		if err := i.turn(turn); err != nil {
			return err
		}
	}
	i.forget()
	if err := i.answered(); err != nil {
		return err
	}
	e.add(`]`)
	return nil
}

// input writes items. A thought is held until the item comes that it led to: alone it is refused.
type input struct {
	*encoder
	thoughts []*neutral.Part
	calls    []string          // ids of calls in order, until they are answered
	open     map[string]string // path of each call that has no result yet, by its id
	message  string            // role of the message whose content is being written; "" = none
}

// turn writes the items of one turn.
func (i *input) turn(t *neutral.Turn) error {
	for p := range t.Parts {
		part := &t.Parts[p]
		i.unmarked(part)
		var err error
		switch part.Kind {
		case neutral.ReasoningPart:
			i.end()
			i.think(part)
			continue
		case neutral.ToolCallPart:
			i.end()
			i.call(part)
		case neutral.ToolResultPart:
			i.end()
			err = i.result(part)
		default:
			i.begin(t.Role)
			err = i.content(part)
		}
		if err != nil {
			return err
		}
	}
	i.end()
	return nil
}

// think holds a thought that this API has sealed. Others mean nothing to it, and none does to a model that has no thoughts.
func (i *input) think(p *neutral.Part) {
	thoughtless := i.known && !i.family.reasons()
	switch {
	case p.Seal.Format == neutral.SealOpenAI && p.Seal.Is() && !thoughtless:
		i.thoughts = append(i.thoughts, p)
	case p.Seal.Is():
		i.drop("messages[].reasoning_details")
	default:
		i.drop("messages[].reasoning_content")
	}
}

// recall writes the thoughts that led to the next item.
func (i *input) recall() {
	for _, p := range i.thoughts {
		i.separate()
		i.add(`{"type":"reasoning","summary":[`)
		if !p.Text.Empty() {
			i.add(`{"type":"summary_text","text":`)
			i.raw(p.Text)
			i.add(`}`)
		}
		i.add(`],"encrypted_content":`)
		i.quote(p.Seal.Data)
		i.add(`}`)
	}
	i.thoughts = i.thoughts[:0]
}

// forget drops thoughts that led to nothing.
func (i *input) forget() {
	if len(i.thoughts) > 0 {
		i.drop("messages[].reasoning_details")
		i.thoughts = i.thoughts[:0]
	}
}

// begin opens a message, unless one is open.
func (i *input) begin(r neutral.Role) {
	if i.message != "" {
		return
	}
	i.recall()
	i.message = "user"
	switch r {
	case neutral.System:
		i.message = "developer"
	case neutral.Assistant:
		i.message = "assistant"
	}
	i.separate()
	i.add(`{"type":"message","role":"` + i.message + `","content":[`)
}

// end closes the message that is open.
func (i *input) end() {
	if i.message != "" {
		i.add(`]}`)
		i.message = ""
	}
}

// call writes a call. Its arguments are a text of JSON.
func (i *input) call(p *neutral.Part) {
	i.recall()
	i.separate()
	i.add(`{"type":"function_call","call_id":`)
	i.quote(shorten(p.ID, longestCallID))
	i.add(`,"name":`)
	i.quote(p.Name)
	i.add(`,"arguments":`)
	if len(p.Arguments) == 0 {
		i.add(`"{}"`)
	} else {
		i.asText(p.Arguments)
	}
	i.add(`}`)
	i.calls = append(i.calls, p.ID)
	i.open[p.ID] = p.Path
	if p.Seal.Is() {
		i.drop("messages[].reasoning_details")
	}
}

// result writes what a call gave: a text where it is one, else a list.
func (i *input) result(p *neutral.Part) error {
	if _, open := i.open[p.ID]; !open {
		return refuse(p.Path, "answers no call that is open")
	}
	delete(i.open, p.ID)
	i.without("messages[].is_error", p.IsError)
	i.separate()
	i.add(`{"type":"function_call_output","call_id":`)
	i.quote(shorten(p.ID, longestCallID))
	i.add(`,"output":`)
	if text, ok := onlyText(p.Result); ok {
		i.add(`"`)
		i.raw(text)
		i.add(`"}`)
		return nil
	}
	i.add(`[`)
	i.message = "user"
	for j := range p.Result {
		if err := i.content(&p.Result[j]); err != nil {
			return err
		}
	}
	i.message = ""
	i.add(`]}`)
	return nil
}

// onlyText is the inside of the text that a result of texts is, each on lines of its own.
func onlyText(parts []neutral.Part) (inner []byte, ok bool) {
	for i := range parts {
		if parts[i].Kind != neutral.TextPart {
			return nil, false
		}
		if i > 0 {
			inner = append(inner, `\n`...)
		}
		inner = append(inner, parts[i].Text.Inner()...)
	}
	return inner, true
}

// answered refuses a conversation that goes on although a call has no result.
func (i *input) answered() error {
	for _, id := range i.calls {
		if path, open := i.open[id]; open {
			return refuse(path, "has no result: this account's protocol wants one for every call, behind it")
		}
	}
	i.calls = i.calls[:0]
	return nil
}

// shorten is a key that is no longer than limit and the same for the same key.
func shorten(key string, limit int) string {
	if len(key) <= limit {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:min(limit, 48)]
}
