package simulator

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// responsesObject is a whole answer, and what the events of a stream tell of it.
type responsesObject struct {
	ID         string          `json:"id"`
	Object     string          `json:"object"`
	Created    int64           `json:"created_at"`
	Status     string          `json:"status"`
	Background bool            `json:"background"`
	Error      any             `json:"error"`
	Incomplete any             `json:"incomplete_details"`
	Model      string          `json:"model"`
	Output     []any           `json:"output"`
	Usage      *responsesUsage `json:"usage"`
	responsesEcho
}

type responsesUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

func responsesUsageOf(u *Usage) *responsesUsage {
	if u == nil {
		return nil
	}
	out := &responsesUsage{Input: u.Prompt, Output: u.Completion, Total: u.Prompt + u.Completion}
	out.InputDetails.Cached, out.OutputDetails.Reasoning = u.Cached, u.Reasoning
	return out
}

type responsesReasoning struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Summary   []responsesPart `json:"summary"`
	Encrypted string          `json:"encrypted_content,omitempty"`
}

type responsesMessage struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Status  string          `json:"status"`
	Content []responsesPart `json:"content"`
	Role    string          `json:"role"`
}

// responsesPart is a text: of a summary, or of the answer.
type responsesPart struct{ Type, Text string }

// MarshalJSON writes beside a text of the answer what it has there.
func (p responsesPart) MarshalJSON() ([]byte, error) {
	if p.Type == "summary_text" {
		return encode(map[string]string{"type": p.Type, "text": p.Text}), nil
	}
	return encode(struct {
		Type        string     `json:"type"`
		Annotations []struct{} `json:"annotations"`
		Logprobs    []struct{} `json:"logprobs"`
		Text        string     `json:"text"`
	}{p.Type, []struct{}{}, []struct{}{}, p.Text}), nil
}

type responsesCall struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
}

// fernet is how encrypted content begins: gAAAAA.
var fernet = []byte{0x80, 0, 0, 0, 0}

// encryptedContent is reasoning that only the account can read.
func encryptedContent(account, reasoning string) string {
	return base64.URLEncoding.EncodeToString(append(fernet[:5:5], seal(account, reasoning)...))
}

// decrypts reports whether the content was made by the account, and whether it is such a content at all.
func decrypts(account, content string) (own, whole bool) {
	token, err := base64.URLEncoding.DecodeString(content)
	if err != nil || len(token) < len(fernet)+sealSize || !strings.HasPrefix(content, "gAAAAA") {
		return false, false
	}
	_, own = unseal(account, token[len(fernet):])
	return own, true
}

// itemID names an item of the answer.
func itemID(prefix string, st stamp, i int) string {
	return fmt.Sprintf("%s_simulated%06d_%d", prefix, st.serial, i)
}

// responsesOutput are the items of the answer, reasoning first.
func responsesOutput(req Request, ans Answer, st stamp) []any {
	output := []any{}
	if ans.Reasoning != "" && req.reasons {
		item := responsesReasoning{ID: itemID("rs", st, 0), Type: "reasoning", Summary: []responsesPart{}}
		if req.shows && !ans.Hidden {
			item.Summary = append(item.Summary, responsesPart{Type: "summary_text", Text: ans.Reasoning})
		}
		if req.encrypted {
			item.Encrypted = encryptedContent(req.Account, ans.Reasoning)
		}
		output = append(output, item)
	}
	if ans.Text != "" || len(ans.ToolCalls) == 0 {
		output = append(output, responsesMessage{ID: itemID("msg", st, len(output)), Type: "message", Status: "completed", Role: "assistant", Content: []responsesPart{{Type: "output_text", Text: ans.Text}}})
	}
	for _, call := range ans.ToolCalls {
		output = append(output, responsesCall{ID: itemID("fc", st, len(output)), Type: "function_call", Status: "completed", Arguments: call.Arguments, CallID: call.ID, Name: call.Name})
	}
	return output
}

// responsesOpen is the answer before there is any of it.
func responsesOpen(req Request, st stamp) responsesObject {
	return responsesObject{
		ID: fmt.Sprintf("resp_simulated%06d", st.serial), Object: "response", Created: st.created.Unix(), Status: "in_progress",
		Model: req.Model, Output: []any{}, responsesEcho: req.echo,
	}
}

// responsesDone is the whole answer.
func responsesDone(req Request, ans Answer, st stamp) responsesObject {
	out := responsesOpen(req, st)
	out.Status, out.Output, out.Usage = "completed", responsesOutput(req, ans, st), responsesUsageOf(ans.Usage)
	reason := map[string]string{"length": "max_output_tokens"}[ans.Finish]
	if reason = cmp.Or(reason, ans.Finish); reason != "" && reason != "completed" {
		out.Status, out.Incomplete = "incomplete", map[string]string{"reason": reason}
	}
	return out
}

// responsesWhole writes the answer in one piece.
func responsesWhole(req Request, ans Answer, st stamp) []byte {
	return encode(responsesDone(req, ans, st))
}

// responsesEchoOf is what of a request its answer repeats.
func responsesEchoOf(body node) responsesEcho {
	say := func(name, usual string) json.RawMessage {
		if said := body.member(name); kindOf(said.value) != isNull {
			return said.json()
		}
		return json.RawMessage(usual)
	}
	return responsesEcho{
		Instructions: say("instructions", "null"), MaxOutput: say("max_output_tokens", "null"), Parallel: say("parallel_tool_calls", "true"),
		Previous: say("previous_response_id", "null"), Reasoning: say("reasoning", `{"effort":null,"summary":null}`), Store: say("store", "true"),
		Temperature: say("temperature", "1.0"), Text: say("text", `{"format":{"type":"text"}}`), ToolChoice: say("tool_choice", `"auto"`),
		Tools: say("tools", "[]"), TopP: say("top_p", "1.0"), Truncation: say("truncation", `"disabled"`), User: say("user", "null"), Metadata: say("metadata", "{}"),
	}
}
