// Package neutral is the form in which a conversation crosses from one protocol to another. Traffic between equal protocols
// never passes through it.
//
//	client's body ── Decode of chat, responses ──► Request ── Encode of chat, messages, responses, gemini ──► upstream's body
//	client's stream ◄── Stream of chat, responses ── Event, Event, … ◄── Decoder of chat, messages, responses, gemini ── upstream's
//
// A Request holds what a client can say and at least two protocols understand. What a target cannot express is refused by its
// Encode with a *wire.FieldError, or left out and named in Encoded.Dropped; nothing is left out silently. Members are named as
// in a chat completion, and places as the client's body has them. An answer, streamed or whole, is a sequence of Events in one
// order: Started, then Text, Reasoning, Sealed, Refusal, ToolStarted and ToolArguments as they come, and Finished or Failed last;
// Counted whenever usage is told, which may be behind Finished.
//
// Texts stay JSON string literals on their whole way, quotes and escapes included: protocols agree on those, so a text is
// copied and never unescaped. wire.Text undoes one where somebody must look inside.
package neutral

// Literal is a JSON string with its quotes, as it stood in a body: `"a \"word\""`. nil is none.
type Literal []byte

// Empty reports whether there is no text in it.
func (l Literal) Empty() bool { return len(l) <= 2 }

// Inner is the literal without its quotes: pieces that are set one behind the other make one literal again.
func (l Literal) Inner() []byte {
	if l.Empty() {
		return nil
	}
	return l[1 : len(l)-1]
}
