//go:build !race

// What is tried here happens in another process, of which the race detector sees nothing.

package sqlitestore_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// call is what a child asked of the system: a write to a file, or to its stdout, a sync of a file, or another size of it.
type call struct {
	name string // write, sync, truncate, say
	file string // base name
	data []byte
	at   int64
	ok   bool
}

// recorded runs a child under strace, which may be told to fail some of its calls, and returns what it asked for, in order:
// a sync when it was done, an acknowledgement before it was said.
func recorded(t *testing.T, file string, lines int, inject ...string) []call {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("strace is not found: make deps")
		}
		t.Skip("strace is not found: make deps")
	}
	log := filepath.Join(t.TempDir(), "log")
	wrap := []string{strace, "-f", "--seccomp-bpf", "-y", "-xx", "-s", "70000", "-o", log, "-e", "trace=pwrite64,write,fsync,fdatasync,ftruncate"}
	for _, i := range inject {
		wrap = append(wrap, "-e", "inject="+i)
	}
	c := childOf(file, 1, wrap...)
	c.Env = append(c.Env, fmt.Sprint(childLines, "=", lines))
	said := new(bytes.Buffer)
	c.Stderr = said
	if err := c.Run(); strings.Contains(said.String(), "ptrace") {
		t.Skipf("strace may not trace here: %s", said)
	} else if !strings.Contains(said.String(), errEnough.Error()) {
		t.Fatalf("the child ended early: %v, %s", err, said)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begun, calls := map[string]string{}, []call(nil) // the first halves of lines by thread
	all := bufio.NewScanner(f)
	all.Buffer(nil, 1<<20)
	for all.Scan() {
		thread, line, _ := strings.Cut(all.Text(), " ")
		line = strings.TrimSpace(line)
		if first, cut := strings.CutSuffix(line, " <unfinished ...>"); cut {
			if strings.HasPrefix(first, "write(1<") {
				calls = append(calls, parsed(t, first+`) = 1`)...)
				first = ""
			}
			begun[thread] = first
			continue
		}
		if strings.HasPrefix(line, "<... ") {
			_, rest, _ := strings.Cut(line, " resumed>")
			line = begun[thread] + rest
		}
		calls = append(calls, parsed(t, line)...)
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

var straceLine = regexp.MustCompile(`^(\w+)\((\d+)<([^>]*)>(?:, "([^"]*)")?(?:, (\d+))?(?:, (\d+))?\) += (-?\d+)`)

// parsed is a line of strace as a call, if it is one of those that count.
func parsed(t *testing.T, line string) []call {
	t.Helper()
	m := straceLine.FindStringSubmatch(line)
	if m == nil {
		return nil // a signal, the end of a thread
	}
	c := call{name: m[1], file: filepath.Base(string(unhex(t, m[3]))), data: unhex(t, m[4]), ok: m[7] != "-1"}
	fmt.Sscan(m[6], &c.at)
	switch {
	case c.name == "write" && m[2] == "1":
		c.name = "say"
	case c.name == "pwrite64":
		c.name = "write"
	case c.name == "ftruncate":
		c.name = "truncate"
		fmt.Sscan(m[5], &c.at)
	case c.name == "fsync" || c.name == "fdatasync":
		c.name = "sync"
	default:
		return nil
	}
	return []call{c}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		t.Fatalf("%v: %.80s", err, s)
	}
	return b
}

// disk is what would be found of files if the power went now: what was synced, and of the rest anything or nothing.
type disk map[string]*platter

type platter struct {
	synced  []byte
	pending []call
}

func (d disk) do(c call) {
	p := d[c.file]
	if p == nil {
		p = new(platter)
		d[c.file] = p
	}
	switch {
	case !c.ok && c.name == "sync": // the system takes the pages for written and forgets them: another sync brings nothing
		p.pending = nil
	case !c.ok:
	case c.name == "sync":
		for _, w := range p.pending {
			p.synced = w.onto(p.synced, func() bool { return true })
		}
		p.pending = nil
	default:
		p.pending = append(p.pending, c)
	}
}

const sector = 512

// onto does a call to a file's bytes, of a write those sectors that the dice say.
func (c call) onto(b []byte, dice func() bool) []byte {
	if c.name == "truncate" {
		if dice() {
			b = append(b, make([]byte, max(0, int(c.at)-len(b)))...)[:c.at]
		}
		return b
	}
	for done := int64(0); done < int64(len(c.data)); {
		at := c.at + done
		n := min(sector-at%sector, int64(len(c.data))-done)
		if dice() {
			b = append(b, make([]byte, max(0, int(at+n)-len(b)))...)
			copy(b[at:], c.data[done:done+n])
		}
		done += n
	}
	return b
}

// after writes into a folder what a power loss leaves. Of what was not synced every sector is there with this probability.
func (d disk) after(t *testing.T, folder string, dice *rand.Rand, there float64) {
	t.Helper()
	for name, p := range d {
		if !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, "-wal") {
			continue // what stands in memory only, and is made anew
		}
		b := bytes.Clone(p.synced)
		for _, w := range p.pending {
			b = w.onto(b, func() bool { return dice.Float64() < there })
		}
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
