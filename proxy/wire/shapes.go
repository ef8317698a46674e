package wire

import "bytes"

// Shape is what a body of one kind must hold.
type Shape struct {
	Needs   string // the member that every request of the kind has
	List    bool   // which must be an array
	Streams bool   // the kind can be answered by a stream
	Asks    bool   // whose usage is told only to those who ask, with stream_options.include_usage
	Keeps   bool   // the provider may keep the conversation, and the request may go on with one that it has kept
}

// The kinds that are routed by their model member: OpenAI's, Anthropic's, and OpenAI's Responses.
var (
	Chat       = Shape{Needs: "messages", List: true, Streams: true, Asks: true}
	Completion = Shape{Needs: "prompt", Streams: true, Asks: true}
	Embedding  = Shape{Needs: "input"}
	Messages   = Shape{Needs: "messages", List: true, Streams: true}
	TokenCount = Shape{Needs: "messages", List: true}
	Responses  = Shape{Needs: "input", Streams: true, Keeps: true}
)

// The members that two readers must not be able to read differently: each may stand once, in one spelling.
const (
	model = iota
	stream
	streamOptions
	needed // by the kind
	metadata
	promptCacheKey
	user
	store // from here on only of kinds that are kept
	previousResponse
	conversation
	promptTemplate
	background
	routing // how many they are
)

// members says where each stands.
type members [routing]Span

// spellings are their names, in the order of the constants; "" is a member that the kind does not have.
func (s Shape) spellings() [routing]string {
	names := [routing]string{"model", "stream", "stream_options", s.Needs, "metadata", "prompt_cache_key", "user"}
	if s.Keeps {
		copy(names[store:], []string{"store", "previous_response_id", "conversation", "prompt", "background"})
	}
	return names
}

// routes returns which of the members has this name, or one that differs in case only; -1 for any other.
func routes(name []byte, spellings *[routing]string) int {
	for i, n := range spellings {
		if n != "" && len(n) == len(name) && bytes.EqualFold(name, []byte(n)) {
			return i
		}
	}
	return -1
}
