// Package chat is the client's side of a translation: it reads a chat completion request into the neutral form, and writes
// the neutral events of an answer as a chat completion, streamed or whole.
//
//	Decode   body → neutral.Request         strict: what it does not understand is refused by name, or listed in Others
//	Stream   neutral.Event → its chunks     nothing is held back: an event is a chunk
//	Answer   neutral.Event → one completion
//
// # What is read
//
// Members that do not matter to another protocol (model, stream, stream_options, store: false, n: 1 and the like) are known
// and left alone. Members that the neutral form has no place for, inside messages and tools too, are listed in
// Request.Others without their index: "logit_bias", "messages[].annotations". What would make the answer another one is
// refused: n above 1, audio as output, tools that are not functions, allowed_tools.
//
// A developer's words are the system's. Functions and function_call, which tools replaced, are read as tools; their calls
// get ids by their place. Empty texts and turns that say nothing are left out.
//
// # Reasoning
//
// How much: reasoning_effort, OpenRouter's reasoning{effort, max_tokens, enabled} and Anthropic's thinking{type,
// budget_tokens} are taken; two that disagree are refused. The efforts "max" and "xhigh" are one.
//
// What was thought: reasoning_content (or reasoning) holds the text for the reader; reasoning_details, in OpenRouter's
// format, what only the account that made it can open: reasoning.text with its signature (Anthropic), reasoning.encrypted
// with data (OpenAI, Anthropic's redacted thoughts, and Google, where the id is the call's). An answer carries both, so that
// a client that sends its messages back as they came gives every seal back. Details come in pieces, as in OpenRouter's
// streams: pieces of one index are one block, which its signature or its data ends. Google's seals stand in
// extra_content.google.thought_signature of their call too, as in Google's own chat endpoint: clients that drop details
// keep those. Where details hold the thoughts, reasoning_content is their copy and not read.
package chat
