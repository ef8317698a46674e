package proxy

import (
	"errors"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
	"hermes-hub/router"
)

// call is what one attempt sends, and how what comes back becomes the client's answer.
type call struct {
	path    string // appended to the account's base URL
	body    []byte
	stream  bool     // of the account: some give nothing else
	codec   *codec   // nil = the client's own bytes pass
	dropped []string // what of the client's body was left out, in the client's words
}

// errUnspoken is an account whose protocol became another one while its request was on its way to it.
var errUnspoken = errors.New("no account of the role speaks a protocol that this request can be told in")

// compose writes the call to one node. The error says what of the request cannot be said to an account of its kind; it is
// a *wire.FieldError, or errUnspoken. Of what other accounts have sealed nothing is sent, and with bare nothing sealed.
func (x *exchange) compose(n *router.Node, with Credential, bare bool) (call, error) {
	opens := x.opens(n.Profile, bare)
	if n.Profile.Protocol == x.surface.protocol {
		return x.pass(n, opens)
	}
	c := call{stream: x.req.Stream || n.Profile.Provider.Codex, codec: codecOf(x.surface, n.Profile.Protocol)}
	if c.codec == nil {
		return call{}, errUnspoken
	}
	speech := x.surface.speech
	if x.neutral == nil && x.unread == nil {
		x.neutral, x.unread = speech.read(x.body)
	}
	if x.unread != nil {
		return call{}, x.unread
	}
	if c.codec.own {
		opens = x.opensOwn(n.Profile, bare)
	}
	r, removed := x.surface.unsealed(x.neutral, opens, bare)
	encoded, err := c.codec.encode(r, neutral.Target{
		Model: n.Model, Stream: c.stream, MaxOutput: router.ModelOf(n.Profile.Provider.ID, n.Model).MaxOutput,
		Project: with.Project, Codex: n.Profile.Provider.Codex,
	})
	c.path, c.body, c.dropped = c.codec.path(n.Model, c.stream), encoded.Body, speech.words(append(encoded.Dropped, removed...))
	return c, speech.wording(err)
}

// pass is the call to an account of the client's own protocol: the client's bytes, but for the account's name of the model
// and what the account needs.
func (x *exchange) pass(n *router.Node, opens func(value string) bool) (call, error) {
	c := call{path: x.surface.path, body: x.body, stream: x.req.Stream}
	edits, removed, err := x.unseal(opens, nil)
	if err != nil {
		return c, err
	}
	switch {
	case !x.surface.stores:
	case n.Profile.Provider.Codex:
		edits, c.dropped = responses.ForCodex(x.body, edits)
		c.stream = true
	default:
		edits = x.req.Unstored(x.body, edits)
	}
	if x.surface.stores && x.req.Kept.Store && gjson.GetBytes(x.body, "store").Bool() {
		c.dropped = append(c.dropped, "store")
	}
	c.dropped = append(c.dropped, removed...)
	if edits = x.req.Upstream(x.body, n.Model, true, edits); len(edits) > 0 {
		c.body = wire.Splice(make([]byte, 0, len(x.body)+64), x.body, edits)
	}
	return c, nil
}
