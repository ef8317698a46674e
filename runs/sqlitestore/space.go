package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// Space is a named part of the file for small state of another kind: values by key, both of them the owner's affair. Values
// are handed over, not copied.
//
// What Save, SaveAll, Drop and DropBelow returned without an error has been synced. After an error all of the call may have
// been done, or nothing: doing it again is right. They share the transactions of everybody else who writes at the time. Load
// and All see what was committed before they began.
type Space struct {
	db   *DB
	name string
}

// Item is a key and its value.
type Item struct {
	Key   string
	Value []byte
}

// Space is the part of the file that has this name. It needs no making.
func (d *DB) Space(name string) *Space { return &Space{d, name} }

// Save sets a value.
func (s *Space) Save(ctx context.Context, key string, value []byte) error {
	return s.SaveAll(ctx, map[string][]byte{key: value})
}

// SaveAll sets all of the values or none.
func (s *Space) SaveAll(ctx context.Context, values map[string][]byte) error {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	return s.db.writer.submit(ctx, size, func(t *tx) error {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if err := t.exec(t.save, s.name, key, blob(values[key])); err != nil {
				return err
			}
		}
		return nil
	})
}

// Drop removes a key, which need not be there.
func (s *Space) Drop(ctx context.Context, key string) error {
	return s.drop(ctx, `DELETE FROM state WHERE space = ? AND key = ?`, key)
}

// DropBelow removes every key that sorts before this one, by bytes.
func (s *Space) DropBelow(ctx context.Context, key string) error {
	return s.drop(ctx, `DELETE FROM state WHERE space = ? AND key < ?`, key)
}

func (s *Space) drop(ctx context.Context, statement, key string) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		_, err := t.execute(statement, s.name, key)
		return err
	})
}

// Load returns a key's value; ok is false when it has none.
func (s *Space) Load(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = s.db.look(ctx, func(ctx context.Context, r *reader) error {
		switch err := r.value.QueryRowContext(ctx, s.name, key).Scan(&value); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		ok = true
		return nil
	})
	return value, ok, err
}

// All returns what is there, in the order of the keys' bytes.
func (s *Space) All(ctx context.Context) (items []Item, err error) {
	err = s.db.look(ctx, func(ctx context.Context, r *reader) error {
		found, err := r.QueryContext(ctx, `SELECT key, value FROM state WHERE space = ? ORDER BY key`, s.name)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var i Item
			if err := found.Scan(&i.Key, &i.Value); err != nil {
				return err
			}
			items = append(items, i)
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}
