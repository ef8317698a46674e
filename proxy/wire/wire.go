// Package wire reads and edits the protocols that travel through the hub, without decoding them.
//
// A request body is walked once: the walk proves that it is well-formed JSON, finds the few members that route it, and
// remembers where they stand, so that an upstream body is spliced from the client's own bytes and unknown members pass
// byte for byte. A stream is split into events that are looked at in place. Everything is pure and allocates nothing per
// event. What is too large or too strange to be understood is passed on as it came and counts as unknown.
package wire

// Span is a range of bytes of a body. The zero Span is "not there": no member's value can stand at offset 0.
type Span struct{ From, To int }

// Found reports whether the span stands for anything.
func (s Span) Found() bool { return s.To > s.From }

// In returns the bytes that the span covers in body.
func (s Span) In(body []byte) []byte { return body[s.From:s.To] }
