package redisstore

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"hermes-hub/runs"
)

// most is beyond every number that the scripts count with exactly.
const most = 1e14

// Append is runs.Store's. The batches are one pipeline.
func (s *Store) Append(ctx context.Context, batches []runs.Batch) ([]runs.Answer, error) {
	answers := make([]runs.Answer, len(batches))
	var calls []call
	var at []int // the call's place among the batches
	for i, b := range batches {
		if o := absurd(b); o != "" {
			answers[i].Outcome = o
			continue
		}
		calls, at = append(calls, call{b.RunID, s.arguments(b)}), append(at, i)
	}
	if len(calls) == 0 {
		return answers, nil
	}
	cmds, err := s.call(ctx, s.append, calls, func(pipe redis.Pipeliner) {
		for _, b := range batches {
			if b.Begin != nil {
				s.enlist(ctx, pipe, b.RunID, *b.Begin) // before the run: a list that names no run does no harm
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	var over []string
	for i, cmd := range cmds {
		a, ended, err := answered(cmd)
		if err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
		if answers[at[i]] = a; ended && a.Err() == nil {
			over = append(over, calls[i].runID)
		}
	}
	s.ended(ctx, over)
	return answers, nil
}

// absurd refuses what no producer ever numbered so, "" for other batches.
func absurd(b runs.Batch) runs.Outcome {
	switch {
	case b.Epoch < -most || b.Epoch > most:
		return runs.Fenced
	case b.FirstSeq < -most || b.FirstSeq > most:
		return runs.Missing
	case b.Expect < -most || b.Expect > most:
		return runs.Stale
	default:
		return ""
	}
}

// arguments are a batch as the script reads it.
func (s *Store) arguments(b runs.Batch) []any {
	begin, origin := b.Begin != nil, runs.Origin{}
	if begin {
		origin = *b.Begin
	}
	args := make([]any, 0, 16+4*len(b.Rows))
	args = append(
		args, b.Producer, b.Epoch, b.FirstSeq, b.Executor, b.At.UnixMicro(), b.Expect, b.Heal, begin,
		origin.SessionID, origin.Owner, origin.CreatedAt.UnixMicro(),
		s.o.Live.Milliseconds(), s.o.Retention.Milliseconds(), s.o.Tombstone.Milliseconds(), s.bell(b.RunID), s.o.Instance+" "+b.RunID,
	)
	for _, e := range b.Rows {
		args = append(args, kindOf(e), string(e.Type), e.CreatedAt.UnixMicro(), []byte(e.Payload))
	}
	return args
}

// kindOf is a row's kind in the stream, with how the run ended when the row is terminal.
func kindOf(e runs.Event) string {
	switch e.Kind() {
	case runs.Terminal:
		return "t:" + string(e.EndState())
	case runs.PostTerminal:
		return "p"
	case runs.Closing:
		return "c"
	default:
		return "n"
	}
}

// answered reads what the script said of a batch, and whether the run has ended.
func answered(cmd *redis.Cmd) (runs.Answer, bool, error) {
	if cmd.Err() != nil { // another program's key, which no retry would mend
		return runs.Answer{Outcome: runs.Unknown}, false, nil
	}
	v, err := cmd.Slice()
	if err != nil || len(v) != 8 {
		return runs.Answer{}, false, errNoAnswer
	}
	outcome, ok := v[0].(string)
	var n [8]int64
	for i := 1; i < len(v); i++ {
		k, isInt := v[i].(int64)
		n[i], ok = k, ok && isInt
	}
	if !ok {
		return runs.Answer{}, false, errNoAnswer
	}
	return runs.Answer{
		Outcome: runs.Outcome(outcome), First: n[1], Last: n[2], Epoch: n[3], Mark: runs.Mark{Epoch: n[4], Seq: n[5], Last: n[6]},
	}, n[7] != 0, nil
}

// errNoAnswer is something in Redis that none of the scripts wrote.
var errNoAnswer = fmt.Errorf("%w: it gave an answer that is none", ErrUnavailable)
