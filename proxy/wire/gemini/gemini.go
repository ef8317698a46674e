// Package gemini is Google's generateContent as the target of a translation: it writes a neutral request as its body, and
// reads what it streams or answers as neutral events. Cloud Code, the endpoint behind Antigravity and Gemini CLI, is the
// same in an envelope (cloudcode.go); it serves Claude's models too, which take less (model.go says what).
//
//	Encode, EncodeCloudCode              neutral.Request → body
//	Decoder, CloudCodeDecoder            chunks of streamGenerateContent?alt=sse → neutral.Event
//	DecodeAnswer, DecodeCloudCodeAnswer  a whole answer → the same events
//
// # What becomes of a request
//
// Dropped is left out and named; refused is a *wire.FieldError, because the answer would be another one without it. The
// sources are ai.google.dev/api/generate-content and ai.google.dev/gemini-api/docs, if no other is named.
//
//	system, developer       leading ones systemInstruction; later ones user text in their place: there is no such role
//	user, assistant         contents of the roles user and model; neighbours of one role become one
//	an assistant first      kept, behind a user turn of three dots: a conversation starts with the user's turn
//	an assistant last       kept; refused for Gemini 4, which does not go on with a model's words
//	text, refusal           a text part
//	images, sounds, files   inlineData; refused without a media type
//	  by address            fileData for Google's own and YouTube's; any other is refused: the hub fetches nothing
//	  by file_id            refused: the ids of another provider's store mean nothing here
//	  detail, filename      dropped: there is no such member
//	calls                   functionCall with its id; arguments that are no JSON object as {"arguments": "…"}
//	  name of an old call   with _ for the characters that a name cannot have
//	results                 functionResponse right behind the calls, in their order; a JSON object as it is, anything else as
//	                        {"result": …}, a failure as {"error": …}
//	  images in them        parts of the functionResponse from Gemini 3 on, else behind the results
//	  none, two, no call    refused: every call has one result
//	reasoning, sealed       a thoughtSignature at its call or text; Claude's a thought part with it
//	  not sealed            dropped: the model takes what it thought from its signatures alone
//	  another's seal        dropped
//	  missing at a call     the placeholder that Google documents for it, from Gemini 3 on (contents.go)
//	tools                   functionDeclarations; schemas by schema.go and schema_message.go; a name that is none here, and
//	                        parameters that are no object, are refused
//	  strict                dropped: there is no such member
//	tool_choice             mode AUTO, NONE, ANY; one tool is ANY with allowedFunctionNames
//	parallel_tool_calls     dropped where it is false: calls may always be parallel
//	response_format         responseMimeType, responseJsonSchema; with tools refused before Gemini 3, which cannot have both
//	  description           dropped: there is no such member
//	max_tokens              maxOutputTokens, at most what the model has
//	temperature, top_p      kept; dropped from Gemini 4 on, which ignores them; top_k likewise
//	frequency_penalty       dropped: a 400 on every model that is left (google-gemini/cookbook#1290); presence_penalty likewise
//	seed                    kept; dropped where it is no int32
//	stop                    stopSequences; more than five are refused
//	reasoning_effort        thinkingLevel from Gemini 3 on, thinkingBudget before (thinking.go); max_tokens of reasoning likewise
//	cache_control           dropped: caching is implicit; prompt_cache_key likewise
//	user, name, metadata,
//	verbosity, service_tier dropped: there is no such member on all of Google's endpoints
//
// Safety settings are left to the account. Thoughts are always asked for where a model has them, so that a client sees that
// something goes on.
//
// # What becomes of an answer
//
//	text, thought           Text, Reasoning
//	functionCall            ToolStarted and ToolArguments at once; one without an id gets one made from the answer's id
//	thoughtSignature        the call's seal, or a hidden one of its own; Claude's closes the thought
//	executableCode, its
//	result, inlineData      Text in Markdown: nobody asked for them, but nothing an answer says is lost
//	candidates but the first, unknown parts: ignored
//	usageMetadata           Input with the tools' prompt, Output with the thoughts, cached and thinking parts
//	finishReason            the end of the stream (finish.go); a malformed call is Failed, because another attempt may cure it
//	promptFeedback          with a blockReason and no answer: Failed
//	error                   Failed
package gemini

import (
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Encode writes r as the body of generateContent or streamGenerateContent, which are one: address and alt=sse make the
// stream. The error is a *wire.FieldError in the words of a chat completion. r stays as it is.
func Encode(r *neutral.Request, t neutral.Target) (neutral.Encoded, error) {
	e := newEncoder(r, t, modelOf(t.Model))
	e.request()
	return e.encoded()
}

// encoder is one body while it is written. Its first error stays; what is written after it is thrown away.
type encoder struct {
	r       *neutral.Request
	t       neutral.Target
	m       model
	dst     []byte
	dropped []string
	err     *wire.FieldError
}

func newEncoder(r *neutral.Request, t neutral.Target, m model) *encoder {
	return &encoder{r: r, t: t, m: m, dst: make([]byte, 0, r.Size()), dropped: append([]string(nil), r.Others...)}
}

// request writes the members of a generateContent body.
func (e *encoder) request() {
	e.raw("{")
	e.conversation()
	e.tools()
	e.generationConfig()
	e.raw("}")
	e.without()
}

// without names the members that have no place in any body.
func (e *encoder) without() {
	r := e.r
	for _, member := range [...]struct {
		said bool
		name string
	}{
		{r.FrequencyPenalty != nil, "frequency_penalty"},
		{r.PresencePenalty != nil, "presence_penalty"},
		{r.Parallel != nil && !*r.Parallel, "parallel_tool_calls"},
		{r.Verbosity != "", "verbosity"},
		{r.ServiceTier != "" && r.ServiceTier != "auto" && r.ServiceTier != "default", "service_tier"},
		{r.User != "", "user"},
		{r.CacheKey != "", "prompt_cache_key"},
		{r.Metadata != nil, "metadata"},
	} {
		if member.said {
			e.drop(member.name)
		}
	}
}

func (e *encoder) encoded() (neutral.Encoded, error) {
	if e.err != nil {
		return neutral.Encoded{}, e.err
	}
	return neutral.Encoded{Body: e.dst, Dropped: e.dropped}, nil
}

func (e *encoder) refuse(field, what string) {
	if e.err == nil {
		e.err = &wire.FieldError{Field: field, What: what}
	}
}

// drop names a member that is left out, once.
func (e *encoder) drop(name string) {
	if slices.Contains(e.dropped, name) {
		return
	}
	e.dropped = append(e.dropped, name)
}

func (e *encoder) raw(s string)   { e.dst = append(e.dst, s...) }
func (e *encoder) text(s []byte)  { e.dst = append(e.dst, s...) }
func (e *encoder) quote(s string) { e.dst = append(e.dst, wire.Quote(s)...) }

// comma writes a comma unless an object or array was opened just now.
func (e *encoder) comma() {
	if n := len(e.dst); n > 0 && e.dst[n-1] != '{' && e.dst[n-1] != '[' {
		e.dst = append(e.dst, ',')
	}
}

// member writes a comma where one is needed, and a name, which is plain.
func (e *encoder) member(name string) {
	e.comma()
	e.dst = append(append(append(e.dst, '"'), name...), `":`...)
}
