package quota

import (
	"strings"
	"testing"
	"time"
)

// causes are what stands at noon, and up to when, in seconds past it.
func causes(s Standing) string {
	var words []string
	for _, b := range s.Blocks(noon) {
		words = append(words, b.Cause()+" "+b.Until.Sub(noon).String())
	}
	return strings.Join(words, ", ")
}

// What another hub has seen of an account joins what was seen here; what it has disproved goes, measured or refused, and what
// was seen since stays.
func TestStandingOfPeers(t *testing.T) {
	f := func(what string, got Standing, want string) Standing {
		t.Helper()
		if c := causes(got); c != want {
			t.Errorf("%s: %s, want %s", what, c, want)
		}
		return got
	}
	spent := func(state State, key, bucket string, since, until int) Block {
		return Block{State: state, Class: QuotaExhausted, Scope: ScopeAccount, Key: key, Bucket: bucket, Since: after(since), Until: after(until)}
	}
	s := f("heard", Standing{}.Heard(spent(StateQuota, "", "p.5h", 10, 100)), "quota_exhausted||p.5h 1m40s")
	s = f("a longer end", s.Heard(spent(StateQuota, "", "p.5h", 5, 200)), "quota_exhausted||p.5h 3m20s")
	s = f("another cause", s.Heard(spent(StateRateLimited, "family:gpt", "", 20, 60)), "quota_exhausted||p.5h 3m20s, rate_limited|family:gpt| 1m0s")
	if !s.Has(spent(StateQuota, "", "p.5h", 0, 0)) || s.Has(spent(StateQuota, "", "p.7d", 0, 0)) {
		t.Error("which causes are known is not known")
	}
	s = f("over, as it was before", s.Over(spent(StateQuota, "", "p.5h", 9, 0)), "quota_exhausted||p.5h 3m20s, rate_limited|family:gpt| 1m0s")
	s = f("over", s.Over(spent(StateQuota, "", "p.5h", 10, 0)), "rate_limited|family:gpt| 1m0s")
	f("cleared before", s.ClearedAt(after(19)), "rate_limited|family:gpt| 1m0s")
	f("cleared", s.ClearedAt(after(20)), "")

	refused := Standing{}.Heard(Block{State: StateAuthRequired, Since: noon})
	if got := refused.ClearedAt(after(100)).Blocks(noon); len(got) != 1 {
		t.Errorf("an operator has cleared a refused credential: %+v", got)
	}

	measured := Standing{}.Apply(Reading{
		Class: OK, Source: SourceProviderAPI,
		Buckets: []Bucket{{ID: "p.5h", RemainingPercent: Known(0), ResetAt: after(500)}, {ID: "p.7d", RemainingPercent: Known(40), ResetAt: after(9000)}},
	}, callFrom("gpt-5", 0, 10), testPolicy)
	f("measured", measured, "quota_exhausted||p.5h 8m20s")
	f("measured later", measured.Over(spent(StateQuota, "", "p.5h", 9, 0)), "quota_exhausted||p.5h 8m20s")
	measured = f("measured, and over", measured.Over(spent(StateQuota, "", "p.5h", 10, 0)), "")
	if left := measured.Buckets(); len(left) != 1 || left[0].ID != "p.7d" {
		t.Errorf("buckets: %+v", left)
	}
}

// A model that an account does not have is nobody else's news.
func TestShareable(t *testing.T) {
	for _, state := range knownStates {
		b := Block{State: state}
		if got, want := b.Shareable(), state != StateNoModel; got != want {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
	if (&Block{Until: time.Now()}).Shareable() {
		t.Error("nothing is shared")
	}
}
