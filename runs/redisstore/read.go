package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/runs"
)

// What the script answers with: the head and the oldest seq, then the values of each row.
const (
	headWide = 21
	rowWide  = 6
)

// Read is runs.Store's. A page is one script: nothing is written while it looks.
func (s *Store) Read(ctx context.Context, runID string, after int64, limit, maxBytes int) (runs.Page, error) {
	from := strconv.FormatInt(min(max(after, 0), math.MaxInt64-1)+1, 10) + "-0"
	cmds, err := s.call(ctx, s.read, []call{{runID, []any{from, limit, maxBytes}}}, nil)
	if err != nil {
		return runs.Page{}, fmt.Errorf("read: %w", err)
	}
	page, err := pageOf(runID, cmds[0])
	if err != nil && !errors.Is(err, runs.ErrUnknownRun) {
		return runs.Page{}, fmt.Errorf("read: %w", err)
	}
	return page, err
}

// pageOf reads what the script said.
func pageOf(runID string, cmd *redis.Cmd) (runs.Page, error) {
	if cmd.Err() != nil { // another program's key
		return runs.Page{}, runs.ErrUnknownRun
	}
	values, err := cmd.Slice()
	switch {
	case err == nil && len(values) == 0:
		return runs.Page{}, runs.ErrUnknownRun
	case err != nil || len(values) < headWide || (len(values)-headWide)%rowWide != 0:
		return runs.Page{}, errNoAnswer
	}
	r := reader{values: values}
	p := runs.Page{Head: r.head(runID)}
	if n := (len(values) - headWide) / rowWide; n > 0 {
		p.Rows = make([]runs.Event, n)
		for i := range p.Rows {
			p.Rows[i] = r.row(p.Head)
		}
	}
	if r.bad {
		return runs.Page{}, errNoAnswer
	}
	return p, nil
}

// reader takes values of an answer one by one. bad is whether one was none of the script's.
type reader struct {
	values []any
	bad    bool
}

func (r *reader) text() string {
	s, ok := r.values[0].(string)
	r.values, r.bad = r.values[1:], r.bad || !ok
	return s
}

func (r *reader) number() int64 {
	n, err := strconv.ParseInt(r.text(), 10, 64)
	r.bad = r.bad || err != nil
	return n
}

// time reads a time that may not have come yet.
func (r *reader) time() time.Time {
	if r.values[0] == "" {
		r.values = r.values[1:]
		return time.Time{}
	}
	return time.UnixMicro(r.number()).UTC()
}

func (r *reader) head(runID string) runs.Head {
	h := runs.Head{RunID: runID, Holder: r.text(), HeldAt: r.time(), End: runs.TerminalState(r.text()), EndedAt: r.time()}
	h.SessionID, h.Owner, h.CreatedAt = r.text(), r.text(), r.time()
	_ = r.text() // which server took the newest producer in
	h.Last, h.Epoch, h.JumpFrom, h.JumpTo, h.Fence, h.EndSeq = r.number(), r.number(), r.number(), r.number(), r.number(), r.number()
	h.Closed, h.Expired = r.number() == 1, r.number() == 1
	h.Rows, h.Bytes = r.number(), r.number()
	_, _ = r.number(), r.number() // when its rows expire, and whether this was made of them
	h.First = r.number()
	return h
}

func (r *reader) row(h runs.Head) runs.Event {
	e := runs.Event{RunID: h.RunID, SessionID: h.SessionID, Seq: r.number()}
	e.Terminal = strings.HasPrefix(r.text(), "t")
	e.Type, e.CreatedAt, e.Epoch, e.Payload = runs.Type(r.text()), r.time(), r.number(), json.RawMessage(r.text())
	return e
}
