package responses

import (
	"encoding/json"
	"slices"
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Encode writes a request as the body of a Responses request. The error is a *wire.FieldError.
func Encode(r *neutral.Request, t neutral.Target) (neutral.Encoded, error) {
	if len(r.Stop) > 0 {
		return neutral.Encoded{}, refuse("stop", "cannot be asked of this account: its protocol (Responses) does not stop at texts")
	}
	e := encoder{r: r, t: t}
	e.family, e.known = familyOf(t.Model)
	e.body = append(append(make([]byte, 0, r.Size()), `{"model":`...), wire.Quote(t.Model)...)
	rest := e.instructions(r.Turns)
	if err := e.input(rest); err != nil {
		return neutral.Encoded{}, err
	}
	e.tools()
	e.text()
	e.reasoning()
	e.sampling()
	e.account()
	e.member("store", "false")
	if t.Stream || t.Codex {
		e.member("stream", "true")
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
	family  family
	known   bool // the family is
	body    []byte
	dropped []string
}

// drop names a member that is left out, once.
func (e *encoder) drop(name string) {
	if !slices.Contains(e.dropped, name) {
		e.dropped = append(e.dropped, name)
	}
}

func (e *encoder) add(s string)   { e.body = append(e.body, s...) }
func (e *encoder) raw(b []byte)   { e.body = append(e.body, b...) }
func (e *encoder) quote(s string) { e.body = append(e.body, wire.Quote(s)...) }

// member writes a member of the body; value is JSON.
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

// asText writes bytes as a JSON string; what is not UTF-8 in them is replaced.
func (e *encoder) asText(b []byte) {
	q, err := json.Marshal(string(b))
	if err != nil { // no string fails to marshal
		q = []byte(`""`)
	}
	e.raw(q)
}

// instructions writes the system's words in front of the conversation and returns the turns behind them. Where there are
// no others, they are the conversation.
func (e *encoder) instructions(turns []neutral.Turn) (rest []neutral.Turn) {
	n := 0
	for n < len(turns) && turns[n].Role == neutral.System {
		n++
	}
	if n == len(turns) || e.r.Format.Kind == neutral.FormatJSON {
		n = 0
	}
	var inner []byte
	for i := range n {
		e.unnamed(&turns[i])
		for j := range turns[i].Parts {
			p := &turns[i].Parts[j]
			e.unmarked(p)
			if text := p.Text.Inner(); len(text) > 0 {
				if len(inner) > 0 {
					inner = append(inner, `\n\n`...)
				}
				inner = append(inner, text...)
			}
		}
	}
	switch {
	case len(inner) > 0:
		e.add(`,"instructions":"`)
		e.raw(inner)
		e.add(`"`)
	case e.t.Codex:
		e.member("instructions", codexInstructions)
	}
	return turns[n:]
}

// unnamed tells that a speaker has lost its name.
func (e *encoder) unnamed(t *neutral.Turn) {
	if t.Name != "" {
		e.drop("messages[].name")
	}
}

// unmarked tells that a cache marker was left out.
func (e *encoder) unmarked(p *neutral.Part) {
	if p.Cache {
		e.drop("cache_control")
	}
}

// account writes what says for whom the answer is, and how it is kept near.
func (e *encoder) account() {
	if e.r.CacheKey != "" {
		e.member("prompt_cache_key", wire.Quote(shorten(e.r.CacheKey, longestCacheKey)))
	}
	tier := e.r.ServiceTier
	if e.t.Codex {
		e.without("user", e.r.User != "")
		e.without("metadata", e.r.Metadata != nil)
		e.without("service_tier", tier != "" && tier != "auto" && tier != "default" && tier != "priority")
		if tier == "priority" {
			e.member("service_tier", `"priority"`)
		}
		return
	}
	if e.r.User != "" {
		e.member("user", wire.Quote(e.r.User))
	}
	if e.r.Metadata != nil {
		e.add(`,"metadata":`)
		e.raw(e.r.Metadata)
	}
	if tier != "" {
		e.member("service_tier", wire.Quote(tier))
	}
}

// without names a member that this target does not take, when it was given.
func (e *encoder) without(name string, given bool) {
	if given {
		e.drop(name)
	}
}

// sampling writes how the next token is chosen, and how many there may be.
func (e *encoder) sampling() {
	r := e.r
	e.without("seed", r.Seed != nil)
	e.without("top_k", r.TopK != nil)
	e.without("frequency_penalty", r.FrequencyPenalty != nil)
	e.without("presence_penalty", r.PresencePenalty != nil)
	refused := e.t.Codex || e.known && e.family.reasons() && r.Effort != "none"
	e.number("temperature", r.Temperature, refused)
	e.number("top_p", r.TopP, refused)
	most := r.MaxTokens
	if e.t.MaxOutput > 0 {
		most = min(most, e.t.MaxOutput)
	}
	switch {
	case most == 0:
	case e.t.Codex:
		e.drop("max_tokens")
	default:
		e.without("max_tokens", most < leastOutput)
		e.member("max_output_tokens", strconv.Itoa(max(most, leastOutput)))
	}
}

func (e *encoder) number(name string, value *float64, refused bool) {
	switch {
	case value == nil:
	case refused:
		e.without(name, *value != 1) // what they do anyway
	default:
		e.member(name, strconv.FormatFloat(*value, 'g', -1, 64))
	}
}
