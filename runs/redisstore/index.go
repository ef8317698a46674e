package redisstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/runs"
)

// list is a sorted set that says where to look for runs. Its scores are times in microseconds.
func (s *Store) list(of string) string { return s.o.Prefix + "runs:" + of }

const (
	all   = "all"   // by when they began, tombstones left out
	live  = "live"  // those that have not ended
	tombs = "tombs" // tombstones, by when they ended
)

// ofOwner and ofSession are the lists of an owner's and of a session's runs, tombstones too.
func ofOwner(owner string) string { return "owner:" + digest(owner) }

func ofSession(owner, session string) string { return "session:" + digest(owner+"\x00"+session) }

// digest keeps what users name out of keys, and keys short.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// listedFor is how long the list of an owner or a session lasts that gets no new run.
const listedFor = 60 * 24 * time.Hour

// chunk is how many runs one pipeline looks at.
const chunk = 256

func score(t time.Time) float64 { return float64(t.UnixMicro()) }

func scoreText(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// enlist puts a run into the lists, where it may be already.
func (s *Store) enlist(ctx context.Context, pipe redis.Pipeliner, runID string, o runs.Origin) {
	z := redis.Z{Score: score(o.CreatedAt), Member: runID}
	for _, of := range []string{all, live} {
		pipe.ZAddNX(ctx, s.list(of), z)
	}
	for _, of := range []string{ofOwner(o.Owner), ofSession(o.Owner, o.SessionID)} {
		pipe.ZAddNX(ctx, s.list(of), z)
		pipe.PExpire(ctx, s.list(of), listedFor)
	}
}

// ended takes runs from the list of the living. It may fail: who looks there asks the run itself.
func (s *Store) ended(ctx context.Context, runIDs []string) {
	if len(runIDs) == 0 {
		return
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_ = s.client.ZRem(ctx, s.list(live), members(runIDs)...).Err()
}

func members(runIDs []string) []any {
	ms := make([]any, len(runIDs))
	for i, id := range runIDs {
		ms[i] = id
	}
	return ms
}

// List is runs.Store's. Of the lists it takes the shortest that has all that the filter asks for.
func (s *Store) List(ctx context.Context, f runs.Filter) ([]runs.Head, error) {
	of := all
	switch {
	case f.Owner != "" && f.SessionID != "":
		of = ofSession(f.Owner, f.SessionID)
	case f.Active:
		of = live
	case f.Owner != "":
		of = ofOwner(f.Owner)
	}
	from, skip := "+inf", int64(0)
	if f.After.RunID != "" {
		from = scoreText(score(f.After.CreatedAt))
	}
	var heads []runs.Head
	for {
		entries, err := s.entries(ctx, of, from, skip)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		found, err := s.heads(ctx, entries)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		for _, h := range found {
			if !wanted(h, f) {
				continue
			}
			if heads = append(heads, h); len(heads) == f.Limit {
				return heads, nil
			}
		}
		if len(entries) < chunk {
			return heads, nil
		}
		from, skip = behind(entries, from, skip)
	}
}

// entries are the next of a list, newest first, from a score on, of which it skips so many.
func (s *Store) entries(ctx context.Context, of, from string, skip int64) ([]redis.Z, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	entries, err := s.client.ZRevRangeByScoreWithScores(ctx, s.list(of), &redis.ZRangeBy{Max: from, Min: "-inf", Offset: skip, Count: chunk}).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	return entries, nil
}

// behind is where a list goes on behind entries: at their last score, of which some were seen.
func behind(entries []redis.Z, from string, skip int64) (string, int64) {
	last := scoreText(entries[len(entries)-1].Score)
	if last != from {
		skip = 0
	}
	for i := len(entries) - 1; i >= 0 && scoreText(entries[i].Score) == last; i-- {
		skip++
	}
	return last, skip
}

// heads asks the runs themselves. Those that are no more are left out.
func (s *Store) heads(ctx context.Context, entries []redis.Z) ([]runs.Head, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	calls := make([]call, len(entries))
	for i, z := range entries {
		calls[i] = call{z.Member.(string), []any{"1-0", 0, 0}} // members come back as strings
	}
	cmds, err := s.call(ctx, s.read, calls, nil)
	if err != nil {
		return nil, err
	}
	var heads []runs.Head
	for i, cmd := range cmds {
		switch p, err := pageOf(calls[i].runID, cmd); {
		case err == nil:
			heads = append(heads, p.Head)
		case !errors.Is(err, runs.ErrUnknownRun):
			return nil, err
		}
	}
	return heads, nil
}

func wanted(h runs.Head, f runs.Filter) bool {
	if f.After.RunID != "" && !older(h, f.After) {
		return false
	}
	return !h.Expired && (f.Owner == "" || f.Owner == h.Owner) && (f.SessionID == "" || f.SessionID == h.SessionID) && (!f.Active || h.Active())
}

// older reports whether a comes behind b in a list.
func older(a, b runs.Head) bool {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c < 0
	}
	return a.RunID < b.RunID
}
