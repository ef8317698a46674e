package simulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"hermes-hub/proxy/simulator"
)

// spoken is one protocol as its client sees it.
type spoken struct {
	path, streamPath string
	header           http.Header
	plain, stream    string
	hear             func(h *heard, get func(path string) string)
}

// heard is what a client has of an answer.
type heard struct {
	text, arguments              string
	finish, usage, done, failure bool
}

var otherProtocols = map[simulator.Protocol]spoken{
	simulator.Messages: {
		"/v1/messages", "/v1/messages", messagesHeader,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`,
		`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hello"}]}`,
		hearMessages,
	},
	simulator.Responses: {
		"/v1/responses", "/v1/responses", bearerHeader,
		`{"model":"m","input":"hello"}`, `{"model":"m","stream":true,"input":"hello"}`, hearResponses,
	},
	simulator.Gemini: {
		"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse", googleHeader,
		`{"contents":[{"parts":[{"text":"hello"}]}]}`, `{"contents":[{"parts":[{"text":"hello"}]}]}`, hearGemini,
	},
	simulator.CloudCode: {
		"/v1internal:generateContent", "/v1internal:streamGenerateContent?alt=sse", bearerHeader,
		`{"model":"m","project":"p","request":{"contents":[{"parts":[{"text":"hello"}]}]}}`, `{"model":"m","project":"p","request":{"contents":[{"parts":[{"text":"hello"}]}]}}`,
		func(h *heard, get func(string) string) {
			hearGemini(h, func(path string) string {
				if strings.HasPrefix(path, "error") {
					return get(path)
				}
				return get("response." + path)
			})
		},
	},
}

func hearMessages(h *heard, get func(string) string) {
	for _, block := range items(get("content")) {
		h.text += member(block, "text")
		h.arguments += member(block, "input")
	}
	h.text += get("delta.text")
	h.arguments += get("delta.partial_json")
	h.finish = h.finish || get("delta.stop_reason") != "" || get("stop_reason") != ""
	h.usage = h.usage || get("usage") != ""
	h.done = h.done || get("type") == "message_stop"
	h.failure = h.failure || get("type") == "error"
}

func hearResponses(h *heard, get func(string) string) {
	for _, item := range items(get("output")) {
		h.text += member(item, "content.0.text")
		h.arguments += member(item, "arguments")
	}
	switch get("type") {
	case "response.output_text.delta":
		h.text += get("delta")
	case "response.function_call_arguments.delta":
		h.arguments += get("delta")
	case "response.completed":
		h.finish, h.done = true, true
		h.usage = get("response.usage") != ""
	case "response.failed", "error":
		h.failure = true
	}
	h.finish = h.finish || get("status") == "completed"
	h.usage = h.usage || strings.HasPrefix(get("usage"), "{")
	h.failure = h.failure || strings.HasPrefix(get("error"), "{")
}

func hearGemini(h *heard, get func(string) string) {
	for _, part := range items(get("candidates.0.content.parts")) {
		h.text += member(part, "text")
		h.arguments += member(part, "functionCall.args")
	}
	h.finish = h.finish || get("candidates.0.finishReason") != ""
	h.usage = h.usage || get("usageMetadata.candidatesTokenCount") != ""
	h.failure = h.failure || get("error") != ""
}

// items are the items of a JSON array as texts.
func items(list string) []string {
	var raw []json.RawMessage
	_ = json.Unmarshal([]byte(list), &raw) // what is no list has none
	texts := make([]string, len(raw))
	for i, text := range raw {
		texts[i] = string(text)
	}
	return texts
}

// getter reads members of a JSON that is read once.
func getter(data []byte) func(path string) string {
	var tree any
	_ = json.Unmarshal(data, &tree) // what is no JSON has no members
	return func(path string) string {
		at := tree
		for name := range strings.SplitSeq(path, ".") {
			switch v := at.(type) {
			case map[string]any:
				at = v[name]
			case []any:
				i, err := strconv.Atoi(name)
				if err != nil || i >= len(v) {
					return ""
				}
				at = v[i]
			default:
				return ""
			}
		}
		if text, ok := at.(string); ok || at == nil {
			return text
		}
		text, _ := json.Marshal(at) // it was just decoded
		return string(text)
	}
}

// sees tells in a line what a client of the protocol saw, in the words of seen.
func (p spoken) sees(resp *http.Response, body []byte, err error) string {
	if resp == nil {
		return "no answer: " + ending(err)
	}
	h := &heard{}
	list := dataLines(body)
	for _, data := range list {
		p.hear(h, getter(data))
	}
	words := []string{resp.Status[:3], kindOf(resp.Header.Get("Content-Type"))}
	if resp.Uncompressed {
		words = append(words, "gunzipped")
	}
	switch {
	case len(body) == 0:
		words = append(words, "empty")
	case len(list) == 0 && !json.Valid(body):
		words = append(words, "other")
	case len(list) == 0:
		p.hear(h, getter(body))
	}
	words = append(words, extent("text", h.text, strings.HasSuffix(h.text, `from account "a", model "m": no real model was called.`) || len(h.text) > 4e6))
	words = append(words, extent("arguments", h.arguments, strings.HasSuffix(h.arguments, "}")))
	for _, mark := range []struct {
		there bool
		word  string
	}{{h.finish, "finish"}, {h.usage, "usage"}, {h.done, "done"}, {h.failure, "error"}} {
		if mark.there {
			words = append(words, mark.word)
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ") + ", " + ending(err)
}

// differently is what a step means in a protocol where it is not what it means in chat completions: to a stream request, and
// to a plain one. "" is no difference.
var differently = map[simulator.Protocol]map[string][2]string{
	simulator.Messages: {
		"429-insufficient-quota": {"400 json error, end", "400 json error, end"},
		"503":                    {"529 json error, end", "529 json error, end"},
		// The token counts come with the finish reason.
		"finish-missing":  {"200 stream text done, end", ""},
		"stream-to-plain": {"", "200 stream text finish usage done, end"},
	},
	simulator.Responses: {
		// The finish reason, the token counts and the last word are one event.
		"cut-before-done": {"200 stream text, end", ""},
		"finish-missing":  {"200 stream text finish usage done, end", ""},
		"done-only":       {"200 stream finish usage done, end", ""},
		"stream-to-plain": {"", "200 stream text finish usage done, end"},
		"truncated-chunk": {"200 stream text, unexpected EOF", ""}, // the last event is the longest
	},
	simulator.Gemini: withGoogle(map[string][2]string{
		"401": {"400 json error, end", "400 json error, end"},
		"402": {"400 json error, end", "400 json error, end"},
		"403": {"400 json error, end", "400 json error, end"},
	}),
	simulator.CloudCode: withGoogle(map[string][2]string{
		"402": {"429 json error, end", "429 json error, end"},
	}),
}

// withGoogle adds what Google's protocols have in common: the finish reason and the token counts are one event, there is no
// last word, nothing comes before the first piece, and a call of a tool is one piece.
func withGoogle(steps map[string][2]string) map[string][2]string {
	maps.Copy(steps, map[string][2]string{
		"529":                  {"503 json error, end", "503 json error, end"},
		"finish-missing":       {"200 stream text, end", ""},
		"done-only":            {"200 stream finish, end", ""},
		"stream-to-plain":      {"", "200 stream text finish usage, end"},
		"empty-deltas":         {"", "200 json finish, end"},
		"cut-tool-arguments":   {"200 stream empty, end", ""},
		"reset-tool-arguments": {"200 stream empty, reset", ""},
		"cut-reset 0":          {"200 stream empty, reset", ""},
	})
	return steps
}

// TestStepsInAllProtocols proves that every step means in every protocol what it means in chat completions, where the
// protocol allows it.
func TestStepsInAllProtocols(t *testing.T) {
	steps := []simulator.StepName{"cut-reset 0"}
	for _, info := range simulator.Steps() {
		if name := string(info.Name); name != "hang" && !strings.HasPrefix(name, "stall") {
			steps = append(steps, info.Name)
		}
	}
	for protocol, p := range otherProtocols {
		t.Run(string(protocol), inBubble(func(t *testing.T) {
			c := inMemory("", p.header, simulator.Account{Name: "a", Key: "sk-a"})
			ask := func(step simulator.StepName, path, body string) string {
				c.Push("a", step)
				req := c.request(t.Context(), t, body)
				req.URL.Path, req.URL.RawQuery, _ = strings.Cut(path, "?")
				req.Header = p.header.Clone()
				req.Header.Set("Content-Type", "application/json")
				return p.sees(c.do(req))
			}
			for _, step := range steps {
				c.Push("a", step, step)
				stream, plain := seen(c.ask(t, strings.Replace(streamBody, "gpt-5.5", "m", 1))), seen(c.ask(t, strings.Replace(plainBody, "gpt-5.5", "m", 1)))
				stream, plain = strings.Replace(stream, "part-text finish", "text finish", 1), strings.Replace(plain, "part-text finish", "text finish", 1)
				for i, want := range []string{stream, plain} {
					if other := differently[protocol][string(step)][i]; other != "" {
						want = other
					} else if protocol == simulator.Gemini || protocol == simulator.CloudCode {
						want = strings.Replace(want, " done", "", 1)
					}
					path, body := p.path, p.plain
					if i == 0 {
						path, body = p.streamPath, p.stream
					}
					if got := ask(step, path, body); got != want {
						t.Errorf("%q: the client of %s saw\n     %s\nwant %s", step, path, got, want)
					}
				}
			}
		}))
	}
}

// inBubble runs the test on a clock of its own.
func inBubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}
