//go:build !race

// What is tried here happens in another process, of which the race detector sees nothing.

package sqlitestore_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hermes-hub/runs/storetest"
)

// made is a file with nothing in it, and its bytes.
func made(t *testing.T) (file string, content []byte) {
	t.Helper()
	file = fresh(t)
	if err := db(t, file).Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, content
}

// lostPower cuts the power at so many moments of a recording, and wants of each what was acknowledged before.
func lostPower(t *testing.T, content []byte, calls []call, moments int) {
	t.Helper()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0))
	cuts := map[int]bool{len(calls): true}
	for len(cuts) < min(moments, len(calls)) {
		cuts[dice.IntN(len(calls))] = true
	}
	d, acked := disk{"hub.db": {synced: content}}, storetest.Acked{}
	var rows, syncs, checkpoints, failed int
	for i := range len(calls) + 1 {
		if cuts[i] {
			folder := t.TempDir()
			d.after(t, folder, dice, []float64{0, 1, 0.5}[dice.IntN(3)])
			s := db(t, filepath.Join(folder, "hub.db"))
			if found, damaged := s.Damage(); damaged {
				t.Fatalf("seed %d, call %d: the file is damaged: %s", seed, i, found.Found)
			}
			acked.Want(t, s.Runs())
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				t.Fatalf("seed %d, call %d", seed, i)
			}
		}
		if i == len(calls) {
			break
		}
		switch c := calls[i]; c.name {
		case "say":
			acked.Add(string(c.data))
			rows++
		case "sync":
			syncs++
			if c.file == "hub.db" {
				checkpoints++
			}
			if !c.ok {
				failed++
			}
			d.do(c)
		default:
			d.do(c)
		}
	}
	t.Logf("%d rows, %d syncs (%d of the file itself, %d failed), %d cuts", rows, syncs, checkpoints, failed, len(cuts))
	if rows < 100 || syncs < 20 {
		t.Error("that is too little to prove anything")
	}
}

// The power goes at any moment: between two sectors of a write, before a sync, while the log is written back.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	file, content := made(t)
	lostPower(t, content, recorded(t, file, 1500), 40)
}

// Syncs fail, and what they were to sync is lost, whatever later ones say. A commit whose sync failed could still be read from
// memory after its connection was gone, was taken for stored, and everything behind it went with the power.
func TestPowerLossAfterFailedSyncs(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"30..60+2", "20+11"} {
		t.Run(when, func(t *testing.T) {
			file, content := made(t)
			calls := recorded(t, file, 400, "fsync:error=EIO:when="+when)
			if !slices.ContainsFunc(calls, func(c call) bool { return c.name == "sync" && !c.ok }) {
				t.Fatal("no sync failed")
			}
			lostPower(t, content, calls, 30)
		})
	}
}

// The log of the last commits, cut at bytes that are no boundary of anything, or with one byte of its unsynced end changed:
// each commit is there if all of it is, and none behind one that is not.
func TestPowerLossInTheLog(t *testing.T) {
	t.Parallel()
	file, content := made(t)
	const log, step = "hub.db-wal", 307
	d, acked := disk{"hub.db": {synced: content}}, storetest.Acked{}
	calls := recorded(t, file, 60)
	syncs, begins := 0, 0 // of the log, and where the last three commits begin in it
	for _, c := range calls {
		if c.name == "sync" && c.file == log {
			syncs++
		}
	}
	for _, c := range calls {
		if c.name == "sync" && c.file == log {
			syncs--
		}
		switch {
		case c.name != "say":
			if d.do(c); syncs == 3 {
				begins = len(d[log].synced)
			}
		case syncs >= 3:
			acked.Add(string(c.data))
		}
	}
	whole := d[log].synced
	if len(acked) == 0 || len(whole)-begins < 3*4096 {
		t.Fatalf("%d bytes of %d in the log are behind what was acknowledged to %d runs", len(whole)-begins, len(whole), len(acked))
	}
	for at := begins; at < len(whole); at += step {
		cut, changed := whole[:at], slices.Clone(whole)
		changed[at] ^= 0xff
		for _, left := range [][]byte{cut, changed} {
			d[log].synced, d[log].pending = left, nil
			folder := t.TempDir()
			d.after(t, folder, nil, 0)
			s := db(t, filepath.Join(folder, "hub.db"))
			acked.Want(t, s.Runs())
			if _, damaged := s.Damage(); damaged || t.Failed() {
				t.Fatalf("cut or changed at %d of %d", at, len(whole))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
