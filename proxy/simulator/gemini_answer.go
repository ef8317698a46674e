package simulator

import (
	"encoding/json"
	"fmt"
)

// geminiReply is a whole answer, and an event of a stream.
type geminiReply struct {
	Candidates []geminiCandidate `json:"candidates,omitempty"`
	Feedback   any               `json:"promptFeedback,omitempty"`
	Usage      *geminiUsage      `json:"usageMetadata,omitempty"`
	Version    string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content       geminiSaid `json:"content"`
	Finish        string     `json:"finishReason,omitempty"`
	FinishMessage string     `json:"finishMessage,omitempty"`
	Index         int        `json:"index"`
}

type geminiSaid struct {
	Parts []geminiSaidPart `json:"parts,omitempty"`
	Role  string           `json:"role,omitempty"`
}

type geminiSaidPart struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *geminiSaidCall `json:"functionCall,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
}

type geminiSaidCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
}

// geminiUsageOf counts as Google does: thoughts are no part of the candidates' tokens.
func geminiUsageOf(u *Usage) *geminiUsage {
	if u == nil {
		return nil
	}
	return &geminiUsage{Prompt: u.Prompt, Cached: u.Cached, Candidates: u.Completion - u.Reasoning, Thoughts: u.Reasoning, Total: u.Prompt + u.Completion}
}

func geminiFinish(ans Answer) string {
	switch ans.Finish {
	case "":
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	}
	return ans.Finish
}

// geminiSignature is what a model that thinks signs with.
func geminiSignature(req Request, what string) string {
	if !req.reasons {
		return ""
	}
	return base64Of(seal(req.Account, what))
}

// geminiThoughts are the parts of reasoning that the request wants to see, a word a part.
func geminiThoughts(req Request, ans Answer) []geminiSaidPart {
	if !req.shows || ans.Hidden {
		return nil
	}
	var parts []geminiSaidPart
	for _, word := range words(ans.Reasoning) {
		parts = append(parts, geminiSaidPart{Text: &word, Thought: true})
	}
	return parts
}

// geminiCalls are the calls of tools. The first one is signed.
func geminiCalls(req Request, ans Answer) []geminiSaidPart {
	var parts []geminiSaidPart
	for i, call := range ans.ToolCalls {
		part := geminiSaidPart{Call: &geminiSaidCall{Name: call.Name, Args: objectOf(call.Arguments)}}
		if geminiSigned.MatchString(req.Model) || req.Protocol == CloudCode {
			part.Call.ID = call.ID
		}
		if i == 0 {
			part.Signature = geminiSignature(req, call.Name)
		}
		parts = append(parts, part)
	}
	return parts
}

func (r geminiReply) with(parts []geminiSaidPart, finish string) geminiReply {
	c := geminiCandidate{Content: geminiSaid{Parts: parts, Role: "model"}, Finish: finish}
	if finish == "MALFORMED_FUNCTION_CALL" {
		c.Content, c.FinishMessage = geminiSaid{}, "Malformed function call: simulated"
	}
	r.Candidates = []geminiCandidate{c}
	return r
}

func geminiOpen(req Request, st stamp) geminiReply {
	return geminiReply{Version: req.Model, ID: fmt.Sprintf("simulated%06d", st.serial)}
}

// geminiBlocked is the answer to a prompt that was blocked.
func geminiBlocked(req Request, ans Answer, st stamp) geminiReply {
	out := geminiOpen(req, st)
	out.Feedback = map[string]string{"blockReason": ans.Block}
	if ans.Usage != nil {
		out.Usage = &geminiUsage{Prompt: ans.Usage.Prompt, Total: ans.Usage.Prompt}
	}
	return out
}

func geminiReplyOf(req Request, ans Answer, st stamp) geminiReply {
	if ans.Block != "" {
		return geminiBlocked(req, ans, st)
	}
	var parts []geminiSaidPart
	if req.shows && !ans.Hidden && ans.Reasoning != "" {
		parts = append(parts, geminiSaidPart{Text: &ans.Reasoning, Thought: true})
	}
	if ans.Text != "" {
		part := geminiSaidPart{Text: &ans.Text}
		if geminiSigned.MatchString(req.Model) && len(ans.ToolCalls) == 0 {
			part.Signature = geminiSignature(req, "text")
		}
		parts = append(parts, part)
	}
	out := geminiOpen(req, st).with(append(parts, geminiCalls(req, ans)...), geminiFinish(ans))
	out.Usage = geminiUsageOf(ans.Usage)
	return out
}

// geminiWhole writes the answer in one piece; to who asks for a stream that is no SSE, as an array.
func geminiWhole(req Request, ans Answer, st stamp) []byte {
	if req.listed {
		return encode([]geminiReply{geminiReplyOf(req, ans, st)})
	}
	return encode(geminiReplyOf(req, ans, st))
}

// geminiStream is the answer in pieces: thoughts, a word an event, calls, and what ends it.
func geminiStream(req Request, ans Answer, st stamp) (replies []geminiReply, kinds []eventKind) {
	if ans.Block != "" {
		return []geminiReply{geminiBlocked(req, ans, st)}, []eventKind{eventClosing}
	}
	add := func(kind eventKind, parts []geminiSaidPart, finish string) {
		reply := geminiOpen(req, st).with(parts, finish)
		if ans.Usage != nil {
			reply.Usage = &geminiUsage{Prompt: ans.Usage.Prompt, Total: ans.Usage.Prompt}
		}
		replies, kinds = append(replies, reply), append(kinds, kind)
	}
	for _, thought := range geminiThoughts(req, ans) {
		add(eventContent, []geminiSaidPart{thought}, "")
	}
	for _, word := range words(ans.Text) {
		add(eventContent, []geminiSaidPart{{Text: &word}}, "")
	}
	for _, call := range geminiCalls(req, ans) {
		add(eventTool, []geminiSaidPart{call}, "")
	}
	last := geminiSaidPart{Text: new(string)}
	if geminiSigned.MatchString(req.Model) && len(ans.ToolCalls) == 0 {
		last.Signature = geminiSignature(req, "text")
	}
	add(eventClosing, []geminiSaidPart{last}, geminiFinish(ans))
	replies[len(replies)-1].Usage = geminiUsageOf(ans.Usage)
	return replies, kinds
}

// geminiEvents writes the answer as a stream.
func geminiEvents(req Request, ans Answer, st stamp) []event {
	replies, kinds := geminiStream(req, ans, st)
	events := make([]event, len(replies))
	for i, reply := range replies {
		events[i] = event{kind: kinds[i], wire: googleFrame(encode(reply))}
	}
	return events
}

func geminiNoop(req Request, st stamp) event {
	return event{kind: eventOther, wire: googleFrame(encode(geminiOpen(req, st).with([]geminiSaidPart{{Text: new(string)}}, "")))}
}

// geminiCount answers how many tokens a request has.
func geminiCount(req Request) []byte {
	return encode(map[string]int{"totalTokens": req.PromptTokens})
}
