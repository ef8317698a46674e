package redisstore

import (
	"context"
	"crypto/sha1" // it is how Redis names scripts
	"encoding/hex"

	"github.com/redis/go-redis/v9"
)

// script is one of the store's, as Redis knows it.
type script struct{ body, sha string }

// compose puts a script behind what all of them begin with. The first line is its own: with it, Redis refuses to begin a
// script that writes on a replica, or without memory for it, rather than to let it fail somewhere.
func compose(first, body string) script {
	body = first + "\n" + headLua + body
	sum := sha1.Sum([]byte(body))
	return script{body, hex.EncodeToString(sum[:])}
}

// call is a run of a script for one run.
type call struct {
	runID string
	args  []any
}

// call runs a script once for each call, in one pipeline behind what `before` puts into it. It fails when Redis does not
// answer; what is wrong with a single call stands in its Cmd.
func (s *Store) call(ctx context.Context, sc script, calls []call, before func(redis.Pipeliner)) ([]*redis.Cmd, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	pipe, cmds := s.client.Pipeline(), make([]*redis.Cmd, len(calls))
	if before != nil {
		before(pipe)
	}
	for i, c := range calls {
		cmds[i] = pipe.EvalSha(ctx, sc.sha, s.keys(c.runID), c.args...)
	}
	others, _ := pipe.Exec(ctx) // every command has its own error
	s.teach(ctx, sc, calls, cmds)
	for _, cmd := range others[:len(others)-len(cmds)] {
		if err := cmd.Err(); err != nil {
			return nil, unavailable(err)
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
			return nil, unavailable(err)
		}
	}
	return cmds, nil
}

// teach runs again, with the script's text, the calls whose server did not know the script, and those that came after them
// for the same run, so that their order is kept.
func (s *Store) teach(ctx context.Context, sc script, calls []call, cmds []*redis.Cmd) {
	pipe, behind := s.client.Pipeline(), map[string]bool{}
	for i, c := range calls {
		if behind[c.runID] || redis.HasErrorPrefix(cmds[i].Err(), "NOSCRIPT") {
			behind[c.runID] = true
			cmds[i] = pipe.Eval(ctx, sc.body, s.keys(c.runID), c.args...)
		}
	}
	if len(behind) > 0 {
		_, _ = pipe.Exec(ctx) // as above
	}
}
