package responses

import (
	"slices"
	"strings"
)

// family is what is known of the models whose names begin so. The longest beginning counts.
type family struct {
	begins  string
	efforts []string // that they know, from the least; nil = they do not reason
}

// families are OpenAI's. Of models that are in none, nothing is taken away.
//
// Sources: OpenAI's model pages; "Unsupported parameter: 'temperature' is not supported with this model",
// "Unsupported value: 'reasoning.effort' does not support …" and "Encrypted content is not supported with this model".
var families = []family{
	{"gpt-3.5", nil},
	{"gpt-4", nil},
	{"chatgpt-", nil},
	{"gpt-5-chat", nil},
	{"gpt-5.1-chat", nil},
	{"gpt-5.2-chat", nil},
	{"gpt-5.3-chat", nil},
	{"o1", []string{"low", "medium", "high"}},
	{"o3", []string{"low", "medium", "high"}},
	{"o4", []string{"low", "medium", "high"}},
	{"gpt-5", []string{"minimal", "low", "medium", "high"}},
	{"gpt-5-codex", []string{"low", "medium", "high"}},
	{"gpt-5-pro", []string{"high"}},
	{"gpt-5.", []string{"none", "low", "medium", "high", "xhigh"}},
	{"gpt-5.1", []string{"none", "low", "medium", "high"}},
	{"gpt-5.1-codex", []string{"low", "medium", "high"}},
	{"gpt-5.1-codex-max", []string{"low", "medium", "high", "xhigh"}},
	{"gpt-5.2-codex", []string{"low", "medium", "high", "xhigh"}},
	{"gpt-5.3-codex", []string{"low", "medium", "high", "xhigh"}},
}

// allEfforts are the efforts from the least.
var allEfforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

// familyOf finds the family of a model; ok is false for one that nothing is known of.
func familyOf(model string) (f family, ok bool) {
	for _, c := range families {
		if strings.HasPrefix(model, c.begins) && len(c.begins) > len(f.begins) {
			f, ok = c, true
		}
	}
	return f, ok
}

// reasons reports whether models of the family think before they answer.
func (f family) reasons() bool { return f.efforts != nil }

// nearest is the effort that is known and asks for about as much: the next one up, else the next one down.
func (f family) nearest(effort string) string {
	wanted := slices.Index(allEfforts, effort)
	for _, e := range f.efforts {
		if slices.Index(allEfforts, e) >= wanted {
			return e
		}
	}
	return f.efforts[len(f.efforts)-1]
}

// effortOf is the effort that spends about so many tokens.
func effortOf(budget int) string {
	switch {
	case budget <= 2<<10:
		return "low"
	case budget <= 10<<10:
		return "medium"
	}
	return "high"
}
