package wire

// MessagesReader reads the events of one Messages stream, in order.
type MessagesReader struct {
	told   MessagesUsage
	sealed [][]byte
}

// Read looks at the data of one event. Types that are not known are nothing out of the ordinary: the protocol grows.
func (r *MessagesReader) Read(data []byte) Step {
	var s Step
	var message, block, delta, usage, fault []byte
	m := Object(data)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "type":
			s.Type = inner(v)
		case "message":
			message = v
		case "content_block":
			block = v
		case "delta":
			delta = v
		case "usage":
			usage = v
		case "error":
			fault = v
		}
	}
	if m.Err() != nil {
		return Step{}
	}
	r.sealed = r.sealed[:0]
	switch string(s.Type) {
	case "message_start":
		usage = member(message, "usage")
	case "content_block_start":
		s.Content = r.block(block)
	case "content_block_delta":
		s.Content = r.delta(delta)
	case "message_delta":
		s.Content = saysAnything(member(delta, "stop_reason"))
	case "message_stop":
		s.Done = true
	case "ping":
		s.Ping = true
	case "error":
		s.Failed = true
	}
	s.Failed = s.Failed || len(fault) > 0 && !saysNothing(fault)
	s.Valid = len(s.Type) > 0 || s.Failed
	s.Usage = r.told.Add(usage)
	s.Sealed = r.sealed
	return s
}

// block looks at the start of a content block: an empty text or thought is no content yet, anything else is.
func (r *MessagesReader) block(block []byte) bool {
	var kind, words []byte
	m := Object(block)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(block)
		switch string(name) {
		case "type":
			kind = inner(v)
		case "text", "thinking":
			words = v
		case "signature", "data":
			r.seal(v)
		}
	}
	switch string(kind) {
	case "":
		return false
	case "text", "thinking":
		return saysAnything(words) || len(r.sealed) > 0
	}
	return true
}

// delta looks at the next piece of a block. Unknown kinds of pieces count, when they say anything.
func (r *MessagesReader) delta(delta []byte) (content bool) {
	m := Object(delta)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(delta)
		switch string(name) {
		case "type":
			continue
		case "signature":
			r.seal(v)
		}
		content = content || says(v)
	}
	return content
}

func (r *MessagesReader) seal(value []byte) {
	if t := inner(value); len(t) > 0 {
		r.sealed = append(r.sealed, t)
	}
}

// MessagesUsage adds up what a Messages stream tells of its usage: the start tells the prompt, the end the answer, and some
// servers tell the prompt only there. Every number is the whole so far.
type MessagesUsage struct{ fresh, written, read, output, reasoning int64 }

// Add takes the next usage object in and returns the sum. It is not Known where this object tells nothing, or is none.
func (u *MessagesUsage) Add(object []byte) Usage {
	if len(object) == 0 {
		return Usage{}
	}
	known := false
	m := Object(object)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(object)
		switch string(name) {
		case "input_tokens":
			known = most(v, &u.fresh) || known
		case "cache_creation_input_tokens":
			most(v, &u.written)
		case "cache_read_input_tokens":
			most(v, &u.read)
		case "output_tokens":
			known = most(v, &u.output) || known
		case "output_tokens_details":
			details(v, "thinking_tokens", &u.reasoning)
			details(v, "reasoning_tokens", &u.reasoning)
		}
	}
	if !known {
		return Usage{}
	}
	return Usage{
		Input: u.fresh + u.written + u.read, Output: u.output,
		CacheRead: u.read, CacheWrite: u.written, Reasoning: u.reasoning, Known: true,
	}
}

// most reads a number that only grows: some servers tell 0 where they mean that they have nothing new to tell.
func most(v []byte, into *int64) bool {
	var n int64
	if !count(v, &n) {
		return false
	}
	*into = max(*into, n)
	return true
}
