package wire

// ReadMessagesAnswer looks at a whole, non-streamed answer to a Messages request, and at the reasoning in it that is sealed.
func ReadMessagesAnswer(body []byte) (a Answer, sealed [][]byte) {
	var r MessagesReader
	ended := false
	m := Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		switch string(name) {
		case "type":
			a.Error = a.Error || string(v) == `"error"`
		case "error":
			a.Error = a.Error || !saysNothing(v)
		case "stop_reason":
			ended = says(v)
		case "content":
			a.Content = v[0] == '['
			blocks := Array(v)
			for block, ok := blocks.Next(); ok; block, ok = blocks.Next() {
				r.block(block)
			}
		case "usage":
			a.Usage = r.told.Add(v)
		}
	}
	if m.Err() != nil {
		return Answer{}, nil
	}
	a.Valid = true
	a.Content = a.Content && ended // a turn may say nothing, but it says why it has ended
	return a, r.sealed
}

// ReadTokenCount looks at the answer to a count_tokens request. What it counts was not consumed: it is no usage.
func ReadTokenCount(body []byte) Answer {
	var a Answer
	m := Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		switch string(name) {
		case "error":
			a.Error = a.Error || !saysNothing(v)
		case "input_tokens":
			var n int64
			a.Content = count(v, &n)
		}
	}
	if m.Err() != nil {
		return Answer{}
	}
	a.Valid = true
	return a
}

// ReadResponsesAnswer looks at a whole, non-streamed answer to a Responses request, and at the reasoning in it that is
// sealed. One that is made in the background has no output yet, and is an answer all the same.
func ReadResponsesAnswer(body []byte) (a Answer, sealed [][]byte) {
	var r ResponsesReader
	output, status := false, ""
	m := Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		switch string(name) {
		case "status":
			status = string(inner(v))
		case "error":
			a.Error = a.Error || !saysNothing(v)
		case "output":
			output = v[0] == '['
			items := Array(v)
			for item, ok := items.Next(); ok; item, ok = items.Next() {
				r.item(item)
			}
		case "usage":
			if !Null(v) {
				a.Usage = chatUsage(v)
			}
		}
	}
	if m.Err() != nil {
		return Answer{}, nil
	}
	a.Valid = true
	switch status {
	case "failed", "cancelled":
		a.Error = true
	case "queued", "in_progress":
		a.Content = true
	default: // completed, incomplete, and servers that do not say
		a.Content = output
	}
	return a, r.sealed
}
