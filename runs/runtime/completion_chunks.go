package runtime

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// mostOutput is how long the answer may be, as JSON, for the row of the end to repeat it. A longer one is what the deltas add
// up to: the journal would cut it.
const mostOutput = 200 << 10

// chatAnswer makes events of chat completion chunks.
type chatAnswer struct {
	message string // id of the assistant's message
	route   route

	text     strings.Builder
	thoughts strings.Builder // of the block that goes on
	blocks   int
	tools    bool // it asked for tools, which nobody runs
	finish   string
	done     bool // [DONE] was read
	usage    *runs.Usage
}

func (a *chatAnswer) routed(r route) { a.route = r }

// event takes one chunk. What is no chunk is an answer that broke off; unknown members are no matter.
func (a *chatAnswer) event(w *runs.Writer, data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		a.done = true
		return true, nil
	}
	if !gjson.ValidBytes(data) {
		return false, interrupted()
	}
	chunk := gjson.ParseBytes(data)
	if e := chunk.Get("error"); e.Exists() && e.Type != gjson.Null {
		return false, refusedBy(0, nil, data).during()
	}
	a.route.model = cmp.Or(a.route.model, chunk.Get("model").Str)
	if u := chunk.Get("usage"); u.IsObject() {
		usage := usageOf(u)
		a.usage = &usage
	}
	choice := chunk.Get("choices.0")
	delta := choice.Get("delta")
	if !delta.Exists() {
		delta = choice.Get("message")
	}
	a.say(w, delta)
	a.finish = cmp.Or(choice.Get("finish_reason").Str, a.finish)
	return false, nil
}

// during is a failure that an answer told of after it had begun.
func (f *failure) during() *failure {
	f.Details = nil
	if f.Code == "http_0" {
		f.Code = "upstream_error"
	}
	return f
}

// say tells what a delta says.
func (a *chatAnswer) say(w *runs.Writer, delta gjson.Result) {
	thought := cmp.Or(delta.Get("reasoning_content").Str, delta.Get("reasoning").Str)
	if thought != "" {
		a.thoughts.WriteString(thought)
		_ = w.Append(runs.ReasoningDelta{BlockID: a.block(), Delta: thought}) // what is refused here is refused at the end, too
	}
	for _, said := range []struct{ member, kind string }{{"content", ""}, {"refusal", "refusal"}} {
		text := delta.Get(said.member).Str
		if text == "" {
			continue
		}
		a.closeBlock(w)
		a.text.WriteString(text)
		_ = w.Append(runs.TokenDelta{MessageID: a.message, Delta: text, ContentType: said.kind})
	}
	if calls := delta.Get("tool_calls"); len(calls.Array()) > 0 && !a.tools {
		a.tools = true
		_ = w.Append(runs.Progress{Phase: "tool_calls_ignored", Text: "The model asked for a tool; this runtime runs none."})
	}
}

func (a *chatAnswer) block() string { return a.message + "_thought_" + strconv.Itoa(a.blocks) }

// closeBlock tells a block of thoughts as a whole, if one goes on.
func (a *chatAnswer) closeBlock(w *runs.Writer) {
	if a.thoughts.Len() == 0 {
		return
	}
	_ = w.Append(runs.ReasoningDone{BlockID: a.block(), Text: a.thoughts.String()})
	a.thoughts.Reset()
	a.blocks++
}

func (a *chatAnswer) whole(w *runs.Writer, body []byte) error {
	_, err := a.event(w, body)
	return err
}

func (a *chatAnswer) settle(w *runs.Writer, took time.Duration) {
	a.closeBlock(w)
	tellUsage(w, a.usage, a.route, took)
}

func (a *chatAnswer) end(w *runs.Writer) error {
	switch {
	case a.finish == "" && !a.done:
		return interrupted()
	case a.finish == "error":
		return fails("upstream_error", "The model's answer ended with an error.")
	case a.text.Len() == 0 && a.blocks == 0 && a.finish == "content_filter":
		return fails("content_filter", "The answer was withheld by the provider's content filter.")
	case a.text.Len() == 0 && a.blocks == 0:
		return fails("empty_response", "The model's answer was empty.")
	case a.finish == "length":
		_ = w.Append(runs.Progress{Phase: "length", Text: "The answer was cut where its limit of tokens was reached."})
	case a.finish == "content_filter":
		_ = w.Append(runs.Progress{Phase: "content_filter", Text: "The answer was cut by the provider's content filter."})
	}
	end := runs.RunDone{Usage: a.usage}
	if quoted, err := json.Marshal(a.text.String()); err == nil && len(quoted) <= mostOutput {
		end.Output = a.text.String()
	}
	return w.Append(end)
}

// tellUsage tells what was consumed, if that is known.
func tellUsage(w *runs.Writer, u *runs.Usage, r route, took time.Duration) {
	if u == nil {
		return
	}
	u.Model, u.Profile, u.Duration = cmp.Or(r.model, u.Model), r.profile, took.Seconds()
	_ = w.Append(runs.UsageFinal{Usage: *u}) // refused when the run is sealed
}

// usageOf reads usage in the words of either of OpenAI's protocols.
func usageOf(u gjson.Result) runs.Usage {
	first := func(names ...string) (v gjson.Result) {
		for _, name := range names {
			if v = u.Get(name); v.Type == gjson.Number {
				return v
			}
		}
		return gjson.Result{}
	}
	usage := runs.Usage{
		InputTokens: first("prompt_tokens", "input_tokens").Int(), OutputTokens: first("completion_tokens", "output_tokens").Int(),
		TotalTokens:     first("total_tokens").Int(),
		CacheReadTokens: first("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens").Int(),
	}
	if usage.TotalTokens == 0 {
		usage.TotalTokens = usage.InputTokens + usage.OutputTokens
	}
	if cost := first("cost", "estimated_cost_usd", "estimated_cost"); cost.Exists() {
		dollars := cost.Num
		usage.Cost = &dollars
	}
	return usage
}
