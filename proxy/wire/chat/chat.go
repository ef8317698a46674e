// Package chat is both sides of a translation: for clients it reads a chat completion request into the neutral form, and writes
// the neutral events of an answer as a chat completion, streamed or whole; for accounts it writes such a request, and reads such
// an answer.
//
//	Decode        body → neutral.Request         strict: what it does not understand is refused by name, or listed in Others
//	Stream        neutral.Event → its chunks     nothing is held back: an event is a chunk
//	Answer        neutral.Event → one completion
//	Encode        neutral.Request → body         what the protocol's many servers have in common
//	Decoder       a chunk of the stream → neutral.Events
//	DecodeAnswer  a whole completion → neutral.Events
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
//
// # What an account is asked
//
// The system's words in front are one message, and so is what the assistant says and calls in a row: servers want both so.
// Refused: a call without its result, an image by file_id, a file by address. Dropped: prompt_cache_key and metadata, which many
// servers refuse, top_k, cache_control, messages[].is_error, reasoning.max_tokens, and verbosity but for OpenAI's models that
// think; those alone get max_completion_tokens, which not all servers know. Thoughts that nobody has sealed go back in a turn with
// calls to makers that want them (DeepSeek: "Missing reasoning_content field"; Moonshot), others refuse the member (Groq,
// Mistral).
//
// # What an account answers
//
// The first choice counts. Servers differ: calls come without an index, with one index for several, without an id, or with
// arguments that are an object; content comes in parts; thoughts are called reasoning_content or reasoning; a turn of calls
// finishes with "stop". A stream is whole when it has said why it ended, or has come to [DONE] behind something of an answer.
package chat
