package wire

// Step is what the relay needs to know of one event of a Messages or Responses stream. Its slices are valid until the next
// Read.
type Step struct {
	Valid   bool     // a JSON object that says of which type it is, or that something failed
	Type    []byte   // what the event is; these protocols' clients want it as the event's name too
	Ping    bool     // says only that somebody is there
	Foreign bool     // not of the protocol: there are clients that die of it
	Content bool     // something of the answer reaches the reader, or the reason why it ended does
	Done    bool     // the protocol's own end of an answer that is good
	Failed  bool     // the upstream says that there is no answer, or no more of it: the event's data tells why
	Sealed  [][]byte // reasoning that only the account can open or check: signature, redacted data or encrypted_content
	Usage   Usage    // all that the stream has told of it so far
}

// inner is what a JSON string says; of another kind, nothing.
func inner(value []byte) []byte {
	t, _ := Text(value)
	return t
}

// member returns the value of the first member of this name; nil when there is none.
func member(object []byte, name string) []byte {
	m := Object(object)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		if string(n) == name {
			return value.In(object)
		}
	}
	return nil
}

// saysAnything reports whether there is a value, and not one that stands for nothing.
func saysAnything(value []byte) bool { return len(value) > 0 && says(value) }
