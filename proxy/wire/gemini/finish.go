package gemini

import (
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// finishes are the reasons for which an answer ends well or was withheld (ai.google.dev/api/generate-content#FinishReason).
// With any other it is not one: MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, OTHER, NO_IMAGE and what
// is still to come are failures, which another attempt may cure.
var finishes = map[string]neutral.Finish{
	"STOP":                     neutral.FinishStop,
	"MAX_TOKENS":               neutral.FinishLength,
	"SAFETY":                   neutral.FinishFilter,
	"RECITATION":               neutral.FinishFilter,
	"LANGUAGE":                 neutral.FinishFilter,
	"BLOCKLIST":                neutral.FinishFilter,
	"PROHIBITED_CONTENT":       neutral.FinishFilter,
	"SPII":                     neutral.FinishFilter,
	"MODEL_ARMOR":              neutral.FinishFilter,
	"IMAGE_SAFETY":             neutral.FinishFilter,
	"IMAGE_PROHIBITED_CONTENT": neutral.FinishFilter,
	"IMAGE_RECITATION":         neutral.FinishFilter,
}

// unspecified is what a finishReason is before there is one.
const unspecified = "FINISH_REASON_UNSPECIFIED"

// finish ends the answer.
func (d *Decoder) finish(events []neutral.Event, reason []byte) []neutral.Event {
	f, ends := finishes[string(reason)]
	if !ends {
		return d.fail(events, faultOf(reason))
	}
	if f == neutral.FinishStop && len(d.calls) > 0 {
		f = neutral.FinishTools
	}
	d.ended, d.whole = true, true
	return append(events, neutral.Event{Kind: neutral.Finished, Tool: -1, Finish: f})
}

// faultOf puts a finishReason that is no end into the form of Google's errors. The finishMessage stays out of it: it quotes
// the model, whose words must not be taken for the provider's.
func faultOf(reason []byte) []byte {
	return fault(500, "INTERNAL", "The model ended its answer with ", word(reason))
}

// blockOf does the same with the blockReason of a prompt that was not answered, which comes as a success.
func blockOf(reason []byte) []byte {
	return fault(400, "INVALID_ARGUMENT", "The prompt was blocked by content filter: ", word(reason))
}

func fault(code int, status, message, reason string) []byte {
	return []byte(`{"error":{"code":` + strconv.Itoa(code) + `,"message":"` + message + reason + `","status":"` + status + `"}}`)
}

// word is a reason as it may stand in a message: capital letters and underscores.
func word(reason []byte) string {
	const longest = 48
	if len(reason) == 0 || len(reason) > longest {
		return "UNKNOWN"
	}
	for _, c := range reason {
		if (c < 'A' || c > 'Z') && c != '_' {
			return "UNKNOWN"
		}
	}
	return string(reason)
}

// count takes a usageMetadata in, which holds all so far, and reports whether it told something new. Google counts thoughts
// and the prompts of tools apart.
func (d *Decoder) count(metadata []byte) bool {
	if len(metadata) == 0 || metadata[0] != '{' {
		return false
	}
	var prompt, tools, answer, thoughts, cached int64
	known := false
	m := wire.Object(metadata)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		v := at.In(metadata)
		switch string(name) {
		case "promptTokenCount":
			known = tokens(v, &prompt) || known
		case "candidatesTokenCount":
			known = tokens(v, &answer) || known
		case "thoughtsTokenCount":
			tokens(v, &thoughts)
		case "toolUsePromptTokenCount":
			tokens(v, &tools)
		case "cachedContentTokenCount":
			tokens(v, &cached)
		}
	}
	if !known {
		return false
	}
	// A later count may leave out what an earlier one told; none goes back.
	before := d.usage
	d.usage = wire.Usage{
		Input:     max(before.Input, prompt+tools),
		Output:    max(before.Output, answer+thoughts),
		CacheRead: max(before.CacheRead, cached),
		Reasoning: max(before.Reasoning, thoughts),
		Known:     true,
	}
	return d.usage != before
}

// tokens reads a count. A negative, fractional or absurd one is none.
func tokens(v []byte, into *int64) bool {
	const digits = 15
	if len(v) > digits {
		return false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		return false
	}
	*into = n
	return true
}
