package runtime

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// hermesQuestion is an approval or a clarification that a run has asked for.
type hermesQuestion struct {
	id    string
	named bool    // the server knows it by this id; else the id was made here, and the server takes its oldest
	at    float64 // when it was asked, in epoch seconds

	blind    bool // nobody knows what was asked: only the run's status told of it
	missed   bool // events may have been missed since
	doubtful bool // the run went on since: it may have run out, which no event says
	claimed  bool // an answer is on its way:
	answer   string
}

// hermesAsked are a run's questions of one kind, oldest first. Follow and controls share them.
type hermesAsked struct {
	mu      sync.Mutex
	open    []*hermesQuestion
	settled map[string]bool
	newest  float64 // when the newest was asked
	resumed bool    // questions of a former process may be answered, that are not known here
	echoes  int     // answers whose event is still to come, and names no question
}

func newHermesAsked() *hermesAsked { return &hermesAsked{settled: map[string]bool{}} }

// madeID is the id of a question that the server has given none. It tells when it was asked, for that is what such a
// question is known by after a restart.
const madeID = "asked-"

func hermesMade(at float64) string { return madeID + strconv.FormatInt(int64(at*1e6), 10) }

func (a *hermesAsked) madeID(at float64) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := hermesMade(at)
	for n, base := 2, id; a.settled[id] || a.find(id) != nil; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	return id
}

// hermesFormer is a question as its id alone tells of it.
func hermesFormer(id string) *hermesQuestion {
	stamp, made := strings.CutPrefix(id, madeID)
	stamp, _, _ = strings.Cut(stamp, "-")
	micros, err := strconv.ParseInt(stamp, 10, 64)
	made = made && err == nil
	return &hermesQuestion{id: id, named: !made, at: float64(micros) / 1e6, missed: true, doubtful: true}
}

func (a *hermesAsked) find(id string) *hermesQuestion {
	if i := slices.IndexFunc(a.open, func(q *hermesQuestion) bool { return q.id == id }); i >= 0 {
		return a.open[i]
	}
	return nil
}

// ask notes a question, unless it is known.
func (a *hermesAsked) ask(q hermesQuestion) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.settled[q.id] || a.find(q.id) != nil {
		return false
	}
	a.open = append(a.open, &q)
	a.newest = max(a.newest, q.at)
	return true
}

// seen reports whether the question that was asked then is known, open or settled.
func (a *hermesAsked) seen(at float64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return sameMoment(at, a.newest)
}

// sameMoment reports whether two stamps of a server are of an event and of the change of status that comes with it.
func sameMoment(a, b float64) bool { return max(a-b, b-a) < 0.25 }

// settle notes that a question is answered, and reports whether that is news.
func (a *hermesAsked) settle(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.close(id)
}

func (a *hermesAsked) close(id string) bool {
	known := a.find(id) != nil
	a.open = slices.DeleteFunc(a.open, func(q *hermesQuestion) bool { return q.id == id })
	news := !a.settled[id] && (known || a.resumed)
	a.settled[id] = true
	return news
}

// answered notes that the server took an answer that was sent, and reports whether no event has said so yet.
func (a *hermesAsked) answered(q hermesQuestion) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.close(q.id)
	if news && !q.named {
		a.echoes++
	}
	return news
}

// settleOldest notes that the server answered its n oldest questions, and says which those were. The event of an answer
// that was noted already is that answer's echo.
func (a *hermesAsked) settleOldest(n int) (ids []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range max(n, 1) {
		switch {
		case a.echoes > 0:
			a.echoes--
		case len(a.open) > 0:
			id := a.open[0].id
			a.close(id)
			ids = append(ids, id)
		}
	}
	return ids
}

// abandon gives up the questions to which no answer is on its way, for the run does not wait for any.
func (a *hermesAsked) abandon() (ids []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range slices.Clone(a.open) {
		if !q.claimed && a.close(q.id) {
			ids = append(ids, q.id)
		}
	}
	return ids
}

// sent gives the questions whose answers are on their way, and closes them: the run has ended, with them or without.
func (a *hermesAsked) sent() (qs []hermesQuestion) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range slices.Clone(a.open) {
		if q.claimed && a.close(q.id) {
			qs = append(qs, *q)
		}
	}
	return qs
}

// miss notes that events may have been missed.
func (a *hermesAsked) miss() { a.mark(func(q *hermesQuestion) { q.missed = true }, true) }

// doubt notes that the run did something else.
func (a *hermesAsked) doubt() { a.mark(func(q *hermesQuestion) { q.doubtful = true }, false) }

func (a *hermesAsked) mark(do func(*hermesQuestion), forget bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.open {
		do(q)
	}
	if forget {
		a.echoes = 0
	}
}

// hermesClaim is the right to send the answer to a question.
type hermesClaim struct {
	hermesQuestion
	oldest, only bool
}

// claim takes a question for one answer; release it if the server does not take that. Without an id the only question is
// meant.
func (a *hermesAsked) claim(id, answer string) (hermesClaim, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id == "" && len(a.open) == 1 {
		id = a.open[0].id
	}
	q := a.find(id)
	if q == nil && a.resumed && id != "" && !a.settled[id] {
		q = hermesFormer(id)
		a.open = append(a.open, q)
	}
	if q == nil || q.claimed {
		return hermesClaim{}, false
	}
	q.claimed, q.answer = true, answer
	return hermesClaim{*q, a.open[0] == q, len(a.open) == 1}, true
}

func (a *hermesAsked) release(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.find(id); q != nil {
		q.claimed = false
	}
}

func (a *hermesAsked) waiting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open) > 0
}
