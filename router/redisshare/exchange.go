package redisshare

import (
	"context"
	"strconv"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// Learnt is router.Peers'.
func (s *Share) Learnt() { s.exchanging.ring() }

// Cleared is router.Peers'.
func (s *Share) Cleared(profile string) {
	if a := s.known(profile); a != nil {
		now := s.now()
		a.ledger.clear.Store(&now)
		s.exchanging.ring()
	}
}

// matter is one account's part of an exchange.
type matter struct {
	a       *slots
	private func(quota.State) bool
	cleared *time.Time // by an operator
	call
}

// exchange tells the others what this hub has learnt of the accounts, and the router what they have. One account's part is
// told first and heard in the answer, so that what this hub has disproved does not come back.
func (s *Share) exchange(ctx context.Context, _ bool) {
	r := s.router.Load()
	snapshot, now := r.Snapshot(), s.now()
	var matters []*matter
	var calls []*call
	for i, p := range snapshot.Table.Profiles {
		if m := s.matter(snapshot, i, p, now); m != nil {
			matters, calls = append(matters, m), append(calls, &m.call)
		}
	}
	if len(calls) == 0 {
		return
	}
	when := instant{sent: now}
	err := s.run(ctx, calls)
	when.received = s.now()
	for _, m := range matters {
		l := &m.a.ledger
		got := m.told(err, when)
		if got == nil {
			l.stale.Store(true)
			if m.cleared != nil {
				l.clear.CompareAndSwap(nil, m.cleared)
			}
			continue
		}
		if st, ok := r.Hear(m.a.profile, l.identity, l.take(got, m.private)); ok {
			l.knows(st)
		}
		s.exchanging.ring() // what is left to be told can be told now that this is known
	}
}

// matter is what there is to exchange about an account, nil for nothing.
func (s *Share) matter(snapshot *router.Snapshot, i int, p *router.Profile, now time.Time) *matter {
	a := s.known(p.ID)
	if a == nil { // the table is newer than what this router has slots of
		return nil
	}
	identity := snapshot.Identity(i)
	l := &a.ledger
	l.be(identity, s.o.Prefix+"{p:"+p.ID+"}:c:"+identity)
	m := &matter{a: a, private: privateTo(p), cleared: l.clear.Swap(nil)}
	ops := l.operations(snapshot.Standings[i], m.private, snapshot.Proved(i), now)
	if m.cleared != nil {
		ops = append([]any{"clear", "", max(0, now.Sub(*m.cleared).Milliseconds()), "", "", ""}, ops...)
	}
	if stale := l.stale.Swap(false); len(ops) == 0 && l.read && !stale {
		return nil
	}
	m.script, m.keys = newsScript, []string{*l.key.Load()}
	m.args = append([]any{s.o.Prefix + "accounts", s.message(ringNews, p.ID)}, ops...)
	return m
}

// privateTo tells which states of a profile are this hub's own. A refused credential is everybody's only where the
// configuration holds it: where each hub has a file of its own that is refreshed, one's trouble is not the others'.
func privateTo(p *router.Profile) func(quota.State) bool {
	own := p.Credential.Empty()
	return func(s quota.State) bool { return own && s == quota.StateAuthRequired }
}

// told is what the script said of an account.
type told struct {
	when    instant
	stamp   string
	cleared int64
	records map[string]string // value by cause
}

// told reads the reply; nil when there is none.
func (m *matter) told(err error, when instant) *told {
	if err != nil || m.err != nil || len(m.reply) < 3 || len(m.reply)%2 == 0 {
		return nil
	}
	words := make([]string, len(m.reply))
	for i, v := range m.reply {
		words[i], _ = v.(string)
	}
	got := &told{when: when, stamp: words[1], records: make(map[string]string, len(words)/2)}
	var bad, worse error
	got.when.redis, bad = strconv.ParseInt(words[0], 10, 64)
	got.cleared, worse = strconv.ParseInt(words[2], 10, 64)
	if bad != nil || worse != nil {
		return nil
	}
	for i := 3; i+1 < len(words); i += 2 {
		got.records[words[i]] = words[i+1]
	}
	return got
}
