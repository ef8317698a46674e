package chat

import (
	"fmt"
	"strings"

	"hermes-hub/proxy/wire/neutral"
)

// dump writes a Request for people: a line for each thing that it says.
func dump(r *neutral.Request) string {
	var out strings.Builder
	line := func(name string, value any, said bool) {
		if said {
			fmt.Fprintf(&out, "%s %v\n", name, value)
		}
	}
	for _, t := range r.Turns {
		role := map[neutral.Role]string{neutral.System: "system", neutral.User: "user", neutral.Assistant: "assistant", neutral.ToolRole: "tool"}[t.Role]
		line(role, strings.TrimSpace(t.Path+" "+t.Name), true)
		for _, p := range t.Parts {
			fmt.Fprintf(&out, "  %s\n", part(p))
		}
	}
	for _, t := range r.Tools {
		line("tool", fmt.Sprintf("%s %s %s%s at %s", t.Name, t.Description, t.Schema, flags(t.Cache, t.Strict), t.Path), true)
	}
	line("choice", r.Choice, r.Choice != neutral.Choice{})
	if r.Parallel != nil {
		line("parallel", *r.Parallel, true)
	}
	line("format", fmt.Sprintf("%d %s %s %s%s", r.Format.Kind, r.Format.Name, r.Format.Description, r.Format.Schema, flags(false, r.Format.Strict)), r.Format.Kind != 0)
	line("max_tokens", r.MaxTokens, r.MaxTokens != 0)
	for _, f := range []struct {
		name string
		p    *float64
	}{{"temperature", r.Temperature}, {"top_p", r.TopP}, {"frequency_penalty", r.FrequencyPenalty}, {"presence_penalty", r.PresencePenalty}} {
		if f.p != nil {
			line(f.name, *f.p, true)
		}
	}
	for name, p := range map[string]*int64{"seed": r.Seed, "top_k": r.TopK} {
		if p != nil {
			line(name, *p, true)
		}
	}
	line("stop", fmt.Sprintf("%q", r.Stop), r.Stop != nil)
	line("effort", r.Effort, r.Effort != "")
	line("reasoning_tokens", r.ReasoningTokens, r.ReasoningTokens != 0)
	line("verbosity", r.Verbosity, r.Verbosity != "")
	line("service_tier", r.ServiceTier, r.ServiceTier != "")
	line("user", r.User, r.User != "")
	line("cache_key", r.CacheKey, r.CacheKey != "")
	line("metadata", string(r.Metadata), r.Metadata != nil)
	line("others", strings.Join(r.Others, ", "), r.Others != nil)
	return out.String()
}

func flags(cache bool, strict *bool) (s string) {
	if cache {
		s += " cached"
	}
	if strict != nil {
		s += fmt.Sprintf(" strict=%v", *strict)
	}
	return s
}

func part(p neutral.Part) string {
	var s string
	switch p.Kind {
	case neutral.TextPart:
		s = fmt.Sprintf("text %s", p.Text)
	case neutral.RefusalPart:
		s = fmt.Sprintf("refusal %s", p.Text)
	case neutral.ImagePart:
		s = fmt.Sprintf("image %+v", p.Media)
	case neutral.AudioPart:
		s = fmt.Sprintf("audio %+v", p.Media)
	case neutral.FilePart:
		s = fmt.Sprintf("file %+v %s", p.Media, p.Name)
	case neutral.ReasoningPart:
		s = fmt.Sprintf("reasoning %s", p.Text)
	case neutral.ToolCallPart:
		s = fmt.Sprintf("call %s %s %s", p.ID, p.Name, p.Arguments)
	case neutral.ToolResultPart:
		s = fmt.Sprintf("result %s %s", p.ID, p.Name)
		if p.IsError {
			s += " error"
		}
		for _, inner := range p.Result {
			s += " [" + part(inner) + "]"
		}
	}
	if p.Seal.Is() {
		s += fmt.Sprintf(" sealed %s %s %s", p.Seal.Format, p.Seal.Data, p.Seal.ID)
		if p.Seal.Hidden {
			s += "hidden"
		}
	}
	return s + flags(p.Cache, nil) + " at " + p.Path
}
