package chat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Encode writes a request as the body of a chat completion request, in the part of the protocol that its many servers have
// in common. The error is a *wire.FieldError.
func Encode(r *neutral.Request, t neutral.Target) (neutral.Encoded, error) {
	e := encoder{r: r, t: t}
	e.body = append(append(make([]byte, 0, r.Size()), `{"model":`...), wire.Quote(t.Model)...)
	if err := e.messages(); err != nil {
		return neutral.Encoded{}, err
	}
	e.tools()
	e.format()
	e.sampling()
	e.account()
	if t.Stream {
		e.add(`,"stream":true,"stream_options":{"include_usage":true}`)
	}
	for _, other := range r.Others {
		e.drop(other)
	}
	return neutral.Encoded{Body: append(e.body, '}'), Dropped: e.dropped}, nil
}

// encoder writes one body, member by member.
type encoder struct {
	r       *neutral.Request
	t       neutral.Target
	body    []byte
	dropped []string
}

// drop names a member that is left out, once.
func (e *encoder) drop(name string) {
	if !slices.Contains(e.dropped, name) {
		e.dropped = append(e.dropped, name)
	}
}

// without names a member that this protocol does not have, when it was given.
func (e *encoder) without(name string, given bool) {
	if given {
		e.drop(name)
	}
}

func (e *encoder) add(s string)   { e.body = append(e.body, s...) }
func (e *encoder) raw(b []byte)   { e.body = append(e.body, b...) }
func (e *encoder) quote(s string) { e.body = append(e.body, wire.Quote(s)...) }

// member writes a member of the object that is open; value is JSON.
func (e *encoder) member(name, value string) {
	e.add(`,"` + name + `":`)
	e.add(value)
}

// separate writes a comma, unless a bracket was opened just now.
func (e *encoder) separate() {
	if last := e.body[len(e.body)-1]; last != '[' && last != '{' {
		e.body = append(e.body, ',')
	}
}

// tools writes what the model may call, and how free it is to. Without tools there is nothing to choose.
func (e *encoder) tools() {
	if len(e.r.Tools) == 0 {
		return
	}
	e.add(`,"tools":[`)
	for i := range e.r.Tools {
		t := &e.r.Tools[i]
		e.separate()
		e.add(`{"type":"function","function":{"name":`)
		e.quote(t.Name)
		if !t.Description.Empty() {
			e.add(`,"description":`)
			e.raw(t.Description)
		}
		if len(t.Schema) > 0 {
			e.add(`,"parameters":`)
			e.raw(t.Schema)
		}
		if t.Strict != nil && *t.Strict { // off is what is not said
			e.member("strict", "true")
		}
		e.add(`}}`)
		e.without("cache_control", t.Cache)
	}
	e.add(`]`)
	switch e.r.Choice.Mode {
	case neutral.ChoiceAuto:
		e.member("tool_choice", `"auto"`)
	case neutral.ChoiceNone:
		e.member("tool_choice", `"none"`)
	case neutral.ChoiceAny:
		e.member("tool_choice", `"required"`)
	case neutral.ChoiceTool:
		e.member("tool_choice", `{"type":"function","function":{"name":`+wire.Quote(e.r.Choice.Name)+`}}`)
	}
	if e.r.Parallel != nil && !*e.r.Parallel { // several are welcome where nothing is said, and some models refuse the word
		e.member("parallel_tool_calls", "false")
	}
}

// format writes the shape of the answer.
func (e *encoder) format() {
	f := &e.r.Format
	switch f.Kind {
	case neutral.FormatJSON:
		e.member("response_format", `{"type":"json_object"}`)
	case neutral.FormatSchema:
		e.add(`,"response_format":{"type":"json_schema","json_schema":{"name":`)
		e.quote(cmp.Or(f.Name, "answer"))
		if !f.Description.Empty() {
			e.add(`,"description":`)
			e.raw(f.Description)
		}
		e.add(`,"schema":`)
		e.raw(f.Schema)
		if f.Strict != nil {
			e.member("strict", strconv.FormatBool(*f.Strict))
		}
		e.add(`}}`)
	}
}

// sampling writes how the next token is chosen, how many there may be, and how much the model shall think.
func (e *encoder) sampling() {
	r := e.r
	e.number("temperature", r.Temperature)
	e.number("top_p", r.TopP)
	e.number("frequency_penalty", r.FrequencyPenalty)
	e.number("presence_penalty", r.PresencePenalty)
	e.without("top_k", r.TopK != nil)
	if r.Seed != nil {
		e.member("seed", strconv.FormatInt(*r.Seed, 10))
	}
	if len(r.Stop) > 0 {
		quoted := make([]string, len(r.Stop))
		for i, s := range r.Stop {
			quoted[i] = wire.Quote(s)
		}
		e.member("stop", "["+strings.Join(quoted, ",")+"]")
	}
	most := r.MaxTokens
	if e.t.MaxOutput > 0 {
		most = min(most, e.t.MaxOutput)
	}
	switch {
	case most == 0:
	case e.reasonsAtOpenAI():
		e.member("max_completion_tokens", strconv.Itoa(most))
	default:
		e.member("max_tokens", strconv.Itoa(most))
	}
	if r.Effort != "" {
		e.member("reasoning_effort", wire.Quote(r.Effort))
	}
	e.without("reasoning.max_tokens", r.ReasoningTokens > 0)
	switch {
	case r.Verbosity == "":
	case e.reasonsAtOpenAI():
		e.member("verbosity", wire.Quote(r.Verbosity))
	default:
		e.drop("verbosity")
	}
}

// reasonsAtOpenAI reports whether the model is one of OpenAI's that think, which refuse max_tokens; of other servers not all
// know the newer name, nor the verbosity that these models have.
func (e *encoder) reasonsAtOpenAI() bool {
	model := strings.TrimPrefix(e.t.Model, "openai/")
	return slices.ContainsFunc([]string{"gpt-5", "o1", "o3", "o4"}, func(begins string) bool { return strings.HasPrefix(model, begins) })
}

func (e *encoder) number(name string, value *float64) {
	if value != nil {
		e.member(name, strconv.FormatFloat(*value, 'g', -1, 64))
	}
}

// account writes for whom the answer is. A key of the cache and metadata are refused by many servers, and the latter by
// OpenAI where nothing is stored.
func (e *encoder) account() {
	if e.r.User != "" {
		e.member("user", wire.Quote(e.r.User))
	}
	if tier := e.r.ServiceTier; tier != "" && tier != "auto" && tier != "default" {
		e.member("service_tier", wire.Quote(tier))
	}
	e.without("prompt_cache_key", e.r.CacheKey != "")
	e.without("metadata", e.r.Metadata != nil)
}
