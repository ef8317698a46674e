package sqlitestore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"hermes-hub/runs"
)

// salvage copies into the new file what can be read of the damaged one, and counts it.
func (d *DB) salvage(ctx context.Context) error {
	old, fresh := connections(d.damage.Kept, forReading), connections(d.file, forWriting)
	defer old.Close()
	defer fresh.Close()
	from, err := old.Conn(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	wreck, w := wreck{ctx, from}, newWriter(fresh)
	defer w.reset()

	heads := wreck.heads()
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(heads)), runsAtOnce) {
		if err := w.try(ctx, []*job{{ctx: ctx, do: func(t *tx) error {
			for _, key := range keys {
				if err := d.salvageRun(t, wreck, key, heads[key]); err != nil {
					return err
				}
			}
			return nil
		}}}); err != nil {
			return err
		}
	}
	return w.try(ctx, []*job{{ctx: ctx, do: func(t *tx) error {
		values := wreck.values()
		for at, value := range values {
			if err := t.exec(t.save, at[0], at[1], blob(value)); err != nil {
				return err
			}
		}
		d.damage.Values = len(values)
		return nil
	}}})
}

// salvageRun writes a run with the rows that are left of it. Rows that are missing are a gap to whoever reads it, and
// seqs that were given are not given again.
func (d *DB) salvageRun(t *tx, from wreck, key int64, h runs.Head) error {
	var rows []runs.Event
	if !h.Expired {
		rows = from.rows(key, h)
		h.First = 0
		if len(rows) > 0 {
			h.First, h.Last = rows[0].Seq, max(h.Last, rows[len(rows)-1].Seq)
		}
		d.damage.Lost += max(0, int(h.Rows)-len(rows))
	}
	res, err := t.addRun.ExecContext(t.ctx, headValues(h)...)
	if err != nil {
		return err
	}
	fresh, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for _, e := range rows {
		if err := t.addEvent(fresh, e); err != nil {
			return err
		}
	}
	for producer, m := range from.marks(key) {
		if err := t.exec(t.moveMark, fresh, producer, m.Epoch, m.Seq, m.Last); err != nil {
			return err
		}
	}
	d.damage.Runs, d.damage.Rows = d.damage.Runs+1, d.damage.Rows+len(rows)
	return nil
}

// wreck reads a damaged file.
type wreck struct {
	ctx  context.Context
	conn *sql.Conn
}

// read reads a table in the order of its key until it meets damage, and then from the other end, so that a bad page costs
// no more than what stands on it. take returns false for what it has already.
func (w wreck) read(query, key string, take func(*sql.Rows) bool, args ...any) {
	for _, direction := range []string{" ASC", " DESC"} {
		found, err := w.conn.QueryContext(w.ctx, query+` ORDER BY `+strings.ReplaceAll(key, ",", direction+",")+direction, args...)
		if err != nil {
			continue
		}
		met := false
		for !met && found.Next() {
			met = !take(found)
		}
		err = found.Err()
		_ = found.Close() // says what Err said
		if err == nil {
			return
		}
	}
}

// heads are the readable heads by key. Of two runs with one id, which only damage can make, the first counts.
func (w wreck) heads() map[int64]runs.Head {
	heads, ids := map[int64]runs.Head{}, map[string]bool{}
	w.read(`SELECT key, `+headColumns+` FROM runs`, `key`, func(found *sql.Rows) bool {
		key, h, err := scanHead(found.Scan)
		if _, again := heads[key]; again {
			return false
		}
		if err == nil && !ids[h.RunID] {
			heads[key], ids[h.RunID] = h, true
		}
		return true
	})
	return heads
}

// rows are a run's sound rows, oldest first.
func (w wreck) rows(key int64, h runs.Head) []runs.Event {
	found := map[int64]runs.Event{}
	w.read(`SELECT `+rowColumns+` FROM rows WHERE run = ?`, `seq`, func(at *sql.Rows) bool {
		e, sound, err := scanRow(h, at.Scan)
		if _, again := found[e.Seq]; again {
			return false
		}
		if err == nil && sound {
			found[e.Seq] = e
		}
		return true
	}, key)
	rows := make([]runs.Event, 0, len(found))
	for _, seq := range slices.Sorted(maps.Keys(found)) {
		rows = append(rows, found[seq])
	}
	return rows
}

func (w wreck) marks(key int64) map[string]runs.Mark {
	marks := map[string]runs.Mark{}
	w.read(`SELECT producer, epoch, seq, last FROM marks WHERE run = ?`, `producer`, func(found *sql.Rows) bool {
		var producer string
		var m runs.Mark
		err := found.Scan(&producer, &m.Epoch, &m.Seq, &m.Last)
		if _, again := marks[producer]; again {
			return false
		}
		if err == nil {
			marks[producer] = m
		}
		return true
	}, key)
	return marks
}

// values are those of all spaces, by space and key.
func (w wreck) values() map[[2]string][]byte {
	values := map[[2]string][]byte{}
	w.read(`SELECT space, key, value FROM state`, `space, key`, func(found *sql.Rows) bool {
		var at [2]string
		var value []byte
		err := found.Scan(&at[0], &at[1], &value)
		if _, again := values[at]; again {
			return false
		}
		if err == nil {
			values[at] = value
		}
		return true
	})
	return values
}
