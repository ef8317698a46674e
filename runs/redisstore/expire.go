package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Expire is runs.Store's.
func (s *Store) Expire(ctx context.Context, ended, forgotten time.Time) (int, error) {
	sweep := sweep{s: s, ended: ended, forgotten: forgotten}
	for _, l := range []struct {
		of string
		to time.Time // beyond it nothing has to be done
	}{{all, ended}, {tombs, forgotten}} {
		if err := sweep.list(ctx, l.of, l.to); err != nil {
			return sweep.expired, fmt.Errorf("expire: %w", err)
		}
	}
	return sweep.expired, nil
}

// sweep is one Expire.
type sweep struct {
	s                *Store
	ended, forgotten time.Time
	expired          int
}

// list looks at the runs of a list, oldest first, up to a time.
func (w *sweep) list(ctx context.Context, of string, to time.Time) error {
	for kept := int64(0); ; {
		entries, err := w.oldest(ctx, of, to, kept)
		if err != nil || len(entries) == 0 {
			return err
		}
		left, err := w.runs(ctx, of, entries)
		if err != nil {
			return err
		}
		kept += left
	}
}

func (w *sweep) oldest(ctx context.Context, of string, to time.Time, skip int64) ([]redis.Z, error) {
	ctx, cancel := w.s.bounded(ctx)
	defer cancel()
	entries, err := w.s.client.ZRangeByScoreWithScores(ctx, w.s.list(of), &redis.ZRangeBy{Min: "-inf", Max: scoreText(score(to)), Offset: skip, Count: chunk}).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	return entries, nil
}

// runs lets the script decide of each run and brings the lists after it. It returns how many stay in the list.
func (w *sweep) runs(ctx context.Context, of string, entries []redis.Z) (int64, error) {
	calls := make([]call, len(entries))
	for i, z := range entries {
		calls[i] = call{z.Member.(string), []any{w.ended.UnixMicro(), w.forgotten.UnixMicro(), w.s.o.Tombstone.Milliseconds()}}
	}
	cmds, err := w.s.call(ctx, w.s.expire, calls, nil)
	if err != nil {
		return 0, err
	}
	ctx, cancel := w.s.bounded(ctx)
	defer cancel()
	pipe, left := w.s.client.Pipeline(), int64(0)
	for i, cmd := range cmds {
		what, err := fateOf(cmd)
		if err != nil {
			return 0, err
		}
		if what.expired {
			w.expired++
		}
		// A run that is not there may be about to begin, unless it is long ago.
		if what.gone {
			what.gone = entries[i].Score < score(w.forgotten)
		}
		if !w.relist(ctx, pipe, of, entries[i], what) {
			left++
		}
	}
	if pipe.Len() > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return 0, unavailable(err)
		}
	}
	return left, nil
}

// relist brings the lists after what became of a run, and reports whether it has left this one.
func (w *sweep) relist(ctx context.Context, pipe redis.Pipeliner, of string, z redis.Z, what fate) bool {
	s, id := w.s, z.Member.(string)
	lists := []string{all, live}
	switch {
	case what.forgotten:
		lists = append(lists, tombs, ofOwner(what.owner), ofSession(what.owner, what.session))
	case what.gone:
		lists = append(lists, tombs) // the others expire
	case what.tombstone && of == all:
		pipe.ZAdd(ctx, s.list(tombs), redis.Z{Score: score(what.endedAt), Member: id})
	default:
		return false
	}
	for _, l := range lists {
		pipe.ZRem(ctx, s.list(l), id)
	}
	return true
}

// fate is what became of a run.
type fate struct {
	expired, tombstone, forgotten, gone bool
	endedAt                             time.Time
	session, owner                      string
}

// fateOf reads what the script said.
func fateOf(cmd *redis.Cmd) (fate, error) {
	if cmd.Err() != nil { // another program's key
		return fate{gone: true}, nil
	}
	values, err := cmd.Slice()
	if err != nil || len(values) != 4 {
		return fate{}, errNoAnswer
	}
	r := reader{values: values}
	word := r.text()
	f := fate{endedAt: r.time(), session: r.text(), owner: r.text()}
	switch word {
	case "expired":
		f.expired, f.tombstone = true, true
	case "expired and forgotten":
		f.expired, f.forgotten = true, true
	case "tombstone":
		f.tombstone = true
	case "forgotten":
		f.forgotten = true
	case "gone":
		f.gone = true
	}
	if r.bad {
		return fate{}, errNoAnswer
	}
	return f, nil
}

// DeleteSession is runs.Store's. Of each run a marker stays for as long as a tombstone would: a writer that finds nothing at
// all takes its run for lost and begins it anew.
func (s *Store) DeleteSession(ctx context.Context, owner, sessionID string) (int, error) {
	of := ofSession(owner, sessionID)
	ids, err := s.sessionRuns(ctx, of)
	if err != nil {
		return 0, fmt.Errorf("delete session: %w", err)
	}
	deleted := 0
	for len(ids) > 0 {
		n := min(len(ids), chunk)
		calls := make([]call, n)
		for i, id := range ids[:n] {
			calls[i] = call{id, []any{owner, sessionID, s.o.Tombstone.Milliseconds()}}
		}
		cmds, err := s.call(ctx, s.delete, calls, nil)
		if err != nil {
			return deleted, fmt.Errorf("delete session: %w", err)
		}
		var gone []string
		for i, cmd := range cmds {
			if one, _ := cmd.Int(); one == 1 { // another program's key is no run
				gone = append(gone, ids[i])
			}
		}
		if err := s.strike(ctx, gone, all, live, tombs, ofOwner(owner), of); err != nil {
			return deleted, fmt.Errorf("delete session: %w", err)
		}
		deleted, ids = deleted+len(gone), ids[n:]
	}
	return deleted, nil
}

func (s *Store) sessionRuns(ctx context.Context, of string) ([]string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ids, err := s.client.ZRange(ctx, s.list(of), 0, -1).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	return ids, nil
}

// strike takes runs from lists.
func (s *Store) strike(ctx context.Context, runIDs []string, lists ...string) error {
	if len(runIDs) == 0 {
		return nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	pipe := s.client.Pipeline()
	for _, l := range lists {
		pipe.ZRem(ctx, s.list(l), members(runIDs)...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}
