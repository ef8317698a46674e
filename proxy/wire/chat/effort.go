package chat

import (
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// defaultEffort is what reasoning that is only switched on means, as OpenRouter documents it.
const defaultEffort = "medium"

// reasoning reads how much the model shall think, in each of the ways that clients say it.
func (b *body) reasoning(o *members.Object, r *neutral.Request) {
	b.settle(o, "reasoning_effort", r)
	on := false
	if c, ok := o.Child("reasoning"); ok {
		b.settle(&c, "effort", r)
		b.budget(&c, "max_tokens", r)
		on = b.enabled(&c, r)
		c.Rest() // exclude and summary are among it: an answer carries the thoughts, and clients may leave them unread
	}
	if c, ok := o.Child("thinking"); ok {
		switch c.OneOf("type", "enabled", "adaptive", "auto", "disabled") {
		case "enabled", "adaptive", "auto":
			on = true
		case "disabled":
			b.effort("thinking.type", "none", r)
		}
		b.budget(&c, "budget_tokens", r)
		c.Rest()
	}
	if on && r.Effort == "" && r.ReasoningTokens == 0 {
		r.Effort = defaultEffort
	}
	if r.Effort == "none" && r.ReasoningTokens > 0 {
		b.Refuse("reasoning", "is switched off and has tokens to spend")
	}
}

// settle reads one member that names an effort.
func (b *body) settle(o *members.Object, name string, r *neutral.Request) {
	e := o.OneOf(name, "none", "minimal", "low", "medium", "high", "xhigh", "max", "default", "auto")
	switch e {
	case "", "default", "auto":
		return
	case "max":
		e = "xhigh"
	}
	b.effort(o.Field(name), e, r)
}

// effort sets the effort, which may be said twice but not in two ways.
func (b *body) effort(field, effort string, r *neutral.Request) {
	if r.Effort != "" && r.Effort != effort {
		b.Refuse(field, "contradicts another member that says how much to reason")
	}
	r.Effort = effort
}

// budget reads how many tokens may be spent on reasoning; none means no reasoning.
func (b *body) budget(o *members.Object, name string, r *neutral.Request) {
	n, said := o.Tokens(name, 0)
	switch {
	case !said:
	case n == 0:
		b.effort(o.Field(name), "none", r)
	case r.ReasoningTokens != 0 && r.ReasoningTokens != n:
		b.Refuse(o.Field(name), "contradicts another member that says how much to reason")
	default:
		r.ReasoningTokens = n
	}
}

// enabled reads reasoning.enabled and reports whether it switches reasoning on.
func (b *body) enabled(c *members.Object, r *neutral.Request) bool {
	p := c.Flag("enabled")
	if p == nil {
		return false
	}
	if !*p {
		b.effort(c.Field("enabled"), "none", r)
	}
	return *p
}
