package chat

import (
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// appendHead appends what a completion and each of its chunks begin with, up to its choices.
func appendHead(dst []byte, object, id, model string, created int64) []byte {
	dst = append(append(dst, `{"id":`...), wire.Quote(id)...)
	dst = append(append(append(dst, `,"object":"`...), object...), `","created":`...)
	dst = strconv.AppendInt(dst, created, 10)
	return append(append(append(dst, `,"model":`...), wire.Quote(model)...), ',')
}

// appendCall appends the members of a call up to its arguments' first byte.
func appendCall(dst []byte, id, name string) []byte {
	dst = append(append(dst, `"id":`...), wire.Quote(id)...)
	dst = append(append(dst, `,"type":"function","function":{"name":`...), wire.Quote(name)...)
	return append(dst, `,"arguments":"`...)
}

// appendExtra appends Google's seal of a call, where Google's own chat endpoint has it.
func appendExtra(dst []byte, s neutral.Seal) []byte {
	if s.Format != neutral.SealGoogle {
		return dst
	}
	dst = append(dst, `,"extra_content":{"google":{"thought_signature":`...)
	return append(append(dst, wire.Quote(s.Data)...), "}}"...)
}

// appendDetail appends one item of reasoning_details: a text, a seal, or both. Only a seal of Anthropic's over a text is a
// signature; the others are data.
func appendDetail(dst []byte, s neutral.Seal, text neutral.Literal, index int) []byte {
	if s.Format == neutral.SealAnthropic && !s.Hidden || !s.Is() {
		dst = append(dst, `{"type":"reasoning.text"`...)
		if !text.Empty() {
			dst = append(append(dst, `,"text":`...), text...)
		}
		if s.Is() {
			dst = append(append(dst, `,"signature":`...), wire.Quote(s.Data)...)
		}
	} else {
		dst = append(append(dst, `{"type":"reasoning.encrypted","data":`...), wire.Quote(s.Data)...)
	}
	if s.ID != "" {
		dst = append(append(dst, `,"id":`...), wire.Quote(s.ID)...)
	}
	if s.Format != "" {
		dst = append(append(dst, `,"format":`...), wire.Quote(string(s.Format))...)
	}
	dst = strconv.AppendInt(append(dst, `,"index":`...), int64(index), 10)
	return append(dst, '}')
}

// appendUsage appends the usage object. Details that were not told are 0, as OpenAI writes them.
func appendUsage(dst []byte, u wire.Usage) []byte {
	number := func(name string, n int64) {
		dst = strconv.AppendInt(append(dst, name...), n, 10)
	}
	number(`{"prompt_tokens":`, u.Input)
	number(`,"completion_tokens":`, u.Output)
	number(`,"total_tokens":`, u.Input+u.Output)
	number(`,"prompt_tokens_details":{"cached_tokens":`, u.CacheRead)
	if u.CacheWrite > 0 {
		number(`,"cache_write_tokens":`, u.CacheWrite)
	}
	number(`},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	return append(dst, "}}"...)
}

// finishReason names the reason in the words of a chat completion. A refusal is a filter's work to a client: most of them
// read no refusal member, and would take "stop" without a text for an empty answer, to be asked for again.
func finishReason(f neutral.Finish) string {
	switch f {
	case neutral.FinishLength:
		return "length"
	case neutral.FinishTools:
		return "tool_calls"
	case neutral.FinishFilter, neutral.FinishRefusal:
		return "content_filter"
	}
	return "stop"
}
