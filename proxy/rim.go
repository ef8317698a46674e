package proxy

import (
	"net/http"
	"path"
	"strings"
)

// rim is what every request passes before it is routed: is the hub meant at all, may the page behind it, if there is one,
// do this, and does it want a protocol that is not spoken here.
func (p *Proxy) rim(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := p.settings.Load()
		switch {
		case !s.names.Include(r):
			deny(w, r, &refusal{code: codeForeignHost, message: "this Host is not served here; add it to server.allowed_hosts if it is meant to be"})
			return
		case s.origins.foreign(r):
			deny(w, r, &refusal{code: codeCrossOrigin, message: "pages of this web origin may not use the hub; add it to server.allowed_origins if they should"})
			return
		}
		s.origins.tell(w.Header(), r)
		switch {
		case preflight(r):
			w.WriteHeader(http.StatusNoContent)
		case wantsWebSocket(r):
			// Codex asks so first, and falls back at once on this status and on no other (openai/codex#43353).
			w.Header().Set("Upgrade", "HTTP/1.1")
			w.Header().Set("Connection", "Upgrade")
			deny(w, r, &refusal{code: codeUpgradeRequired, message: "WebSocket is not spoken here: send POST /v1/responses (for Codex: supports_websockets = false)"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// wantsWebSocket reports whether r would talk to /v1/responses over a WebSocket.
func wantsWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.HasSuffix(path.Clean(r.URL.Path), "/v1/responses")
}

// deny answers a request that belongs to no exchange.
func deny(w http.ResponseWriter, r *http.Request, e *refusal) {
	nameRequest(w.Header())
	e.write(w, dialectAt(r.URL.Path))
}

// nameRequest gives the answer to a request that belongs to no exchange an id.
func nameRequest(h http.Header) {
	id := newRequestID()
	h.Set(headerRequestID, id)
	h.Set(headerXRequestID, id)
	h.Set(headerAnthropicID, id)
}
