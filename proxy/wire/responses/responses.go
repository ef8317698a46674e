// Package responses writes a conversation as a request of OpenAI's Responses API, and reads what such an API answers. The
// same form serves OpenAI's API keys, other servers that speak it, and ChatGPT's Codex backend, which takes less
// (neutral.Target.Codex) and answers in streams only.
//
//	Encode        neutral.Request → body
//	Decoder       an event of the stream → neutral.Events
//	DecodeAnswer  a whole response → neutral.Events
//	ForCodex      the edits that a client's own Responses body needs before the Codex backend takes it
//
// And it is the client's side: it reads a Responses request, and tells an answer as Responses tell theirs, whoever gave it.
//
//	Decode        body → neutral.Request      strict: what it does not understand is refused by name, or listed in Others
//	Stream        neutral.Event → its events  every text is kept, because the protocol says it again at the end
//	Answer        neutral.Event → one response
//	Word          what a member is called here that an encoder has named as in a chat completion
//
// # A conversation as items
//
// The system's words in front of the conversation are the instructions; later ones are messages of the developer, in their
// place. Where the answer must be JSON of any shape, all of them are messages: the word "JSON" must stand in the input
// then, and instructions do not count as such. What the model thought is sent as its encrypted item, with no id, because
// nothing is stored that an id could find; a call and its result are items of their own, joined by the call's id. Every
// call must have its result.
//
// # What is lost
//
// Nothing is left out without being told. Refused (400), because the answer would be another one:
//
//	stop                       nothing stops the model at a text here
//	input_audio                there is no audio in
//	a call without its result  "No tool output found for function call"
//
// Dropped and named, because it only tunes:
//
//	seed, top_k, frequency_penalty, presence_penalty  not among the parameters
//	temperature, top_p           models that reason refuse them
//	reasoning_effort             models that do not reason; others get the nearest effort that they know
//	reasoning.max_tokens         there is no budget: it becomes the effort that would spend about as much
//	max_tokens below 16          raised to 16, the least that is taken
//	cache_control                whatever repeats is cached without being marked
//	messages[].name              nobody has a name
//	messages[].is_error          a result is a text like another
//	messages[].reasoning_content, messages[].reasoning_details  thoughts that are not sealed, or sealed by another provider
//	all that chat.Decode lists as having no place
//
// Dropped for the Codex backend besides, which refuses each by name:
//
//	max_tokens, temperature, top_p, user, metadata, service_tier (but priority)
package responses

import "hermes-hub/proxy/wire"

// A name or key may have this many characters.
const (
	longestCallID   = 64
	longestCacheKey = 64
)

// leastOutput is the least max_output_tokens that is taken.
const leastOutput = 16

// codexInstructions stands where the Codex backend wants instructions and the client has none.
const codexInstructions = `"You are a helpful assistant."`

func refuse(field, what string) error { return &wire.FieldError{Field: field, What: what} }
