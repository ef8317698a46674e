package proxy

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
	"hermes-hub/proxy/wire/responses"
	"hermes-hub/router"
)

// sealsCap is how many seals are remembered; the one that was made least recently goes first. A turn of an agent makes one
// or two.
const sealsCap = 16 << 10

// sealKey stands for a seal: it takes the same room however large that is.
type sealKey [16]byte

func keyOfSeal(value string) sealKey {
	sum := sha256.Sum256([]byte(value))
	return sealKey(sum[:16])
}

// sealed is one seal with the account that can open it.
type sealed struct {
	key     sealKey
	account string
}

// seals remember which account has sealed what: reasoning that travels with the conversation, encrypted or signed, and is
// of use to nobody else. They last as long as the process; one that is not known any more is sent as it is.
type seals struct {
	some atomic.Bool // whether there is any: most hubs never see one

	mu     sync.Mutex
	order  *list.List // of sealed, the one made last in front
	owners map[sealKey]*list.Element
}

func newSeals() *seals { return &seals{order: list.New(), owners: make(map[sealKey]*list.Element)} }

// keep remembers that account has sealed value.
func (s *seals) keep(value, account string) {
	k := keyOfSeal(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.some.Store(true)
	if e, ok := s.owners[k]; ok {
		e.Value.(*sealed).account = account
		s.order.MoveToFront(e)
		return
	}
	s.owners[k] = s.order.PushFront(&sealed{k, account})
	if len(s.owners) > sealsCap {
		delete(s.owners, s.order.Remove(s.order.Back()).(*sealed).key)
	}
}

// owner is the account that has sealed value; "" = not known.
func (s *seals) owner(value string) string {
	k := keyOfSeal(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.owners[k]; ok {
		return e.Value.(*sealed).account
	}
	return ""
}

// sealer names the account behind a profile: two profiles may be one account.
func sealer(p *router.Profile) string {
	if p.AccountID != "" {
		return p.Provider.ID + " " + p.AccountID
	}
	return p.ID
}

// opensOwn is opens where only what an account is known to have sealed is sent to it.
func (x *exchange) opensOwn(p *router.Profile, bare bool) func(value string) bool {
	account := sealer(p)
	return func(value string) bool { return !bare && x.p.seals.owner(value) == account }
}

// sealed hears of reasoning that only this account can open.
func (t *try) sealed(value string) { t.x.p.seals.keep(value, sealer(t.n.Profile)) }

// opens tells which seals an account is sent: its own, and those of which nobody knows whose they are. bare = none at all;
// nil = all, because nothing is known of any.
func (x *exchange) opens(p *router.Profile, bare bool) func(value string) bool {
	switch {
	case bare:
		return func(string) bool { return false }
	case !x.p.seals.some.Load():
		return nil
	}
	account := sealer(p)
	return func(value string) bool {
		owner := x.p.seals.owner(value)
		return owner == "" || owner == account
	}
}

// unseal appends the edits that take out of the client's body what opens does not want, and says what that is. What is
// sealed and cannot be left out is an error.
func (x *exchange) unseal(opens func(value string) bool, edits []wire.Edit) ([]wire.Edit, []string, error) {
	others := x.surface.protocol == router.ProtocolResponses && responses.SealedByOthers(x.body)
	if x.surface.unseal == nil || opens == nil && !others {
		return edits, nil, nil
	}
	keep := func(value []byte) bool { return !responses.ByOthers(value) && (opens == nil || opens(string(value))) }
	if x.surface.protocol == router.ProtocolResponses {
		for _, s := range wire.ResponsesSeals(x.body) {
			if s.Vital && x.p.seals.owner(string(s.Value)) != "" && !keep(s.Value) {
				return nil, nil, &wire.FieldError{Field: s.Path, What: "was made by another account, and only that one can go on with it"}
			}
		}
	}
	edits, removed := x.surface.unseal(x.body, keep, edits)
	if len(removed) == 0 {
		return edits, nil, nil
	}
	return edits, []string{x.surface.seal}, nil
}

// unsealed is r without the seals that opens does not want, and what that is; with bare without any reasoning, for there are
// accounts that refuse what nobody has signed. r stays as it is: the next account may be the one that they belong to.
func (s *surface) unsealed(r *neutral.Request, opens func(value string) bool, bare bool) (*neutral.Request, []string) {
	if opens == nil {
		return r, nil
	}
	own := *r
	own.Turns = slices.Clone(r.Turns)
	removed := len(own.Unseal(func(s neutral.Seal) bool { return opens(s.Data) })) > 0
	for i := range own.Turns {
		turn := &own.Turns[i]
		if thinks := func(p neutral.Part) bool { return p.Kind == neutral.ReasoningPart }; bare && slices.ContainsFunc(turn.Parts, thinks) {
			turn.Parts = slices.DeleteFunc(slices.Clone(turn.Parts), thinks)
			removed = true
		}
	}
	if !removed {
		return r, nil
	}
	own.Turns = slices.DeleteFunc(own.Turns, func(t neutral.Turn) bool { return len(t.Parts) == 0 })
	return &own, []string{s.seal}
}

// longestComplaint is how long an error about seals may be, in bytes: what is longer is more likely an answer that broke.
const longestComplaint = 4 << 10

// refusesSeals reports whether an account says that it cannot open what the request has brought, in the words of OpenAI,
// Anthropic or Google.
func refusesSeals(status int, body []byte) bool {
	if status >= http.StatusInternalServerError || len(body) > longestComplaint {
		return false
	}
	body = bytes.ToLower(body)
	says := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(body, []byte(w)) })
	}
	return says("invalid_encrypted_content") || says("encrypted content", "could not be") ||
		says("signature", "thinking") || says("thought", "signature")
}

// bare asks the same account once more, without anything sealed, when it could not open what it was sent. It reports whether
// the call is worth making again.
func (t *try) bare(status int, body []byte) bool {
	if t.unsealed || !refusesSeals(status, body) {
		return false
	}
	t.unsealed = true
	c, err := t.x.compose(t.n, t.with, true)
	if err != nil || slices.Equal(c.dropped, t.call.dropped) {
		return false
	}
	t.call, t.x.dropped = c, c.dropped
	return true
}
