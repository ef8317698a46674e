package sqlitestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
)

// written makes a closed file with runs of many pages, and returns its bytes and each row's payload by run and seq.
func written(t *testing.T) (file []byte, payloads map[string]map[int64]string) {
	t.Helper()
	path := fresh(t)
	d := db(t, path)
	payloads = map[string]map[int64]string{}
	for i := range 20 {
		b := once(fmt.Sprint("r", i))
		b.Rows, payloads[b.RunID] = nil, map[int64]string{}
		for seq := range int64(40) {
			text := fmt.Sprintf(`{"delta":"%d of %d, %0200d"}`, seq+1, i, seq)
			b.Rows, payloads[b.RunID][seq+1] = append(b.Rows, runs.Event{Type: runs.TypeTokenDelta, Payload: []byte(text)}), text
		}
		store(t, d.Runs(), b)
		if err := d.Space("space").Save(t.Context(), fmt.Sprint("key", i), []byte(b.RunID)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file, payloads
}

// wreck opens a damaged file in a folder of its own. Whatever is wrong with it, the hub starts, no row reads other than it
// was written, and new rows can be stored. It returns how many rows there are.
func wreck(t *testing.T, file []byte, payloads map[string]map[int64]string) (rows int, damage sqlitestore.Damage) {
	t.Helper()
	path := fresh(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if errors.Is(err, sqlitestore.ErrNewer) {
		return 0, damage // who reads it will see what it says
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer d.Close()
	for _, run := range slices.Sorted(maps.Keys(payloads)) {
		p, err := d.Runs().Read(t.Context(), run, 0, 1<<20, 1<<30)
		if errors.Is(err, runs.ErrUnknownRun) {
			continue
		}
		if err != nil {
			t.Fatalf("read %s: %v", run, err)
		}
		for _, e := range p.Rows {
			if string(e.Payload) != payloads[run][e.Seq] {
				t.Fatalf("%s reads %s", e.ID(), e.Payload)
			}
		}
		rows += len(p.Rows)
	}
	store(t, d.Runs(), once("new"))
	damage, found := d.Damage()
	if found {
		if kept, err := os.ReadFile(damage.Kept); err != nil || len(kept) != len(file) {
			t.Errorf("the damaged file was kept with %d of its %d bytes: %v", len(kept), len(file), err)
		}
	}
	return rows, damage
}

func TestDamageOneByte(t *testing.T) {
	file, payloads := written(t)
	var offsets []int
	for at := range 108 { // the file's header and the first table's
		offsets = append(offsets, at)
	}
	for page := 1; page < len(file)/4096; page++ {
		offsets = append(offsets, page*4096+[]int{0, 3, 4, 9, 13, 2000, 4000}[page%7])
	}
	for _, at := range offsets {
		t.Run(fmt.Sprint("byte ", at), func(t *testing.T) {
			t.Parallel()
			damaged := slices.Clone(file)
			damaged[at] ^= 0xff
			wreck(t, damaged, payloads)
		})
	}
}

func TestDamageTorn(t *testing.T) {
	t.Parallel()
	file, payloads := written(t)
	for _, size := range []int{0, 1, 99, 100, 512, 4095, 4096, len(file) / 2, len(file) / 2 &^ 4095, len(file) - 4096, len(file) - 1} {
		t.Run(fmt.Sprint("cut at ", size), func(t *testing.T) { wreck(t, file[:size], payloads) })
		t.Run(fmt.Sprint("zeroes from ", size), func(t *testing.T) {
			wreck(t, append(slices.Clone(file[:size]), make([]byte, len(file)-size)...), payloads)
		})
	}
	t.Run("no database", func(t *testing.T) {
		if _, damage := wreck(t, []byte("this is no database, but long enough to be taken for one"), payloads); damage.Kept == "" {
			t.Error("it was taken for one")
		}
	})
}

// One page of rows is lost: all others are taken over, with the state beside them, and what is missing reads as missing.
func TestDamageCostsWhatItHits(t *testing.T) {
	file, payloads := written(t)
	page := len(file) / 2 &^ 4095
	clear(file[page : page+4096])
	rows, damage := wreck(t, file, payloads)
	if rows < 20*40-20 || damage.Runs != 20 || damage.Rows != rows || damage.Lost != 20*40-rows || damage.Values != 20 || damage.Found == "" {
		t.Errorf("%d of %d rows are left: %+v", rows, 20*40, damage)
	}
}

// A row whose bytes changed where SQLite does not look is left out; the journal's observers are told of a gap.
func TestDamageInAPayload(t *testing.T) {
	file, payloads := written(t)
	file[bytes.Index(file, []byte(`"7 of 11,`))+1] = '8'
	rows, damage := wreck(t, file, payloads)
	if rows != 20*40-1 || damage.Kept != "" {
		t.Errorf("%d rows, %+v", rows, damage)
	}
}
