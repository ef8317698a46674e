package sqlitestore

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"hermes-hub/runs"
)

// The columns of a row, as scanRow takes them.
const rowColumns = `seq, epoch, type, created, terminal, sum, payload`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of a row and its place.
func sum(e runs.Event) uint32 {
	place := make([]byte, 0, 256)
	place = append(binary.AppendVarint(place, int64(len(e.RunID))), e.RunID...)
	place = append(binary.AppendVarint(place, int64(len(e.Type))), e.Type...)
	place = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(place, e.Seq), e.Epoch), e.CreatedAt.UnixMicro())
	if e.Terminal {
		place = append(place, 1)
	}
	return crc32.Update(crc32.Checksum(place, castagnoli), castagnoli, e.Payload)
}

// scanRow reads a row of a run. sound says whether it is what was written.
func scanRow(h runs.Head, scan func(...any) error) (e runs.Event, sound bool, err error) {
	var created int64
	var written uint32
	e = runs.Event{RunID: h.RunID, SessionID: h.SessionID}
	if err := scan(&e.Seq, &e.Epoch, &e.Type, &created, &e.Terminal, &written, (*[]byte)(&e.Payload)); err != nil {
		return runs.Event{}, false, err
	}
	e.CreatedAt = micros(created)
	return e, sum(e) == written, nil
}

// blob is bytes that SQLite does not take for NULL.
func blob(b json.RawMessage) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
