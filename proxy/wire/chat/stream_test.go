package chat

import (
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// thinking is an answer with everything: a thought with its seal, text, two parallel calls, one of them without arguments.
var thinking = []neutral.Event{
	{Kind: neutral.Started, ID: "msg_1", Name: "claude", Tool: -1},
	{Kind: neutral.Reasoning, Tool: -1, Text: neutral.Literal(`"Let me "`), Seal: neutral.Seal{Format: neutral.SealAnthropic}},
	{Kind: neutral.Reasoning, Tool: -1, Text: neutral.Literal(`"look."`), Seal: neutral.Seal{Format: neutral.SealAnthropic}},
	{Kind: neutral.Sealed, Tool: -1, Seal: neutral.Seal{Format: neutral.SealAnthropic, Data: "sig=="}},
	{Kind: neutral.Sealed, Tool: -1, Seal: neutral.Seal{Format: neutral.SealAnthropic, Data: "hidden==", Hidden: true}},
	{Kind: neutral.Text, Tool: -1, Text: neutral.Literal(`"Two \"files\"."`)},
	{Kind: neutral.ToolStarted, Tool: 0, ID: "call_a", Name: "read"},
	{Kind: neutral.ToolArguments, Tool: 0, Text: neutral.Literal(`"{\"path\":"`)},
	{Kind: neutral.ToolArguments, Tool: 0, Text: neutral.Literal(`"\"a.go\"}"`)},
	{Kind: neutral.ToolStarted, Tool: 1, ID: "call_b", Name: "list"},
	{Kind: neutral.Counted, Tool: -1, Usage: wire.Usage{Input: 120, Output: 30, CacheRead: 100, Reasoning: 9, Known: true}},
	{Kind: neutral.Finished, Tool: -1, Finish: neutral.FinishTools},
}

// P18: what a client of chat completions gets of it, piece by piece and whole.
func TestAnswerGolden(t *testing.T) {
	archives(t, "answer", func(t *testing.T, files map[string]string) {
		s := Stream{ID: "chatcmpl-1", Model: "coder", Created: 7, WantsUse: true}
		a := Answer{ID: "chatcmpl-1", Model: "coder", Created: 7}
		var out []byte
		for i := range thinking {
			out = s.Append(out, &thinking[i])
			a.Add(&thinking[i])
		}
		same(t, "stream", strings.TrimSpace(string(s.End(out)))+"\n", files["stream"])
		same(t, "answer", string(a.Append(nil))+"\n", files["answer"])
	})
}
