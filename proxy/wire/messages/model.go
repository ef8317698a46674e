package messages

import (
	"strconv"
	"strings"
)

// thinkingForm is how a model is told to think.
type thinkingForm uint8

const (
	thinksNever    thinkingForm = iota // the member is unknown to the model
	thinksByBudget                     // {"type": "enabled", "budget_tokens": n}
	thinksAdaptive                     // {"type": "adaptive"} and output_config.effort
)

// model is what of the protocol one model takes. Facts are Anthropic's migration guides and the API's own refusals.
type model struct {
	claude   bool // Anthropic's; others speak the protocol with their own signatures, or with none
	thinking thinkingForm
	off      string // thinking.type that switches thinking off; "" = it cannot be
	standing bool   // thinks unless it is told not to
	xhigh    bool   // knows the effort xhigh; where not, max is next to high
	sampling bool   // takes temperature, top_p and top_k
	forced   bool   // takes a tool_choice that forces a call
	prefill  bool   // takes an assistant's turn at the end, to go on from
	schemas  bool   // takes output_config.format
}

// modelOf reads the name of a model. A Claude that the table does not know is taken for the newest: later ones have always
// taken less than earlier ones. Dots and a prefix ("anthropic/claude-opus-4.6") do not matter.
func modelOf(name string) model {
	name = strings.ReplaceAll(strings.ToLower(name), ".", "-")
	_, after, ok := strings.Cut(name, "claude")
	if !ok {
		form := thinksByBudget
		if strings.Contains(name, "kimi") {
			form = thinksAdaptive
		}
		return model{thinking: form, off: "disabled", xhigh: true, sampling: true, forced: true, prefill: true, schemas: true}
	}
	family, v := familyOf(strings.FieldsFunc(after, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}))
	m := model{claude: true, thinking: thinksAdaptive, off: "disabled", schemas: v >= 405, forced: true}
	switch {
	case v < 307:
		m.thinking, m.off = thinksNever, ""
	case v < 406:
		m.thinking = thinksByBudget
	}
	m.sampling, m.xhigh, m.prefill = v < 407, v >= 407, v < 406
	m.standing = v >= 500
	switch {
	case v >= 500 && family != "opus" && family != "sonnet" && family != "haiku": // Fable, Mythos and what comes after them
		m.off, m.forced, m.standing = "", v < 501, true
	case family == "opus" && v >= 505:
		m.off, m.forced = "", false
	case family == "sonnet" && v >= 505:
		m.off = "between_tools"
	}
	return m
}

// newest is the version of a name that tells none.
const newest = 9999

// familyOf reads "opus-4-6-20260101", "3-5-sonnet-20241022" and "fable-5-1": the family and the version, 4.6 as 406.
func familyOf(words []string) (family string, version int) {
	version = newest
	for i, w := range words {
		n, err := strconv.Atoi(w)
		switch {
		case err != nil && family == "":
			family = w
		case err == nil && n < 100 && version == newest:
			version = n * 100
			if i+1 < len(words) {
				if minor, err := strconv.Atoi(words[i+1]); err == nil && minor < 100 {
					version += minor
				}
			}
		}
	}
	return family, version
}
