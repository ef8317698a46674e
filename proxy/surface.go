package proxy

import "hermes-hub/proxy/wire"

// surface is one route of the client's protocol. All of them go through the same exchange; a row adds one.
type surface struct {
	endpoint string // as metrics and logs name it
	path     string // appended to an account's base URL
	shape    wire.Shape
	// own says that an account may put its own model in the place of one it does not list. What a chat asks any model
	// can take up; an embedding of another model is noise in somebody's index.
	own bool
}

// The surfaces of OpenAI's API.
var (
	chatSurface       = surface{endpoint: "/v1/chat/completions", path: "/chat/completions", shape: wire.Chat, own: true}
	completionSurface = surface{endpoint: "/v1/completions", path: "/completions", shape: wire.Completion, own: true}
	embeddingSurface  = surface{endpoint: "/v1/embeddings", path: "/embeddings", shape: wire.Embedding}
)

// surfaces lists them all, for the routes and the metrics.
func surfaces() []*surface { return []*surface{&chatSurface, &completionSurface, &embeddingSurface} }

// Endpoints lists the routes that metrics and logs may name.
func Endpoints() []string {
	var names []string
	for _, s := range surfaces() {
		names = append(names, s.endpoint)
	}
	return names
}
