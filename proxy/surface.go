package proxy

import (
	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// surface is one route of a client's protocol. All of them go through the same exchange; a row adds one.
type surface struct {
	endpoint string          // as metrics and logs name it; its path under a base
	protocol router.Protocol // what its client speaks: an account of the same is sent the client's own bytes
	path     string          // appended to the base URL of such an account
	dialect  *dialect
	shape    wire.Shape
	whole    func(body []byte) (wire.Answer, [][]byte) // looks at an answer that is not streamed, and at what is sealed in it
	// unseal takes out of a request what other accounts have sealed; seal is how that is called. nil = there is no such thing.
	unseal     func(body []byte, keep func(value []byte) bool, edits []wire.Edit) ([]wire.Edit, []string)
	seal       string
	structured string // the member that asks for an answer by a JSON schema
	// speech is how its clients are served by accounts of other protocols; nil = not at all.
	speech *speech
	// own says that an account may put its own model in the place of one it does not list. What a chat asks any model
	// can take up; an embedding of another model is noise in somebody's index.
	own bool
	// aside says that a call says nothing of the account that got it: it consumes nothing, and has limits of its own.
	aside bool
	// generates says that an answer is made of a model's words: a call leaves a run, where calls do.
	generates bool
	// alone says that no other protocol has the like: an account of another one cannot be asked by translation.
	alone bool
	// stores says that a provider keeps what it answers unless it is told not to.
	stores bool
	// lacks is what no account can do when none speaks the protocol of a surface that is alone; "" = that is no answer.
	lacks string
}

// The surfaces of OpenAI's API, and of Anthropic's.
var (
	chatSurface = surface{
		endpoint: "/v1/chat/completions", protocol: router.ProtocolChat, path: "/chat/completions", dialect: &openAI,
		shape: wire.Chat, whole: chatAnswer, own: true, generates: true, unseal: wire.UnsealChat, seal: "messages[].reasoning_details", structured: "response_format", speech: &chatSpeech,
	}
	completionSurface = surface{
		endpoint: "/v1/completions", protocol: router.ProtocolChat, path: "/completions", dialect: &openAI,
		shape: wire.Completion, whole: chatAnswer, own: true, generates: true, alone: true,
	}
	embeddingSurface = surface{
		endpoint: "/v1/embeddings", protocol: router.ProtocolChat, path: "/embeddings", dialect: &openAI,
		shape: wire.Embedding, whole: chatAnswer, alone: true,
	}
	messagesSurface = surface{
		endpoint: "/v1/messages", protocol: router.ProtocolMessages, path: "/v1/messages", dialect: &anthropic,
		shape: wire.Messages, whole: wire.ReadMessagesAnswer, own: true, generates: true, unseal: wire.UnsealMessages, seal: "messages[].content[].thinking", structured: "output_config",
	}
	countSurface = surface{
		endpoint: "/v1/messages/count_tokens", protocol: router.ProtocolMessages, path: "/v1/messages/count_tokens", dialect: &anthropic,
		shape: wire.TokenCount, whole: tokenCount, own: true, unseal: wire.UnsealMessages, seal: "messages[].content[].thinking", aside: true, alone: true, lacks: "count tokens",
	}
	responsesSurface = surface{
		endpoint: "/v1/responses", protocol: router.ProtocolResponses, path: "/responses", dialect: &openAI,
		shape: wire.Responses, whole: wire.ReadResponsesAnswer, own: true, generates: true,
		unseal: wire.UnsealResponses, seal: "input[].reasoning", structured: "text.format", stores: true, speech: &responsesSpeech,
	}
	compactSurface = surface{
		endpoint: "/v1/responses/compact", protocol: router.ProtocolResponses, path: "/responses/compact", dialect: &openAI,
		shape: wire.Shape{Needs: "input", Keeps: true}, whole: wire.ReadResponsesAnswer, own: true, generates: true,
		unseal: wire.UnsealResponses, seal: "input[].reasoning", alone: true, lacks: "compact a conversation",
	}
)

// surfaces lists them all, for the routes and the metrics.
func surfaces() []*surface {
	return []*surface{
		&chatSurface, &completionSurface, &embeddingSurface,
		&messagesSurface, &countSurface, &responsesSurface, &compactSurface,
	}
}

func chatAnswer(body []byte) (wire.Answer, [][]byte) { return wire.ReadAnswer(body), nil }

func tokenCount(body []byte) (wire.Answer, [][]byte) { return wire.ReadTokenCount(body), nil }

// Endpoints lists the routes that metrics and logs may name.
func Endpoints() []string {
	var names []string
	for _, s := range surfaces() {
		names = append(names, s.endpoint)
	}
	return names
}
