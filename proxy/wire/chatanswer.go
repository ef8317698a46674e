package wire

// Answer is what the hub needs to know of a complete, non-streamed chat completion, text completion or embedding list.
type Answer struct {
	Valid   bool // a JSON object, whole
	Error   bool // an error member that says something
	Content bool // at least one choice, or data
	Usage   Usage
}

// ReadAnswer looks at a whole answer. A body that was cut anywhere is not Valid: its JSON does not close.
func ReadAnswer(body []byte) Answer {
	var a Answer
	m := Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		switch string(name) {
		case "choices", "data":
			a.Content = a.Content || says(v)
		case "error":
			a.Error = a.Error || !saysNothing(v)
		case "usage":
			if !Null(v) {
				a.Usage = chatUsage(v)
			}
		}
	}
	if m.Err() != nil {
		return Answer{}
	}
	a.Valid = true
	return a
}
