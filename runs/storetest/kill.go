package storetest

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/runs"
)

const (
	killed = "child" // producer of everything that children write
	long   = "long"  // the run that each child takes over from the one before
)

// Write is the child's half of Kill: it appends to several runs at once until it is killed or the store fails, and prints
// `run seq sum` for each row that was acknowledged. round is unlike that of any child before it.
func Write(ctx context.Context, s runs.Store, round int, out io.Writer) error {
	var mu sync.Mutex
	acked := func(b runs.Batch, first int64) error {
		mu.Lock()
		defer mu.Unlock()
		for i, e := range b.Rows {
			e.RunID, e.Seq = b.RunID, first+int64(i)
			if _, err := fmt.Fprintf(out, "%s %d %s\n", e.RunID, e.Seq, sum(e)); err != nil {
				return err
			}
		}
		return nil
	}
	const writers = 4
	failed := make(chan error, writers) // after the first one the process is at its end
	for writer := range writers {
		go func() {
			for n := 0; ; n++ {
				run := fmt.Sprintf("r%d-%d-%d", round, writer, n)
				if writer == 0 {
					run = long
				}
				for next := int64(1); next <= most(run); {
					b := writing(run, round, next, next%3+1)
					answers, err := s.Append(ctx, []runs.Batch{b})
					if err == nil {
						err = answers[0].Err()
					}
					if err == nil {
						err = acked(b, answers[0].Last-int64(len(b.Rows))+1) // First is 0 of what was stored by a call that failed
					}
					if err != nil {
						failed <- err
						return
					}
					next += int64(len(b.Rows))
				}
			}
		}()
	}
	return <-failed
}

// most is how many rows a child writes to a run.
func most(run string) int64 {
	if run == long {
		return 1 << 40
	}
	return 60
}

// writing is what a child appends: n rows from its own number first on. Every row tells who wrote it; the last two of a run
// end and seal it.
func writing(run string, round int, first, n int64) runs.Batch {
	b := batch(run, killed, first)
	b.Epoch, b.Executor = int64(round)+1, true
	for i := first; i < first+n && i <= most(run); i++ {
		e := row(fmt.Sprintf("%s/%d/%d", run, round, i))
		switch i {
		case most(run) - 1:
			e = row("done")
		case most(run):
			e = row("close")
		}
		b.Rows = append(b.Rows, e)
	}
	return b
}

// sum is a row's identity and content in eight digits.
func sum(e runs.Event) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %s %s", e.ID(), e.Type, e.Payload)))
}

// Kill kills children in the midst of their appends, so many times ("" is 20), and wants of the store, reopened each time,
// every row that was acknowledged, no hole, no row twice, and that what a child had not heard of can be sent again.
//
// child is the command of a process that calls Write with the round and its stdout; reopen opens what that left, until the
// test that it gets has ended.
func Kill(t *testing.T, rounds string, child func(testing.TB, int) *exec.Cmd, reopen func(testing.TB) runs.Store) {
	times := 20
	if rounds != "" {
		var err error
		if times, err = strconv.Atoi(rounds); err != nil {
			t.Fatalf("the number of rounds: %v", err)
		}
	}
	all, count := Acked{}, 0
	for round := range times {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			newest := Acked{}
			for line := range killedAfterAWhile(t, child(t, round)) {
				newest.Add(line)
				all.Add(line)
				count++
			}
			s := reopen(t)
			newest.Want(t, s)
			for run := range newest {
				wantIdempotent(t, s, run, round)
			}
		})
	}
	all.Want(t, reopen(t))
	t.Logf("%d rounds, %d rows acknowledged in %d runs", times, count, len(all))
}

// Acked are the sums of acknowledged rows by run and seq.
type Acked map[string]map[int64]string

// Add takes in a line that Write printed. One that is not whole, for its child was killed, is ignored.
func (a Acked) Add(line string) {
	f := strings.Fields(line)
	if len(f) != 3 || len(f[2]) != 8 {
		return
	}
	if a[f[0]] == nil {
		a[f[0]] = map[int64]string{}
	}
	seq, _ := strconv.ParseInt(f[1], 10, 64) // a number: the line is whole
	a[f[0]][seq] = f[2]
}

// Want wants all of the rows in logs without a hole.
func (a Acked) Want(t *testing.T, s runs.Store) {
	t.Helper()
	for run, sums := range a {
		wantAcked(t, s, run, sums)
	}
}

// killedAfterAWhile runs a command, kills it 1 to 300 ms after its first line, and yields all lines.
func killedAfterAWhile(t *testing.T, c *exec.Cmd) func(func(string) bool) {
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		defer func() { _ = c.Wait() }() // it was killed
		var timer *time.Timer
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if timer == nil {
				timer = time.AfterFunc(time.Duration(1+rand.IntN(300))*time.Millisecond, func() { _ = c.Process.Kill() })
				defer timer.Stop()
			}
			if !yield(lines.Text()) {
				break
			}
		}
		if timer == nil {
			t.Error("the child ended before it had stored anything")
		}
		_ = c.Process.Kill() // if it has not been
	}
}

// wantAcked wants the acknowledged rows in a log without a hole.
func wantAcked(t *testing.T, s runs.Store, run string, sums map[int64]string) {
	t.Helper()
	log, seen := page(t, s, run, 0, 1<<30).Rows, 0
	for i, e := range log {
		if e.Seq != int64(i+1) {
			t.Fatalf("%s: row %d has seq %d", run, i+1, e.Seq)
		}
		if want, ok := sums[e.Seq]; ok {
			seen++
			if sum(e) != want {
				t.Fatalf("%s: row %d is other than what was acknowledged: %s", run, e.Seq, e.Payload)
			}
		}
	}
	if seen != len(sums) {
		t.Fatalf("%s: of %d acknowledged rows %d are there", run, len(sums), seen)
	}
}

// wantIdempotent sends again what the newest child may have stored without hearing of it, and then one row more.
func wantIdempotent(t *testing.T, s runs.Store, run string, round int) {
	t.Helper()
	p, own := page(t, s, run, 0, 1<<30), int64(0)
	if p.Head.Closed {
		return
	}
	for _, e := range p.Rows {
		if e.Terminal || strings.Contains(string(e.Payload), fmt.Sprintf(`"%s/%d/`, run, round)) {
			own++
		}
	}
	if a := must(t, s, writing(run, round, own, 1)); a.Outcome != runs.Duplicate {
		t.Errorf("%s: row %d again is %s", run, own, told(a))
	}
	if a := must(t, s, writing(run, round, own+1, 1)); a.Outcome != runs.Stored || a.First != p.Head.Last+1 {
		t.Errorf("%s: the row after %d is %s", run, p.Head.Last, told(a))
	}
}
