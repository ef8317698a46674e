package proxy

import (
	"hermes-hub/telemetry"
)

// mostUntold is how many bytes of words of one call wait for a recorder before more of them are left out.
const mostUntold = 1 << 20

// record is what one call leaves: news for the recorder, until it is told of them. It is the scribe's, which guards it.
type record struct {
	facts Recorded
	body  []byte // of which the last words of the user are kept; nil = they are not, or the recorder was told

	said   []saying // not told yet
	untold int      // bytes of it
	ended  bool
	story  telemetry.Exchange // once ended
	queued bool               // among those with news

	recording Recording // the worker's; nil before it begins, and when nothing is kept
	begun     bool
}

// saying is one piece of an answer.
type saying struct {
	kind saidKind
	text string
	call ToolCall
	left int
}

type saidKind uint8

const (
	saidText saidKind = iota
	saidReasoning
	saidCall
	saidLess // pieces were left out
)

func (s *saying) size() int {
	return len(s.text) + len(s.call.ID) + len(s.call.Name) + len(s.call.Arguments)
}

// tell tells one piece.
func (s *saying) tell(to Recording) {
	switch s.kind {
	case saidText:
		to.Text(s.text)
	case saidReasoning:
		to.Reasoning(s.text)
	case saidCall:
		to.Tool(s.call)
	case saidLess:
		to.Left(s.left)
	}
}

// keep begins the record of the call, where one is wanted, and gives it a run.
func (x *exchange) keep() {
	depth := x.settings.Record
	if depth == KeepNothing || x.p.scribe == nil || !x.surface.generates || x.inner != nil || x.req.Kept.Background || unstored(x.r.Header) {
		return
	}
	r := &record{facts: Recorded{
		RunID: newRunID(x.told.Start), RequestID: x.told.ID, Start: x.told.Start, Endpoint: x.told.Endpoint,
		Key: x.told.Key, Session: x.session, Role: x.told.Role, RoleSource: x.told.RoleSource, Model: clip(x.req.Model, longestFact), Stream: x.req.Stream,
		Fields: fieldsOf(x.req.Metadata.In(x.body), x.r.Header),
	}}
	if depth == KeepWords {
		r.body = x.body
	}
	if x.p.scribe.admit(r) {
		x.record = r
		x.belongTo(r.facts.RunID)
	}
}
