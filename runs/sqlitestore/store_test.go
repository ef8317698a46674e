package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/runs/storetest"
)

// db opens a file that is closed when the test ends.
func db(t testing.TB, file string) *sqlitestore.DB {
	t.Helper()
	d, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "hub", "hub.db") }

func open(t testing.TB) runs.Store { return db(t, fresh(t)).Runs() }

func TestStore(t *testing.T) { storetest.Run(t, open) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }

func TestDurable(t *testing.T) {
	storetest.Durable(t, func(t testing.TB) (runs.Store, func() runs.Store) {
		file := fresh(t)
		d := db(t, file)
		return d.Runs(), func() runs.Store {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = db(t, file)
			return d.Runs()
		}
	})
}
