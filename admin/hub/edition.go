package hub

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StaleAfter is how old the last refresh may be for a picture to count as fresh.
const StaleAfter = 300 * time.Second

// Edition is one published picture. It never changes, and what it hands out is a copy or cannot be changed.
type Edition struct {
	snapshot   HubSnapshot   // IsStale is false: it depends on when it is asked for
	head, tail string        // its JSON before and after the value of is_stale
	refreshed  time.Time     // when the last refresh was accepted; zero = none was
	replaced   chan struct{} // closed when there is a newer one
}

// newEdition numbers a picture and writes it down.
func newEdition(s HubSnapshot, as Stamp, refreshed time.Time) (*Edition, error) {
	s.StoreEpoch, s.Generation, s.Seq = as.Epoch, as.Generation, as.Seq
	s.Metrics.Generation, s.Metrics.Seq = as.Generation, as.Seq
	s.IsStale = false
	text, err := encode(&s)
	if err != nil {
		return nil, fmt.Errorf("encode the snapshot: %w", err)
	}
	// Quotes are escaped inside of strings, and nothing but the epoch follows: the last place is the member itself.
	const member, value = `"is_stale":`, `false`
	at := strings.LastIndex(text, member+value+`,"store_epoch":`) + len(member)
	return &Edition{snapshot: s, head: text[:at], tail: text[at+len(value):], refreshed: refreshed, replaced: make(chan struct{})}, nil
}

// Stamp is the edition's epoch, generation and seq.
func (e *Edition) Stamp() Stamp {
	return Stamp{Epoch: e.snapshot.StoreEpoch, Generation: e.snapshot.Generation, Seq: e.snapshot.Seq}
}

// Stale reports whether the last refresh is overdue at now, or there was none yet.
func (e *Edition) Stale(now time.Time) bool {
	return now.Sub(e.refreshed) > StaleAfter
}

// ETag is `"<store_epoch>.<generation>.<seq>"`, with the quotes.
func (e *Edition) ETag() string {
	return fmt.Sprintf(`"%s.%d.%d"`, e.snapshot.StoreEpoch, e.snapshot.Generation, e.snapshot.Seq)
}

// Unchanged reports whether a reader who holds what If-None-Match names has this edition already. One that has become stale
// is sent again: nothing but is_stale tells it, and that has no number.
func (e *Edition) Unchanged(ifNoneMatch string, now time.Time) bool {
	if e.Stale(now) {
		return false
	}
	own := e.ETag()
	for tag := range strings.SplitSeq(ifNoneMatch, ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == own || tag == "*" {
			return true
		}
	}
	return false
}

// Size is how many bytes WriteJSON writes at now.
func (e *Edition) Size(now time.Time) int {
	return len(e.head) + len(strconv.FormatBool(e.Stale(now))) + len(e.tail)
}

// WriteJSON writes the snapshot as it is at now.
func (e *Edition) WriteJSON(w io.Writer, now time.Time) error {
	for _, part := range []string{e.head, strconv.FormatBool(e.Stale(now)), e.tail} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// Profile is one account of the picture.
func (e *Edition) Profile(id string) (ProfileViewModel, bool) {
	p, ok := e.snapshot.AllProfiles[id]
	if !ok {
		return ProfileViewModel{}, false
	}
	return p.clone(), true
}

// HasProfile reports whether the picture has such an account.
func (e *Edition) HasProfile(id string) bool { return e.snapshot.AllProfiles[id] != nil }

// HasProvider reports whether the picture has an account of the provider.
func (e *Edition) HasProvider(id string) bool { return len(e.snapshot.ProfilesByProvider[id]) > 0 }

// HasRole reports whether the picture has such a role.
func (e *Edition) HasRole(id string) bool { return e.snapshot.Routing[id] != nil }

// Profiles are all accounts of the picture, by profile id.
func (e *Edition) Profiles() []ProfileViewModel {
	all := make([]ProfileViewModel, 0, len(e.snapshot.AllProfiles))
	for _, id := range slices.Sorted(maps.Keys(e.snapshot.AllProfiles)) {
		all = append(all, e.snapshot.AllProfiles[id].clone())
	}
	return all
}

// Quotas are those of all accounts, by profile id.
func (e *Edition) Quotas() []QuotaSnapshot {
	all := make([]QuotaSnapshot, 0, len(e.snapshot.Quotas))
	for _, id := range slices.Sorted(maps.Keys(e.snapshot.Quotas)) {
		all = append(all, e.snapshot.Quotas[id].clone())
	}
	return all
}

func (p *ProfileViewModel) clone() ProfileViewModel {
	c := *p
	c.AssignedRoles, c.PreferredModels, c.ModelStates = slices.Clone(p.AssignedRoles), slices.Clone(p.PreferredModels), maps.Clone(p.ModelStates)
	for family, m := range c.ModelStates {
		own := *m
		c.ModelStates[family] = &own
	}
	q := p.QuotaSnapshot.clone()
	c.QuotaSnapshot = &q
	return c
}

func (q *QuotaSnapshot) clone() QuotaSnapshot {
	c := *q
	c.Buckets = slices.Clone(q.Buckets)
	return c
}
