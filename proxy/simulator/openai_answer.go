package simulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// chatCompletion is a whole answer.
type chatCompletion struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int       `json:"index"`
	Message      chatReply `json:"message"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason string    `json:"finish_reason"`
}

type chatReply struct {
	Role      string         `json:"role"`
	Content   *string        `json:"content"`
	Reasoning string         `json:"reasoning_content,omitempty"`
	Refusal   *string        `json:"refusal"`
	ToolCalls []chatToolCall `json:"tool_calls,omitempty"`
}

// chatToolCall is a call of a tool in an answer, and a piece of one in a stream, where it has an index.
type chatToolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func usageOf(u *Usage) *chatUsage {
	if u == nil {
		return nil
	}
	out := &chatUsage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Prompt + u.Completion}
	out.PromptDetails.Cached = u.Cached
	out.CompletionDetails.Reasoning = u.Reasoning
	return out
}

func chatID(st stamp) string { return fmt.Sprintf("chatcmpl-simulated%06d", st.serial) }

func finishReason(ans Answer) string {
	if len(ans.ToolCalls) > 0 {
		return cmp.Or(ans.Finish, "tool_calls")
	}
	return cmp.Or(ans.Finish, "stop")
}

// chatWhole writes the answer in one piece. Every one of n choices says the same.
func chatWhole(req Request, ans Answer, st stamp) []byte {
	out := chatCompletion{ID: chatID(st), Object: "chat.completion", Created: st.created.Unix(), Model: req.Model, Usage: usageOf(ans.Usage)}
	reply := chatReply{Role: "assistant", Reasoning: ans.Reasoning}
	if ans.Text != "" || len(ans.ToolCalls) == 0 {
		reply.Content = &ans.Text
	}
	for _, call := range ans.ToolCalls {
		reply.ToolCalls = append(reply.ToolCalls, chatToolCall{ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name, Arguments: call.Arguments}})
	}
	for i := range req.N {
		out.Choices = append(out.Choices, chatChoice{Index: i, Message: reply, FinishReason: finishReason(ans)})
	}
	return encode(out)
}

// chatChunk is one event of a stream.
type chatChunk struct {
	ID      string            `json:"id"`
	Object  string            `json:"object"`
	Created int64             `json:"created"`
	Model   string            `json:"model"`
	Choices []chatChunkChoice `json:"choices"`
	Usage   json.RawMessage   `json:"usage,omitempty"` // null on every chunk but the last, when usage was asked for
}

type chatChunkChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type chatDelta struct {
	Role      string         `json:"role,omitempty"`
	Content   *string        `json:"content,omitempty"`
	Reasoning string         `json:"reasoning_content,omitempty"`
	ToolCalls []chatToolCall `json:"tool_calls,omitempty"`
}

// chatStream writes the chunks of one stream.
type chatStream struct {
	chunk  chatChunk // what all of them share
	events []event
}

func (s *chatStream) add(kind eventKind, choice int, delta chatDelta, finish *string) {
	chunk := s.chunk
	chunk.Choices = []chatChunkChoice{{Index: choice, Delta: delta, FinishReason: finish}}
	s.events = append(s.events, event{kind: kind, wire: frame(encode(chunk))})
}

func newChatStream(req Request, st stamp) *chatStream {
	s := &chatStream{chunk: chatChunk{ID: chatID(st), Object: "chat.completion.chunk", Created: st.created.Unix(), Model: req.Model}}
	if req.IncludeUsage {
		s.chunk.Usage = json.RawMessage("null")
	}
	return s
}

// chatEvents writes the answer as a stream, one choice after the other, a word an event.
func chatEvents(req Request, ans Answer, st stamp) []event {
	s := newChatStream(req, st)
	for choice := range req.N {
		s.answer(choice, ans)
	}
	if req.IncludeUsage && ans.Usage != nil {
		chunk := s.chunk
		chunk.Choices, chunk.Usage = []chatChunkChoice{}, encode(usageOf(ans.Usage))
		s.events = append(s.events, event{kind: eventUsage, wire: frame(encode(chunk))})
	}
	return append(s.events, event{kind: eventDone, wire: frame([]byte("[DONE]"))})
}

func (s *chatStream) answer(choice int, ans Answer) {
	nothing := ""
	s.add(eventOpening, choice, chatDelta{Role: "assistant", Content: &nothing}, nil)
	for word := range strings.SplitAfterSeq(ans.Reasoning, " ") {
		if word != "" {
			s.add(eventContent, choice, chatDelta{Reasoning: word}, nil)
		}
	}
	for word := range strings.SplitAfterSeq(ans.Text, " ") {
		if word != "" {
			s.add(eventContent, choice, chatDelta{Content: &word}, nil)
		}
	}
	for i, call := range ans.ToolCalls {
		first := chatToolCall{Index: &i, ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name}}
		s.add(eventTool, choice, chatDelta{ToolCalls: []chatToolCall{first}}, nil)
		for _, piece := range halves(call.Arguments) {
			s.add(eventTool, choice, chatDelta{ToolCalls: []chatToolCall{{Index: &i, Function: chatFunction{Arguments: piece}}}}, nil)
		}
	}
	finish := finishReason(ans)
	s.add(eventClosing, choice, chatDelta{}, &finish)
}

// halves cuts the text in two, between characters.
func halves(text string) []string {
	half := len(text) / 2
	for half < len(text) && !utf8.RuneStart(text[half]) {
		half++
	}
	return []string{text[:half], text[half:]}
}

func chatNoop(req Request, st stamp) event {
	s := newChatStream(req, st)
	s.add(eventOther, 0, chatDelta{}, nil)
	return s.events[0]
}
