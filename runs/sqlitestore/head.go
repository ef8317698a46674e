package sqlitestore

import (
	"time"

	"hermes-hub/runs"
)

// The columns of a head, as scanHead takes and headValues gives them.
const (
	headColumns = `id, session, owner, created, first_seq, last_seq, epoch, jump_from, jump_to, fence, holder, held,
		end_seq, end_state, ended, closed, expired, row_count, byte_count`
	headPlaces = `?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?`
)

func headValues(h runs.Head) []any {
	return []any{
		h.RunID, h.SessionID, h.Owner, h.CreatedAt.UnixMicro(), h.First, h.Last, h.Epoch, h.JumpFrom, h.JumpTo, h.Fence, h.Holder, h.HeldAt.UnixMicro(),
		h.EndSeq, string(h.End), h.EndedAt.UnixMicro(), h.Closed, h.Expired, h.Rows, h.Bytes,
	}
}

// scanHead reads a run's key and head.
func scanHead(scan func(...any) error) (key int64, h runs.Head, err error) {
	var created, held, ended int64
	err = scan(
		&key, &h.RunID, &h.SessionID, &h.Owner, &created, &h.First, &h.Last, &h.Epoch, &h.JumpFrom, &h.JumpTo, &h.Fence, &h.Holder, &held,
		&h.EndSeq, &h.End, &ended, &h.Closed, &h.Expired, &h.Rows, &h.Bytes,
	)
	h.CreatedAt, h.HeldAt, h.EndedAt = micros(created), micros(held), micros(ended)
	return key, h, err
}

// micros is a time as the file keeps it. The zero Time comes back as such.
func micros(n int64) time.Time { return time.UnixMicro(n).UTC() }
