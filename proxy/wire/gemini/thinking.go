package gemini

import (
	"cmp"
	"strconv"

	"hermes-hub/proxy/wire/neutral"
)

// thinking is a thinkingConfig. A model is told by one of level and budget, never by both: that is a 400.
type thinking struct {
	thoughts bool
	level    string
	budget   int
	budgeted bool
}

func (t thinking) said() bool { return t.thoughts || t.level != "" || t.budgeted }

func (t thinking) write(e *encoder) {
	e.raw("{")
	if t.level != "" {
		e.member("thinkingLevel")
		e.quote(t.level)
	}
	if t.budgeted {
		e.member("thinkingBudget")
		e.dst = strconv.AppendInt(e.dst, int64(t.budget), 10)
	}
	if t.thoughts {
		e.member("includeThoughts")
		e.raw("true")
	}
	e.raw("}")
}

// budgets are the tokens that an effort is worth: those of Google's own chat endpoint
// (ai.google.dev/gemini-api/docs/openai, thinking).
var budgets = map[string]int{"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768}

// thinking decides how much is thought, and how long the answer may be then; most is 0 where nobody says.
func (e *encoder) thinking() (t thinking, most int) {
	most = e.r.MaxTokens
	if e.t.MaxOutput > 0 {
		most = min(most, e.t.MaxOutput)
	}
	switch {
	case e.m.claude:
		return e.claudeThinking(most)
	case !e.m.thinks():
		if e.asked() && e.r.Effort != "none" {
			e.dropEffort()
		}
		return thinking{}, most
	}
	// Gemini 2.5 Flash-Lite does not think unasked, and may not be asked for thoughts then.
	t.thoughts = e.r.Effort != "none" && (e.asked() || e.m.levels() || !e.m.lite)
	if !e.asked() {
		return t, most
	}
	if e.m.levels() {
		t.level = e.level()
	} else {
		t.budget, t.budgeted = e.budget(), true
	}
	return t, most
}

// asked reports whether the client said how much to think.
func (e *encoder) asked() bool { return e.r.Effort != "" || e.r.ReasoningTokens > 0 }

// dropEffort names what the client said of it.
func (e *encoder) dropEffort() {
	if e.r.Effort != "" {
		e.drop("reasoning_effort")
	}
	if e.r.ReasoningTokens > 0 {
		e.drop("reasoning.max_tokens")
	}
}

// level is the thinkingLevel nearest to what was asked for (ai.google.dev/gemini-api/docs/thinking): there is no off; MINIMAL
// is known to the Flash models of Gemini 3 alone, MEDIUM to all but Gemini 3 Pro.
func (e *encoder) level() string {
	effort := e.r.Effort
	if effort != "" && e.r.ReasoningTokens > 0 {
		e.drop("reasoning.max_tokens")
	}
	if effort == "" {
		switch n := e.r.ReasoningTokens; {
		case n <= budgets["low"]:
			effort = "low"
		case n <= budgets["medium"]:
			effort = "medium"
		default:
			effort = "high"
		}
	}
	if effort == "none" { // it thinks nonetheless
		e.dropEffort()
	}
	switch effort {
	case "none", "minimal":
		if !e.m.pro && e.m.generation < 4 {
			return "MINIMAL"
		}
		return "LOW"
	case "low":
		return "LOW"
	case "medium":
		if !e.m.pro || e.m.generation > 3 {
			return "MEDIUM"
		}
	}
	return "HIGH"
}

// budget is the thinkingBudget of a Gemini 2.5 model, within what it takes (ai.google.dev/gemini-api/docs/thinking): Pro
// cannot be switched off.
func (e *encoder) budget() int {
	least, most := 1, 24576
	switch {
	case e.m.lite:
		least = 512
	case e.m.pro:
		least, most = 128, 32768
	}
	if e.r.Effort == "none" {
		if !e.m.pro {
			return 0
		}
		e.dropEffort()
	}
	return min(max(cmp.Or(e.r.ReasoningTokens, budgets[e.r.Effort]), least), most)
}

// Claude's own rules hold behind Cloud Code too (docs.claude.com, extended thinking): a budget has 1024 tokens or more and
// leaves room for the answer; a step that goes on after a call begins with its signed thoughts; a call cannot be forced.
const (
	leastClaude = 1024
	roomClaude  = 8192
)

func (e *encoder) claudeThinking(most int) (thinking, int) {
	if !e.asked() || e.r.Effort == "none" {
		return thinking{}, most
	}
	budget := max(cmp.Or(e.r.ReasoningTokens, budgets[e.r.Effort]), leastClaude)
	if most == 0 {
		most = cmp.Or(e.t.MaxOutput, budget+roomClaude)
	}
	budget = min(budget, most-1)
	forced := e.r.Choice.Mode == neutral.ChoiceAny || e.r.Choice.Mode == neutral.ChoiceTool
	if budget < leastClaude || forced || !e.signedStep() {
		e.dropEffort()
		return thinking{}, e.r.MaxTokens
	}
	return thinking{thoughts: true, budget: budget, budgeted: true}, most
}

// signedStep reports whether the calls since the user spoke last, if there are any, stand behind signed thoughts.
func (e *encoder) signedStep() bool {
	turns := e.r.Turns
	for i := len(turns) - 1; i >= 0 && turns[i].Role != neutral.User; i-- {
		if turns[i].Role != neutral.Assistant || len(callsIn(turns[i:i+1])) == 0 {
			continue
		}
		if p := turns[i].Parts[0]; p.Kind != neutral.ReasoningPart || p.Seal.Format != neutral.SealAnthropic || p.Text.Empty() {
			return false
		}
	}
	return true
}
