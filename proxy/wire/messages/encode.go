package messages

import (
	"slices"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Encode writes r as the body of a request to /v1/messages. r is not changed. The error is a *wire.FieldError in the words
// of a chat client.
func Encode(r *neutral.Request, t neutral.Target) (neutral.Encoded, error) {
	e := &encoder{r: r, t: t, m: modelOf(t.Model), names: map[string]string{}, used: map[string]int{}}
	c := e.conversation()
	e.checkTools(c.called)
	think := e.think(c.begun(), c.ended())
	if c.ended() && !e.m.prefill {
		e.refuse(r.Turns[len(r.Turns)-1].Path, "must not be the assistant's: this model does not go on from its own turn")
	}
	e.marks = e.countMarks(c)
	e.body(c, think)
	if e.err != nil {
		return neutral.Encoded{}, e.err
	}
	for _, o := range r.Others {
		e.drop(o)
	}
	return neutral.Encoded{Body: e.out, Dropped: e.dropped}, nil
}

// encoder writes one request. Its first error stays.
type encoder struct {
	r       *neutral.Request
	t       neutral.Target
	m       model
	out     []byte
	dropped []string
	err     *wire.FieldError

	marks int               // cache marks that are still one too many
	names map[string]string // ids of the calls of the last turn that made any, as they are written
	used  map[string]int    // how often each id was wanted
}

func (e *encoder) refuse(field, what string) {
	if e.err == nil {
		e.err = &wire.FieldError{Field: field, What: what}
	}
}

// drop names a member that is left out, once.
func (e *encoder) drop(member string) {
	if !slices.Contains(e.dropped, member) {
		e.dropped = append(e.dropped, member)
	}
}

// add appends literal JSON.
func (e *encoder) add(text string) { e.out = append(e.out, text...) }

func (e *encoder) quote(s string) { e.add(wire.Quote(s)) }

// member appends a comma and the name of the next member.
func (e *encoder) member(name string) {
	e.add(`,"`)
	e.add(name)
	e.add(`":`)
}

func (e *encoder) number(name string, n int) {
	e.member(name)
	e.out = strconv.AppendInt(e.out, int64(n), 10)
}

// body writes the members in the order of the API's reference, with the longest last.
func (e *encoder) body(c *conversation, t thinking) {
	e.out = make([]byte, 0, c.size())
	e.add(`{"model":`)
	e.quote(e.t.Model)
	e.number("max_tokens", t.maxTokens)
	if e.t.Stream {
		e.add(`,"stream":true`)
	}
	e.thinking(t)
	e.outputConfig(t)
	e.sampling(t.on())
	e.stop()
	e.account()
	e.tools(c.called)
	e.choice(c.called)
	e.system(c)
	e.member("messages")
	e.add("[")
	for i := range c.messages {
		if i > 0 {
			e.add(",")
		}
		e.message(&c.messages[i])
	}
	e.add("]}")
}

func (e *encoder) thinking(t thinking) {
	if t.kind == "" {
		return
	}
	e.member("thinking")
	e.add(`{"type":"` + t.kind + `"`)
	switch t.kind {
	case "enabled":
		e.number("budget_tokens", t.budget)
	case "adaptive":
		e.add(`,"display":"summarized"`) // newer models keep their thoughts to themselves unless they are asked
	}
	e.add("}")
}

// outputConfig writes how much effort is wanted, and of what shape the answer is.
func (e *encoder) outputConfig(t thinking) {
	f := e.r.Format
	if f.Kind == neutral.FormatJSON {
		e.drop("response_format")
	}
	if t.effort == "" && f.Kind != neutral.FormatSchema {
		return
	}
	e.member("output_config")
	e.add("{")
	if t.effort != "" {
		e.add(`"effort":"` + t.effort + `"`)
	}
	if f.Kind == neutral.FormatSchema {
		if t.effort != "" {
			e.add(",")
		}
		e.add(`"format":{"type":"json_schema","schema":`)
		e.answerSchema(f)
		e.add("}")
	}
	e.add("}")
}

// sampling writes what of temperature, top_p and top_k the model takes. Values that are the default are not sent.
func (e *encoder) sampling(thinking bool) {
	r := e.r
	temperature, topP, topK := r.Temperature, r.TopP, r.TopK
	if temperature != nil && *temperature == 1 {
		temperature = nil
	}
	if topP != nil && *topP == 1 {
		topP = nil
	}
	none := e.m.claude && (!e.m.sampling || thinking)
	if temperature != nil && none {
		e.drop("temperature")
		temperature = nil
	}
	if topP != nil && (none && (!e.m.sampling || *topP < 0.95) || e.m.claude && temperature != nil) {
		e.drop("top_p")
		topP = nil
	}
	if topK != nil && none {
		e.drop("top_k")
		topK = nil
	}
	if temperature != nil {
		value := *temperature
		if value > 1 && e.m.claude {
			e.drop("temperature")
			value = 1
		}
		e.float("temperature", value)
	}
	if topP != nil {
		e.float("top_p", *topP)
	}
	if topK != nil {
		e.number("top_k", int(*topK))
	}
}

func (e *encoder) float(name string, value float64) {
	e.member(name)
	e.out = strconv.AppendFloat(e.out, value, 'g', -1, 64)
}

// stop writes the texts that end the answer.
func (e *encoder) stop() {
	var texts []string
	for _, s := range e.r.Stop {
		if strings.TrimSpace(s) == "" {
			e.drop("stop")
			continue
		}
		texts = append(texts, wire.Quote(s))
	}
	if len(texts) > 0 {
		e.member("stop_sequences")
		e.add("[" + strings.Join(texts, ",") + "]")
	}
}

// longestUser is the longest metadata.user_id that the API takes.
const longestUser = 256

// account writes whom the answer is for and how it is paid, and names what has no place.
func (e *encoder) account() {
	r := e.r
	switch {
	case r.User == "":
	case len(r.User) > longestUser:
		e.drop("user")
	default:
		e.member("metadata")
		e.add(`{"user_id":`)
		e.quote(r.User)
		e.add("}")
	}
	switch r.ServiceTier {
	case "", "auto", "priority": // auto is the API's own default: priority where the account has it
	case "default", "standard", "standard_only":
		e.add(`,"service_tier":"standard_only"`)
	default:
		e.drop("service_tier")
	}
	for _, m := range []struct {
		name string
		said bool
	}{
		{"frequency_penalty", r.FrequencyPenalty != nil},
		{"presence_penalty", r.PresencePenalty != nil},
		{"seed", r.Seed != nil},
		{"verbosity", r.Verbosity != ""},
		{"prompt_cache_key", r.CacheKey != ""},
		{"metadata", r.Metadata != nil},
	} {
		if m.said {
			e.drop(m.name)
		}
	}
}
