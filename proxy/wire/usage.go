package wire

import "strconv"

// Usage is what a provider says a call consumed, in tokens. Known is false when it said nothing.
type Usage struct {
	Input      int64 // all prompt tokens, cached ones included
	Output     int64 // all completion tokens, reasoning included
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64
	Known      bool
}

// ReadUsage reads the usage object of a chat completion or of a response.
func ReadUsage(object []byte) Usage { return chatUsage(object) }

// chatUsage reads the usage object of a chat completion: OpenAI's fields, DeepSeek's prompt_cache_hit_tokens, and the
// input_tokens/output_tokens spelling that some compatible servers use.
func chatUsage(text []byte) Usage {
	var u Usage
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(text)
		switch string(name) {
		case "prompt_tokens", "input_tokens":
			u.Known = count(v, &u.Input) || u.Known
		case "completion_tokens", "output_tokens":
			u.Known = count(v, &u.Output) || u.Known
		case "prompt_cache_hit_tokens":
			count(v, &u.CacheRead)
		case "prompt_tokens_details", "input_tokens_details":
			details(v, "cached_tokens", &u.CacheRead)
			details(v, "cache_write_tokens", &u.CacheWrite)
		case "completion_tokens_details", "output_tokens_details":
			details(v, "reasoning_tokens", &u.Reasoning)
		}
	}
	return u
}

func details(text []byte, field string, into *int64) {
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) == field {
			count(value.In(text), into)
		}
	}
}

// count reads a number of tokens. A negative, fractional or absurd one is no count at all.
func count(v []byte, into *int64) bool {
	if len(v) > 15 {
		return false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		return false
	}
	*into = n
	return true
}
