package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes-hub/runs"
)

// model is one run as the contract describes it, in the plainest words: a list of texts and how far each producer is.
type model struct {
	store runs.Store
	modelled
	drawn int
}

// modelled is what is gone when the run is deleted.
type modelled struct {
	log     []string // "seq=text"
	last    int64
	epoch   int64
	ended   bool
	closed  bool
	expired bool
	fence   int64
	holder  string
	at      map[string]*runs.Mark
	sent    []runs.Batch // everything that was ever stored: what a retry may bring again
}

func blank() modelled { return modelled{at: map[string]*runs.Mark{}} }

// testModel does what producers do, in any order, and looks at the whole log after each step. A store that can be reopened
// is, in the midst of it.
func testModel(t *testing.T, open func(testing.TB) (runs.Store, func() runs.Store)) {
	rapid.Check(t, func(rt *rapid.T) {
		store, reopen := open(t)
		m := &model{store: store, modelled: blank()}
		commands := map[string]func(*rapid.T){
			"append":   func(rt *rapid.T) { m.append(rt, t, false) },
			"executor": func(rt *rapid.T) { m.append(rt, t, true) },
			"takeover": func(rt *rapid.T) { m.takeOver(rt, t) },
			"retry":    func(rt *rapid.T) { m.retry(rt, t) },
			"missing":  func(rt *rapid.T) { m.missing(rt, t) },
			"stale":    func(rt *rapid.T) { m.stale(rt, t) },
			"heal":     func(rt *rapid.T) { m.heal(rt, t) },
			"expire":   func(rt *rapid.T) { m.expire(rt, t) },
			"delete":   func(rt *rapid.T) { m.delete(rt, t) },
			"":         func(rt *rapid.T) { m.look(rt, t) },
		}
		if reopen != nil {
			commands["restart"] = func(rt *rapid.T) {
				if rapid.IntRange(0, 2).Draw(rt, "really") != 0 {
					rt.Skip("it takes long")
				}
				m.store = reopen()
			}
		}
		rt.Repeat(commands)
	})
}

func (m *model) producer(rt *rapid.T) (string, *runs.Mark) {
	p := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "producer")
	if m.at[p] == nil {
		m.at[p] = &runs.Mark{Epoch: 1}
	}
	return p, m.at[p]
}

// next is a batch of new rows of a producer, in an epoch that it may be in. Most rows are deltas; each is unlike any other.
func (m *model) next(rt *rapid.T) runs.Batch {
	p, mark := m.producer(rt)
	b := batch("r", p, mark.Seq+1)
	b.Epoch = mark.Epoch
	for range rapid.IntRange(1, 4).Draw(rt, "rows") {
		e := row(rapid.SampledFrom([]string{"x", "x", "x", "x", "x", "x", "title", "done", "close"}).Draw(rt, "row"))
		m.drawn++
		e.Payload = fmt.Appendf(nil, `{"delta":"%d"}`, m.drawn)
		b.Rows = append(b.Rows, e)
	}
	return b
}

// admitted says what the run's state makes of the rows.
func (m *model) admitted(rows []runs.Event) (runs.Outcome, bool, bool) {
	ended, closed := m.ended, m.closed
	for _, e := range rows {
		last := e.Type == runs.TypeClosed
		switch {
		case closed:
			return runs.Sealed, false, false
		case last && !ended:
			return runs.Unended, false, false
		case ended && e.Type != runs.TypeTitleUpdated && !last:
			return runs.Ended, false, false
		}
		ended, closed = ended || e.Terminal, last
	}
	return runs.Stored, ended, closed
}

// stored moves the model behind a batch.
func (m *model) stored(b runs.Batch, ended, closed bool) {
	for _, e := range b.Rows {
		m.last++
		m.log = append(m.log, text([]runs.Event{{Seq: m.last, Payload: e.Payload}}))
	}
	m.ended, m.closed = ended, closed
	*m.at[b.Producer] = runs.Mark{Epoch: b.Epoch, Seq: b.FirstSeq + int64(len(b.Rows)) - 1, Last: m.last}
	m.sent = append(m.sent, b)
}

func (m *model) want(rt *rapid.T, t testing.TB, b runs.Batch, want runs.Outcome) {
	if m.expired {
		want = runs.Unknown
	}
	if a := must(t, m.store, b); a.Outcome != want {
		rt.Fatalf("append of %d rows from %d by %s in epoch %d: %s, want %s", len(b.Rows), b.FirstSeq, b.Producer, b.Epoch, told(a), want)
	}
}

func (m *model) append(rt *rapid.T, t testing.TB, executor bool) {
	b := m.next(rt)
	if executor {
		b.Executor = true
		if b.Epoch = rapid.Int64Range(b.Epoch, m.fence+2).Draw(rt, "epoch"); b.Epoch > m.at[b.Producer].Epoch {
			b.FirstSeq = 1
		}
		if b.Epoch < m.fence || b.Epoch == m.fence && m.holder != b.Producer {
			m.want(rt, t, b, runs.Fenced)
			return
		}
	}
	outcome, ended, closed := m.admitted(b.Rows)
	m.want(rt, t, b, outcome)
	if outcome != runs.Stored || m.expired {
		return
	}
	if executor {
		m.fence, m.holder = b.Epoch, b.Producer
	}
	m.stored(b, ended, closed)
}

// takeOver makes a producer the executor without a row.
func (m *model) takeOver(rt *rapid.T, t testing.TB) {
	p, mark := m.producer(rt)
	b := batch("r", p, 1)
	b.Executor, b.Epoch = true, max(m.fence, mark.Epoch)+1
	if m.last == 0 {
		rt.Skip("nothing to take over")
	}
	want := runs.Stored
	if m.closed {
		want = runs.Sealed
	}
	m.want(rt, t, b, want)
	if want == runs.Stored && !m.expired {
		m.fence, m.holder = b.Epoch, p
		*mark = runs.Mark{Epoch: b.Epoch}
	}
}

// expire is long after the run has ended, if it has.
func (m *model) expire(rt *rapid.T, t testing.TB) {
	want := 0
	if m.ended && !m.expired {
		want = 1
	}
	if n, err := m.store.Expire(t.Context(), day.Add(time.Hour), day); n != want || err != nil {
		rt.Fatalf("expire: %d, %v, want %d", n, err, want)
	}
	m.expired = m.ended
}

// delete removes the run: the next row is the first one of another.
func (m *model) delete(rt *rapid.T, t testing.TB) {
	if rapid.IntRange(0, 3).Draw(rt, "really") != 0 {
		rt.Skip("a longer run tells more")
	}
	want := min(m.last, 1)
	if n, err := m.store.DeleteSession(t.Context(), "me", "s"); int64(n) != want || err != nil {
		rt.Fatalf("delete: %d, %v, want %d", n, err, want)
	}
	m.modelled = blank()
}

// retry brings an old batch again: it is a duplicate, or its producer or executor is another by now. The log stays.
func (m *model) retry(rt *rapid.T, t testing.TB) {
	if len(m.sent) == 0 {
		rt.Skip("nothing to retry")
	}
	b := rapid.SampledFrom(m.sent).Draw(rt, "batch")
	want := runs.Duplicate
	if b.Epoch < m.at[b.Producer].Epoch || b.Executor && (b.Epoch < m.fence || b.Producer != m.holder) {
		want = runs.Fenced
	}
	m.want(rt, t, b, want)
}

func (m *model) missing(rt *rapid.T, t testing.TB) {
	b := m.next(rt)
	b.FirstSeq += rapid.Int64Range(1, 1<<40).Draw(rt, "missing")
	m.want(rt, t, b, runs.Missing)
}

func (m *model) stale(rt *rapid.T, t testing.TB) {
	b := m.next(rt)
	if b.Expect = rapid.Int64Range(0, m.last+3).Draw(rt, "expect"); b.Expect == m.last {
		b.Expect++
	}
	outcome, _, _ := m.admitted(b.Rows)
	if outcome == runs.Stored {
		outcome = runs.Stale
	}
	m.want(rt, t, b, outcome)
}

// heal says that rows were lost: what follows has seqs that no row had.
func (m *model) heal(rt *rapid.T, t testing.TB) {
	b := m.next(rt)
	b.Heal, b.Expect = true, m.last+rapid.Int64Range(1, 9).Draw(rt, "lost")
	b.FirstSeq += rapid.Int64Range(0, 9).Draw(rt, "missing")
	outcome, ended, closed := m.admitted(b.Rows)
	m.want(rt, t, b, outcome)
	if outcome == runs.Stored && !m.expired {
		m.last, m.epoch = (b.Expect>>20+1)<<20, m.epoch+1
		m.stored(b, ended, closed)
	}
}

// look reads the whole log in pages and compares.
func (m *model) look(rt *rapid.T, t testing.TB) {
	if m.last == 0 {
		return
	}
	if m.expired {
		m.log = nil
	}
	var got []string
	for after := int64(0); ; {
		p := page(t, m.store, "r", after, rapid.IntRange(1, 50).Draw(rt, "page"))
		h := p.Head
		if h.Last != m.last || h.Epoch != m.epoch || (h.EndSeq != 0) != m.ended || h.Closed != m.closed || h.Fence != m.fence || h.Holder != m.holder || h.Expired != m.expired {
			rt.Fatalf("head is %+v, the model is %+v", h, m)
		}
		if len(p.Rows) == 0 {
			break
		}
		got, after = append(got, text(p.Rows)), p.Rows[len(p.Rows)-1].Seq
	}
	if log, want := strings.Join(got, " "), strings.Join(m.log, " "); log != want {
		rt.Fatalf("log is\n%s, want\n%s", log, want)
	}
}
