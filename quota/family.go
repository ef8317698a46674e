package quota

import "strings"

// families are the model families, by the word in a model's name.
var families = []string{
	"gemini", "claude", "deepseek", "kimi", "qwen", "grok", "glm", "mimo", "minimax", "gpt", "o1", "o3",
}

// Family is the family of a model: what shares a pool of quota on accounts that have pools. It is the word that comes
// first in the last part of the name ("openrouter/anthropic/claude-opus-4" is claude), or "default". It does not allocate.
func Family(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	found, at := "default", len(model)
	for _, family := range families {
		if i := indexFold(model, family); i >= 0 && i < at {
			found, at = family, i
		}
	}
	return found
}

// indexFold is the index of a lower-case word in s without regard to case, or -1. A word of two letters must stand alone:
// "o1" is in "o1-mini", not in "pro1".
func indexFold(s, word string) int {
	for i := range len(s) - len(word) + 1 {
		end := i + len(word)
		if !strings.EqualFold(s[i:end], word) {
			continue
		}
		if len(word) > 2 || (i == 0 || !alphanumeric(s[i-1])) && (end == len(s) || !alphanumeric(s[end])) {
			return i
		}
	}
	return -1
}

func alphanumeric(c byte) bool { return kinds[c] == kindWord }

// Variant as a Reading's Family is the variant of the called model: what shares a limit with it within its family.
const Variant = "variant"

// variant is the word of a model's name that tells it from the rest of its family: "opus" of "claude-opus-4-6" and of
// "claude-3-opus", or "" where there is none.
func variant(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	family := Family(model)
	i := indexFold(model, family)
	if i < 0 {
		return ""
	}
	for part := range strings.FieldsFuncSeq(model[i+len(family):], func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ':' }) {
		if c := part[0] | 0x20; c >= 'a' && c <= 'z' {
			return strings.ToLower(part)
		}
	}
	return ""
}

// named reports whether a model's name holds the words of a family: "opus", "gpt-5.3-codex-spark". It does not allocate.
func named(model, words string) bool {
	for i := range len(model) - len(words) + 1 {
		end := i + len(words)
		if strings.EqualFold(model[i:end], words) && (i == 0 || !alphanumeric(model[i-1])) && (end == len(model) || !alphanumeric(model[end])) {
			return words != ""
		}
	}
	return false
}
