package redisstore_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"hermes-hub/runs"
)

// pair is a server with a replica, and the wires to them: hubs' leads to the one that is the primary.
type pair struct {
	primary, replica *server
	hubs, link       *wire
}

func servePair(t *testing.T) *pair {
	p := &pair{primary: serve(t), replica: serve(t)}
	p.hubs, p.link = newWire(t, p.primary.addr), newWire(t, p.primary.addr)
	host, port, _ := net.SplitHostPort(p.link.addr)
	p.replica.do(t, "REPLICAOF", host, port)
	p.caughtUp(t)
	return p
}

// caughtUp waits until the replica has what the primary has.
func (p *pair) caughtUp(t *testing.T) {
	t.Helper()
	offset := func(s *server, field string) string {
		_, rest, _ := strings.Cut(s.do(t, "INFO", "replication").(string), field+":")
		word, _, _ := strings.Cut(rest, "\r\n")
		return word
	}
	await(t, "the replica", func() bool {
		return offset(p.replica, "master_link_status") == "up" && offset(p.replica, "slave_repl_offset") == offset(p.primary, "master_repl_offset")
	})
}

// failOver loses the primary and promotes the replica.
func (p *pair) failOver(t *testing.T) {
	p.primary.kill(t)
	p.replica.do(t, "REPLICAOF", "NO", "ONE")
	p.hubs.lead(p.replica.addr)
}

// Rows that the primary had acknowledged, and the replica had not when it was promoted, come back under the ids that
// observers know them by (I2, I3).
func TestFailover(t *testing.T) {
	f := func(name string, lost, meanwhile int) {
		t.Run(name, func(t *testing.T) {
			p := servePair(t)
			store := store(client(t, p.hubs.addr))
			s := begin(t, journal(t, store, "here", nil))
			s.watch(journal(t, store, "there", nil))
			for range 5 {
				s.say(10)
				s.sync()
			}
			p.caughtUp(t)
			p.link.lead("")
			for range lost / 10 {
				s.say(10)
				s.sync()
			}
			before := logOf(t, store, "r")
			p.failOver(t)
			s.say(meanwhile)
			if meanwhile == 0 { // a run that only waits is held
				await(t, "a hold", func() bool { return s.j.Hold(t.Context(), s.w) == nil })
				await(t, "the lost rows", func() bool { return len(logOf(t, store, "r")) == len(before) })
			}
			s.end()
			log := s.want(store, 0, 0)
			for i, e := range before {
				if fmt.Sprint(log[i]) != fmt.Sprint(e) {
					t.Fatalf("row %d was %+v and is %+v", i, e, log[i])
				}
			}
			if n := s.j.Stats().Resent; n != int64(lost) {
				t.Errorf("%d rows were sent again, want %d", n, lost)
			}
		})
	}
	f("while it writes", 20, 10)
	f("with much lost", 1000, 10)
	f("while it waits", 20, 0)
	f("with nothing lost", 0, 10)
}

// Two producers lost rows. The one that comes first does not know what the other had: what it cannot put back under its ids
// gets new ones, and none is ever given twice (I3).
func TestFailoverOfTwo(t *testing.T) {
	p := servePair(t)
	store := store(client(t, p.hubs.addr))
	s := begin(t, journal(t, store, "here", nil))
	s.watch(journal(t, store, "there", nil))
	title := runs.Batch{
		RunID: "r", Producer: "other", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq,
		Rows: []runs.Event{{Type: runs.TypeTitleUpdated, CreatedAt: day, Payload: []byte(`{"title":"lost"}`)}},
	}
	s.say(10)
	s.sync()
	p.caughtUp(t)
	p.link.lead("")
	s.say(10)
	s.sync()
	if a, err := store.Append(t.Context(), []runs.Batch{title}); err != nil || a[0].Last != 22 {
		t.Fatal(a, err)
	}
	s.say(10)
	s.sync()
	await(t, "the observer", func() bool { s.seen.mu.Lock(); defer s.seen.mu.Unlock(); return len(s.seen.rows) == 32 })
	p.failOver(t)
	s.say(1)
	s.sync()
	s.end()
	log := s.want(store, 0, 1)
	if log[20].Seq != 21 || log[21].Seq != 1<<20+1 {
		t.Errorf("behind what could be put back come %d and %d", log[20].Seq, log[21].Seq)
	}
}

// The executor went down with the primary. Nobody can tell what was lost, so its end is told under an id that no lost row had.
func TestFailoverWithoutExecutor(t *testing.T) {
	p := servePair(t)
	store := store(client(t, p.hubs.addr))
	s := begin(t, journal(t, store, "dead", nil))
	there := journal(t, store, "there", nil)
	s.watch(there)
	s.say(10)
	s.sync()
	p.caughtUp(t)
	p.link.lead("")
	s.say(10)
	s.sync()
	await(t, "the observer", func() bool { s.seen.mu.Lock(); defer s.seen.mu.Unlock(); return len(s.seen.rows) == 21 })
	p.failOver(t)
	await(t, "the end", func() bool { return there.Interrupt(t.Context(), "r") == nil })
	s.next = 10
	log := s.want(store, 0, 1)
	if n := len(log); n != 13 || log[11].Seq != 1<<20+1 || !log[11].Terminal {
		t.Errorf("the log is %+v", log)
	}
}
