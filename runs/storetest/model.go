package storetest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes-hub/runs"
)

// model is one run as the contract describes it, in the plainest words: a list of texts and how far each producer is.
type model struct {
	store  runs.Store
	log    []string // "seq=text"
	last   int64
	epoch  int64
	ended  bool
	closed bool
	fence  int64
	holder string
	at     map[string]*runs.Mark
	sent   []runs.Batch // everything that was ever stored: what a retry may bring again
	drawn  int
}

// testModel does what producers do, in any order, and looks at the whole log after each step.
func testModel(t *testing.T, open func(testing.TB) runs.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{store: open(t), at: map[string]*runs.Mark{}}
		rt.Repeat(map[string]func(*rapid.T){
			"append":   func(rt *rapid.T) { m.append(rt, t, false) },
			"executor": func(rt *rapid.T) { m.append(rt, t, true) },
			"retry":    func(rt *rapid.T) { m.retry(rt, t) },
			"missing":  func(rt *rapid.T) { m.missing(rt, t) },
			"stale":    func(rt *rapid.T) { m.stale(rt, t) },
			"heal":     func(rt *rapid.T) { m.heal(rt, t) },
			"":         func(rt *rapid.T) { m.look(rt, t) },
		})
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
	if outcome != runs.Stored {
		return
	}
	if executor {
		m.fence, m.holder = b.Epoch, b.Producer
	}
	m.stored(b, ended, closed)
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
	if outcome == runs.Stored {
		m.last, m.epoch = (b.Expect>>20+1)<<20, m.epoch+1
		m.stored(b, ended, closed)
	}
}

// look reads the whole log in pages and compares.
func (m *model) look(rt *rapid.T, t testing.TB) {
	if m.last == 0 {
		return
	}
	var got []string
	for after := int64(0); ; {
		p := page(t, m.store, "r", after, rapid.IntRange(1, 50).Draw(rt, "page"))
		h := p.Head
		if h.Last != m.last || h.Epoch != m.epoch || (h.EndSeq != 0) != m.ended || h.Closed != m.closed || h.Fence != m.fence || h.Holder != m.holder {
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
