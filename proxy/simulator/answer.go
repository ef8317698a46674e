package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a call as its dialect understood it.
type Request struct {
	Protocol     Protocol
	Account      string
	Model        string
	Stream       bool
	IncludeUsage bool         // a stream is to end with its token counts
	N            int          // answers wanted, at least 1
	System       string       // text of the instructions; the dialects other than Chat tell it
	LastRole     string       // role of the last message; "tool" where it brings results of tools
	LastUser     string       // text of the last message of the user
	Results      []ToolResult // that the last messages bring; the dialects other than Chat tell them
	Images       int          // in the conversation; the dialects other than Chat count them
	Tools        []Tool       // tools on offer
	ToolChoice   string       // "auto", "none", "required", or the name of the tool to call
	PromptTokens int          // an estimate, the same for the same messages
	Project      string       // CloudCode
	Header       http.Header
	Body         []byte

	stamp     stamp
	reasons   bool // it asks for reasoning, or its model always has some
	shows     bool // and wants to see it
	encrypted bool // and wants it sealed
	codex     bool // Responses as the Codex backend takes them
	echo      responsesEcho
	listed    bool // Gemini: an array is wanted for a stream
}

// Tool is a function that a request offers.
type Tool struct {
	Name       string
	Parameters json.RawMessage // its JSON schema
}

// ToolResult is what a tool came to; ID and Name are those of its call, where the dialect tells them.
type ToolResult struct {
	ID, Name, Text string
	IsError        bool
}

// Answer is what an account says, in no dialect. With tool calls it ends because of them, else because it is complete.
type Answer struct {
	Text      string
	Reasoning string // said where the request asks for it as its provider wants to be asked; to Chat always
	Hidden    bool   // the reasoning is told in encrypted form alone
	ToolCalls []ToolCall
	// Finish is why the answer ends: "" = as the answer calls for; "length" and "content_filter" are said in the dialect's own
	// word; every other word is said as it is.
	Finish string
	Block  string // Gemini's word for why the prompt was blocked; there is no answer then. "" = it was not
	Usage  *Usage // nil = the account's
}

// ToolCall is one call of a tool; Arguments is JSON text.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Usage is the token counts of one call.
type Usage struct {
	Prompt     int // all tokens of the request
	Cached     int // those of them that were read from a cache
	Written    int // those of them that were written to a cache; Messages alone tells it
	Completion int // all tokens of the answer
	Reasoning  int // those of them that were reasoning
}

// Answerer makes the answer to a request. It is called from many goroutines.
type Answerer func(Request) Answer

// Say answers the text.
func Say(text string) Answerer {
	return func(Request) Answer { return Answer{Text: text} }
}

// Think answers the text after the reasoning.
func Think(reasoning, text string) Answerer {
	return func(Request) Answer { return Answer{Reasoning: reasoning, Text: text} }
}

// CallTool answers with one call of the tool; arguments is JSON text.
func CallTool(name, arguments string) Answerer {
	return CallTools(ToolCall{Name: name, Arguments: arguments})
}

// CallTools answers with several calls of tools. A call without an id gets one.
func CallTools(calls ...ToolCall) Answerer {
	return func(Request) Answer { return Answer{ToolCalls: slices.Clone(calls)} }
}

// answer makes what the account says to the request, its token counts included.
func (a Account) answer(req Request) Answer { return a.counted(req, a.say(req)) }

// counted is the answer with what it lacks: ids of its tool calls, and token counts.
func (a Account) counted(req Request, ans Answer) Answer {
	ans.ToolCalls = slices.Clone(ans.ToolCalls) // an Answerer may give the same ones again
	for i := range ans.ToolCalls {
		if ans.ToolCalls[i].ID == "" {
			ans.ToolCalls[i].ID = callID(req, i)
		}
	}
	if ans.Usage == nil {
		ans.Usage = a.Usage
	}
	if ans.Usage == nil {
		ans.Usage = estimate(req, ans)
	}
	return ans
}

func (a Account) say(req Request) Answer {
	if a.Answer != nil {
		return a.Answer(req)
	}
	if tool, ok := req.wantsTool(); ok {
		return Answer{ToolCalls: []ToolCall{{Name: tool.Name, Arguments: sampleArguments(tool.Parameters)}}}
	}
	what := "answer"
	if req.LastRole == "tool" {
		what = "answer after a tool's result"
	}
	return Answer{Text: fmt.Sprintf("This is a simulated %s from account %q, model %q: no real model was called.", what, a.Name, req.Model)}
}

// wantsTool reports which tool the request insists on: by its tool choice, or because the user's message, being the last,
// names the tool or says "call a tool".
func (r Request) wantsTool() (Tool, bool) {
	if len(r.Tools) == 0 || r.ToolChoice == "none" || r.LastRole == "tool" {
		return Tool{}, false
	}
	said := strings.ToLower(r.LastUser)
	for _, tool := range r.Tools {
		if tool.Name == r.ToolChoice || r.LastRole == "user" && strings.Contains(said, strings.ToLower(tool.Name)) {
			return tool, true
		}
	}
	return r.Tools[0], r.ToolChoice == "required" || r.LastRole == "user" && strings.Contains(said, "call a tool")
}

// sampleArguments makes arguments that satisfy the required properties of a tool's JSON schema, by their types.
func sampleArguments(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	arguments := map[string]any{}
	if json.Unmarshal(schema, &s) == nil {
		for _, name := range s.Required {
			if enum := s.Properties[name].Enum; len(enum) > 0 {
				arguments[name] = enum[0]
				continue
			}
			arguments[name] = sampleValue(s.Properties[name].Type)
		}
	}
	text, _ := json.Marshal(arguments) // what was just decoded from JSON can be encoded
	return string(text)
}

func sampleValue(schemaType any) any {
	switch schemaType {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	case "null":
		return nil
	}
	return "simulated"
}

// callID is the id of a tool call as the protocol's provider makes them: no two are alike.
func callID(req Request, i int) string {
	prefix := "call"
	if req.Protocol == Messages {
		prefix = "toolu"
	}
	return fmt.Sprintf("%s_simulated%06d_%d", prefix, req.stamp.serial, i+1)
}

// estimate counts a token for every four bytes, as a rule of thumb does.
func estimate(req Request, ans Answer) *Usage {
	text, reasoning := len(ans.Text), tokens(len(ans.Reasoning))
	for _, call := range ans.ToolCalls {
		text += len(call.Name) + len(call.Arguments)
	}
	return &Usage{Prompt: req.PromptTokens, Completion: tokens(text)*req.N + reasoning, Reasoning: reasoning}
}

func tokens(length int) int { return (length + 3) / 4 }
