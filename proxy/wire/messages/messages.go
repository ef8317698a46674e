// Package messages is Anthropic's Messages protocol as the target of a translation: it writes a neutral request as a body
// for /v1/messages, and reads what comes back, streamed or whole, as neutral events.
//
//	Encode         neutral.Request → body
//	Decoder        the stream's events → neutral.Event
//	DecodeAnswer   a whole answer → the same events
//
// # What becomes of a chat client's members
//
//	messages, leading system and developer   system blocks; when nothing else stands there, the last is a user's turn
//	…, later ones                            a user's text in the same place: the protocol has none there
//	…, adjacent turns of one role            one turn; results of calls come first in it, as the protocol wants
//	…, blank texts                           left out: refused there, and they say nothing
//	…, name                                  dropped and named
//	…, an assistant's turn at the end        kept where the model goes on from it (before Claude 4.6), else refused
//	tool_calls, id                           kept; one that is not of [a-zA-Z0-9_-], or stood there before, gets another
//	                                         by rule, the same one every time, and its result with it
//	tool_calls, arguments no JSON object     {"arguments": the text}
//	tool_calls without a result              refused: the protocol has no open calls
//	image_url                                kept: https URL, or base64 of jpeg, png, gif or webp; else refused
//	image_url.detail                         dropped and named
//	file                                     a document: PDF, plain text, or https URL of a PDF; else refused
//	input_audio                              refused
//	reasoning_details, signed                thinking blocks; Anthropic's redacted ones too
//	…, unsigned, or another provider's       dropped and named; kept where the model is not Anthropic's, whose endpoints
//	                                         want their thoughts back and sign none
//	cache_control                            kept, the last 4; earlier ones are dropped and named
//	tools                                    kept; the schema is mended where the protocol wants it otherwise (schema.go)
//	tools[].function.name                    kept when of [a-zA-Z0-9_-]{1,128}, else refused
//	tools[].function.strict                  dropped and named: Anthropic's has other limits, and fails what breaks them
//	tools missing, with calls in messages    tools of those names that may not be called: the protocol wants them declared
//	tool_choice                              kept; where the model takes no forced call (Opus 5.5, Fable and Mythos 5.1), auto
//	                                         with a line in the system that names the tool, and named as dropped
//	parallel_tool_calls: false               disable_parallel_tool_use
//	response_format json_schema              output_config.format; what Anthropic's schemas cannot say is dropped and named,
//	                                         an object of any members is refused, and so are models before Claude 4.5
//	response_format json_object              a line in the system, and named as dropped: nothing enforces it
//	max_completion_tokens, max_tokens        max_tokens, at most what the model can; missing, what the model can, or 32000
//	reasoning_effort, reasoning              thinking, see below
//	temperature, top_p, top_k                kept where the model takes them; above 1 a temperature is 1, and named; beside a
//	                                         temperature, and under thinking, the others are dropped and named
//	stop                                     stop_sequences; blank ones are dropped and named
//	user                                     metadata.user_id, up to 256 bytes; a longer one is dropped and named
//	service_tier                             auto, priority and default; others are dropped and named
//	frequency_penalty, presence_penalty, seed, verbosity, prompt_cache_key, metadata and members unknown
//	                                         dropped and named
//
// # Thinking
//
// Efforts become budgets where a model thinks by budget (1024, 4096, 8192, 16384 and 32000 tokens from minimal to xhigh, less
// where max_tokens leaves less), and output_config.effort where it thinks by itself (Claude 4.6 and later). There a number
// of tokens becomes the effort whose budget holds it. It is switched off, and named as dropped, where it cannot be:
//
//   - with a tool choice that forces a call: the choice wins, because the answer would be another one without it;
//   - by budget in the middle of a tool loop whose thoughts are missing or unsigned: another account has begun it;
//   - by budget where max_tokens leaves less than 1024 tokens to think;
//   - where the model has none.
//
// Effort none switches it off, and is the lowest effort where that cannot be.
package messages
