package proxy

import (
	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// call is what one attempt sends, and how what comes back becomes the client's answer.
type call struct {
	path    string // appended to the account's base URL
	body    []byte
	stream  bool     // of the account: some give nothing else
	dropped []string // what of the client's body was left out, in the client's words
}

// compose writes the call to one node. The error says what of the request cannot be said to an account of its kind.
func (x *exchange) compose(n *router.Node) (call, error) {
	c := call{path: x.surface.path, body: x.body, stream: x.req.Stream}
	var edits []wire.Edit
	if x.surface.stores {
		edits = x.req.Unstored(x.body, nil)
	}
	if edits = x.req.Upstream(x.body, n.Model, true, edits); len(edits) > 0 {
		c.body = wire.Splice(make([]byte, 0, len(x.body)+64), x.body, edits)
	}
	return c, nil
}
