module hermes-hub/proxy/clients

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.99.0
	hermes-hub v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/tidwall/gjson v1.20.3 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
)

// Real clients live in a module of their own, so that their dependencies are none of the hub's. What they are tried on is
// the hub of this checkout.
replace hermes-hub => ../..
