package simulator

import (
	"fmt"
	"slices"
)

const thinkingManual = "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"

// reviewSeal reviews that a thinking block is one that this account made, word for word.
func (m *messagesReview) reviewSeal(block node, kind string) {
	member := map[string]string{"thinking": "signature", "redacted_thinking": "data"}[kind]
	payload, own := unseal(m.in.account.Name, fromBase64(block.member(member).text()))
	if !own || kind == "thinking" && payload != digest(block.member("thinking").text()) {
		m.refuse(invalidMessages(fmt.Sprintf("%s: Invalid `%s` in `%s` block", block.at, member, kind)))
	}
	if block.member("cache_control").found {
		m.refuse(m.extra(block.under(kind), "cache_control"))
	}
}

// reviewThinking reviews what the request wants of the model's reasoning, and what that allows.
func (m *messagesReview) reviewThinking() {
	thinking := m.body.member("thinking")
	if !thinking.found {
		return
	}
	kind, ok := m.tagged(thinking, messagesThinking)
	if !ok || kind == "disabled" {
		return
	}
	m.req.reasons = true
	m.req.shows = !adaptiveModels.MatchString(m.req.Model) || thinking.member("display").is("summarized")
	if kind == "enabled" {
		m.reviewBudget(thinking.member("budget_tokens").integer())
		m.reviewThinkingLoop()
	}
	if choice := m.body.member("tool_choice").member("type"); choice.is("any") || choice.is("tool") {
		m.refuse(invalidMessages("Thinking may not be enabled when tool_choice forces tool use."))
	}
	if value, given := m.body.member("temperature").number(); given && value != 1 {
		m.refuse(invalidMessages("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. " + thinkingManual + "#important-considerations-when-using-extended-thinking"))
	}
	if value, given := m.body.member("top_p").number(); given && value < 0.95 {
		m.refuse(invalidMessages("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled. " + thinkingManual))
	}
	if m.body.member("top_k").found {
		m.refuse(invalidMessages("`top_k` must be unset when thinking is enabled. " + thinkingManual))
	}
}

func (m *messagesReview) reviewBudget(budget int) {
	interleaved := hasBeta(m.in.header, "interleaved-thinking-") && len(m.req.Tools) > 0 // a budget of all blocks together
	switch {
	case adaptiveModels.MatchString(m.req.Model):
		m.refuse(invalidMessages(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`))
	case budget < 1024:
		m.refuse(invalidMessages("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"))
	case !m.counting && !interleaved && budget >= m.body.member("max_tokens").integer():
		m.refuse(invalidMessages("`max_tokens` must be greater than `thinking.budget_tokens`. " + thinkingManual + "#max-tokens-and-context-window-size"))
	}
}

// reviewThinkingLoop reviews that a round of tools that is not over yet began with thinking: results of tools go back to the
// thoughts that led to them.
func (m *messagesReview) reviewThinkingLoop() {
	last := m.lastTurn()
	if last == nil || len(last.results) == 0 {
		return
	}
	i := len(m.turns) - 1
	for i > 0 && (m.turns[i].role == "assistant" || len(m.turns[i].results) > 0) {
		i--
	}
	begin := slices.IndexFunc(m.turns[i:], func(t messagesTurn) bool { return t.role == "assistant" })
	if begin < 0 {
		return
	}
	turn := m.turns[i+begin]
	if len(turn.kinds) > 0 && turn.kinds[0] != "thinking" && turn.kinds[0] != "redacted_thinking" {
		m.refuse(invalidMessages(fmt.Sprintf("%s.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. %s", turn.at, turn.kinds[0], thinkingManual)))
	}
}
