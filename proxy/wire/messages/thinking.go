package messages

import (
	"cmp"

	"hermes-hub/proxy/wire/neutral"
)

// defaultMaxTokens is max_tokens, which the protocol wants, when neither the client nor the model's description says one.
const defaultMaxTokens = 32_000

// leastBudget is the smallest budget_tokens that the API takes.
const leastBudget = 1024

// answerRoom is what is left for the answer beside a budget; of a small max_tokens, a quarter.
const answerRoom = 4096

// budgets are the tokens that each effort may spend where a model thinks by budget, in ascending order.
var budgets = []struct {
	effort string
	tokens int
}{{"minimal", leastBudget}, {"low", 4096}, {"medium", 8192}, {"high", 16_384}, {"xhigh", 32_000}}

// thinking is what is told to the model about it.
type thinking struct {
	kind      string // of the thinking member; "" = it is not sent
	budget    int    // of kind enabled
	effort    string // output_config.effort; "" = not sent
	maxTokens int
}

// on reports whether thinking was asked of the model.
func (t thinking) on() bool { return t.kind == "enabled" || t.kind == "adaptive" }

// think decides how the model thinks, and how long its answer may be. begun says that the last turn of calls has its
// thoughts with it, or that there is none; ended that the conversation ends with the assistant.
func (e *encoder) think(begun, ended bool) thinking {
	r := e.r
	t := thinking{maxTokens: cmp.Or(r.MaxTokens, e.t.MaxOutput, defaultMaxTokens)}
	if e.t.MaxOutput > 0 {
		t.maxTokens = min(t.maxTokens, e.t.MaxOutput)
	}
	wanted := r.ReasoningTokens > 0 || r.Effort != "" && r.Effort != "none"
	said := "reasoning_effort"
	if r.Effort == "" {
		said = "reasoning.max_tokens"
	}
	forced := e.m.forced && (r.Choice.Mode == neutral.ChoiceAny || r.Choice.Mode == neutral.ChoiceTool)
	switch {
	case r.Effort == "none":
		t.switchOff(e, said)
	case !wanted:
		if forced && e.m.standing && e.m.off != "" {
			t.kind = e.m.off
		}
	case forced && e.m.standing && e.m.off == "":
		t.effort = e.effort() // it thinks beside a forced call, too
	case e.m.thinking == thinksNever, forced:
		e.drop(said)
		if e.m.standing {
			t.kind = e.m.off
		}
	case e.m.thinking == thinksAdaptive:
		t.kind, t.effort = "adaptive", e.effort()
	case !begun || ended:
		e.drop(said)
	default:
		e.budget(&t, said)
	}
	return t
}

// switchOff makes the model not think, or as little as it can.
func (t *thinking) switchOff(e *encoder, said string) {
	switch {
	case e.m.thinking == thinksNever:
	case e.m.off != "":
		t.kind = e.m.off
	default:
		t.effort = "low"
		e.drop(said)
	}
}

// effort names the effort for a model that thinks by itself.
func (e *encoder) effort() string {
	effort := e.r.Effort
	if n := e.r.ReasoningTokens; n > 0 {
		effort = "xhigh"
		for _, b := range budgets {
			if n <= b.tokens {
				effort = b.effort
				break
			}
		}
	}
	switch {
	case effort == "minimal":
		return "low"
	case effort == "xhigh" && !e.m.xhigh:
		return "max"
	}
	return effort
}

// budget finds how much a model may think that thinks by budget, which must be less than max_tokens.
func (e *encoder) budget(t *thinking, said string) {
	want := e.r.ReasoningTokens
	for _, b := range budgets {
		if want == 0 && b.effort == e.r.Effort {
			want = b.tokens
		}
	}
	want = max(want, leastBudget)
	if e.r.MaxTokens == 0 {
		t.maxTokens = max(t.maxTokens, want+answerRoom)
		if e.t.MaxOutput > 0 {
			t.maxTokens = min(t.maxTokens, e.t.MaxOutput)
		}
	}
	budget := min(want, t.maxTokens-min(t.maxTokens/4, answerRoom))
	if budget < leastBudget {
		e.drop(said)
		return
	}
	if budget < e.r.ReasoningTokens {
		e.drop("reasoning.max_tokens")
	}
	t.kind, t.budget = "enabled", budget
}
