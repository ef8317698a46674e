package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// messagesReply is a whole answer, and what a stream begins with.
type messagesReply struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      []any          `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        *messagesUsage `json:"usage,omitempty"`
}

type messagesUsage struct {
	Input   int    `json:"input_tokens"`
	Written int    `json:"cache_creation_input_tokens"`
	Cached  int    `json:"cache_read_input_tokens"`
	Output  int    `json:"output_tokens"`
	Tier    string `json:"service_tier,omitempty"`
}

// messagesUsageOf counts as Anthropic does: input_tokens are what no cache was involved in.
func messagesUsageOf(u *Usage) *messagesUsage {
	if u == nil {
		return nil
	}
	return &messagesUsage{Input: u.Prompt - u.Cached - u.Written, Written: u.Written, Cached: u.Cached, Output: u.Completion}
}

type messagesText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type messagesThought struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type messagesRedacted struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type messagesCall struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func messagesStop(ans Answer) *string {
	natural := "end_turn"
	if len(ans.ToolCalls) > 0 {
		natural = "tool_use"
	}
	word := cmp.Or(ans.Finish, natural)
	switch ans.Finish {
	case "length":
		word = "max_tokens"
	case "content_filter":
		word = "refusal"
	}
	return &word
}

func messagesOpen(req Request, ans Answer, st stamp) messagesReply {
	out := messagesReply{ID: fmt.Sprintf("msg_simulated%06d", st.serial), Type: "message", Role: "assistant", Model: req.Model, Content: []any{}}
	out.Usage = messagesUsageOf(ans.Usage)
	if out.Usage != nil {
		out.Usage.Tier = "standard"
	}
	return out
}

// messagesReasoning is the reasoning as a block, nil where the request does not want any. Models that show none by
// themselves sign what they do not show.
func messagesReasoning(req Request, ans Answer) any {
	switch {
	case ans.Reasoning == "" || !req.reasons:
		return nil
	case ans.Hidden:
		return messagesRedacted{Type: "redacted_thinking", Data: base64Of(seal(req.Account, ans.Reasoning))}
	}
	block := messagesThought{Type: "thinking", Thinking: ans.Reasoning}
	if !req.shows {
		block.Thinking = ""
	}
	block.Signature = base64Of(seal(req.Account, digest(block.Thinking)))
	return block
}

// messagesWhole writes the answer in one piece.
func messagesWhole(req Request, ans Answer, st stamp) []byte {
	out := messagesOpen(req, ans, st)
	if block := messagesReasoning(req, ans); block != nil {
		out.Content = append(out.Content, block)
	}
	if ans.Text != "" {
		out.Content = append(out.Content, messagesText{Type: "text", Text: ans.Text})
	}
	for _, call := range ans.ToolCalls {
		out.Content = append(out.Content, messagesCall{Type: "tool_use", ID: call.ID, Name: call.Name, Input: objectOf(call.Arguments)})
	}
	out.StopReason = messagesStop(ans)
	return encode(out)
}

// objectOf is the arguments of a call where a protocol has an object for them. What the model wrote need not be one.
func objectOf(arguments string) json.RawMessage {
	if value, ok := readTree([]byte(arguments)); ok && kindOf(value) == isObject {
		return json.RawMessage(arguments)
	}
	return encode(map[string]string{"INVALID_JSON": arguments})
}

// messagesStream writes the events of one stream.
type messagesStream struct {
	events []event
	index  int // of the open block
}

type messagesEvent struct {
	Type    string         `json:"type"`
	Message *messagesReply `json:"message,omitempty"`
	Index   *int           `json:"index,omitempty"`
	Block   any            `json:"content_block,omitempty"`
	Delta   any            `json:"delta,omitempty"`
	Usage   *messagesUsage `json:"usage,omitempty"`
}

type messagesDelta struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
	Arguments *string `json:"partial_json,omitempty"`
}

func (s *messagesStream) add(kind eventKind, e messagesEvent) {
	s.events = append(s.events, event{kind: kind, wire: namedFrame(e.Type, encode(e))})
}

func (s *messagesStream) open(kind eventKind, block any) {
	i := s.index
	s.add(kind, messagesEvent{Type: "content_block_start", Index: &i, Block: block})
	if i == 0 {
		s.events = append(s.events, messagesPing())
	}
}

func (s *messagesStream) delta(kind eventKind, d messagesDelta) {
	i := s.index
	s.add(kind, messagesEvent{Type: "content_block_delta", Index: &i, Delta: d})
}

func (s *messagesStream) stop() {
	i := s.index
	s.add(eventOther, messagesEvent{Type: "content_block_stop", Index: &i})
	s.index++
}

func messagesPing() event {
	return event{kind: eventOther, wire: namedFrame("ping", []byte(`{"type":"ping"}`))}
}

// words cuts the text behind its blanks.
func words(text string) []string {
	return slices.DeleteFunc(strings.SplitAfter(text, " "), func(word string) bool { return word == "" })
}

// messagesEvents writes the answer as a stream, a word an event.
func messagesEvents(req Request, ans Answer, st stamp) []event {
	s := &messagesStream{}
	start := messagesOpen(req, ans, st)
	if start.Usage != nil {
		start.Usage.Output = min(1, start.Usage.Output)
	}
	s.add(eventOpening, messagesEvent{Type: "message_start", Message: &start})
	switch block := messagesReasoning(req, ans).(type) {
	case messagesRedacted:
		s.open(eventOther, block)
		s.stop()
	case messagesThought:
		s.open(eventOther, messagesThought{Type: "thinking"})
		for _, word := range words(block.Thinking) {
			s.delta(eventContent, messagesDelta{Type: "thinking_delta", Thinking: &word})
		}
		s.delta(eventOther, messagesDelta{Type: "signature_delta", Signature: &block.Signature})
		s.stop()
	}
	if ans.Text != "" {
		s.open(eventOther, messagesText{Type: "text"})
		for _, word := range words(ans.Text) {
			s.delta(eventContent, messagesDelta{Type: "text_delta", Text: &word})
		}
		s.stop()
	}
	for _, call := range ans.ToolCalls {
		s.open(eventTool, messagesCall{Type: "tool_use", ID: call.ID, Name: call.Name, Input: json.RawMessage("{}")})
		s.delta(eventOther, messagesDelta{Type: "input_json_delta", Arguments: new(string)})
		for _, piece := range halves(call.Arguments) {
			s.delta(eventTool, messagesDelta{Type: "input_json_delta", Arguments: &piece})
		}
		s.stop()
	}
	s.add(eventClosing, messagesEvent{Type: "message_delta", Delta: struct {
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}{StopReason: messagesStop(ans)}, Usage: messagesUsageOf(ans.Usage)})
	s.add(eventDone, messagesEvent{Type: "message_stop"})
	return s.events
}

// sameBlockIndex puts the second block under the index of the first.
func sameBlockIndex(wire []byte) []byte {
	return bytes.Replace(wire, []byte(`"index":1`), []byte(`"index":0`), 1)
}

// messagesCount answers how many tokens a request has.
func messagesCount(req Request) []byte {
	return encode(struct {
		Input int `json:"input_tokens"`
	}{req.PromptTokens})
}
