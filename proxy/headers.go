package proxy

import (
	"net/http"

	"hermes-hub/router"
)

// The headers that the hub answers with. Canonical forms, set directly.
const (
	headerRequestID   = "X-Hub-Request-Id"
	headerRole        = "X-Hub-Role"
	headerRoleSource  = "X-Hub-Role-Source"
	headerProfile     = "X-Hub-Profile"
	headerModel       = "X-Hub-Model"
	headerAttempts    = "X-Hub-Attempts"
	headerFailover    = "X-Hub-Failover-Reason"
	headerXRequestID  = "X-Request-Id"
	headerAnthropicID = "Request-Id"
	headerDropped     = "X-Hub-Dropped-Params"
	headerRunID       = "X-Hub-Run-Id"
)

// Headers of providers' APIs.
const (
	headerChatGPTAccount   = "Chatgpt-Account-Id"
	headerAnthropicVersion = "Anthropic-Version"
	headerAnthropicBeta    = "Anthropic-Beta"
)

// toUpstream are the client's headers that an upstream of the same protocol may see. Everything else stays here:
// credentials, cookies, host names, tracing, and Idempotency-Key, with which Go's transport would send a POST twice on its
// own.
var toUpstream = map[router.Protocol][]string{
	router.ProtocolChat:      {"Openai-Beta"},
	router.ProtocolResponses: {"Openai-Beta"},
	router.ProtocolMessages:  {headerAnthropicVersion, headerAnthropicBeta},
}

// toClient are the upstream's headers that a client may see. Quota headers of one account are not the role's, and headers
// that name the account or its organisation concern nobody.
var toClient = [...]string{"Content-Type", "Content-Language", "Openai-Processing-Ms", "Openai-Version", "Openai-Model"}

// copyListed copies the listed headers of from to to.
func copyListed(to, from http.Header, list []string) {
	for _, name := range list {
		if values, ok := from[name]; ok {
			to[name] = values
		}
	}
}
