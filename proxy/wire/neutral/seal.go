package neutral

import "fmt"

// SealFormat is whose seal it is. The words are OpenRouter's names of the formats of reasoning_details, which clients of
// chat completions know and send back.
type SealFormat string

// The formats.
const (
	SealAnthropic SealFormat = "anthropic-claude-v1" // signature of a thinking block, or a redacted one
	SealOpenAI    SealFormat = "openai-responses-v1" // encrypted_content of a reasoning item
	SealGoogle    SealFormat = "google-gemini-v1"    // thoughtSignature
)

// Seal is reasoning that only the account that made it can open or check. The zero Seal is none.
type Seal struct {
	Format SealFormat
	Data   string // opaque
	ID     string // of the item it came in; "" = none
	Hidden bool   // there is no text that goes with it: a redacted or encrypted thought
}

// Is reports whether there is one.
func (s Seal) Is() bool { return s.Data != "" }

// Unseal takes the seals out that keep does not want, with the reasoning that is worth nothing without them, and returns
// where they stood. A call keeps its place without its seal.
func (r *Request) Unseal(keep func(Seal) bool) (removed []string) {
	for t := range r.Turns {
		turn := &r.Turns[t]
		kept := turn.Parts[:0:0]
		for _, p := range turn.Parts {
			if !p.Seal.Is() || keep(p.Seal) {
				kept = append(kept, p)
				continue
			}
			removed = append(removed, fmt.Sprintf("%s.reasoning_details", turn.Path))
			if p.Kind != ReasoningPart {
				p.Seal = Seal{}
				kept = append(kept, p)
			}
		}
		turn.Parts = kept
	}
	return removed
}
