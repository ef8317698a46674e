package runtime

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// What of a session's past goes into a call: the newest turns.
const (
	mostTurns   = 50
	mostHistory = 256 << 10 // bytes
)

// history is what was said before in a session of this owner: of each ended run that has an answer, what the user had said
// and what the answer was. What the journal does not keep is not known.
func (c *Completion) history(ctx context.Context, owner, session, runID string) (said []json.RawMessage, err error) {
	if session == "" {
		return nil, nil
	}
	heads, err := c.journal.List(ctx, runs.Filter{Owner: owner, SessionID: session, Limit: 2 * mostTurns})
	if err != nil {
		return nil, err
	}
	size := 0
	for _, h := range heads { // newest first
		if h.RunID == runID || h.Owner != owner || h.EndSeq == 0 {
			continue
		}
		run, err := c.journal.Look(ctx, h.RunID)
		if err != nil {
			return nil, err
		}
		content := asked(gjson.ParseBytes(run.Input))
		if content == nil || run.Output == "" {
			continue
		}
		answer := quoted(run.Output)
		if size += len(content) + len(answer); size > mostHistory || len(said) >= 2*mostTurns {
			break
		}
		said = append(said, message("assistant", answer), message("user", content)) // turned round below
	}
	slices.Reverse(said)
	return said, nil
}

// asked is what the user said last, as the content of a message: nil when that is not known.
func asked(input gjson.Result) json.RawMessage {
	said, err := messagesOf("input", input)
	if err != nil {
		return nil
	}
	for _, m := range slices.Backward(said) {
		if v := gjson.ParseBytes(m); v.Get("role").Str == "user" {
			return json.RawMessage(v.Get("content").Raw)
		}
	}
	return nil
}
