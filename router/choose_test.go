package router

import (
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// held is an Occupancy by profile index.
type held map[int]int

func (h held) Held(i int) int                     { return h[i] }
func (h held) Full(i, limit int) bool             { return limit > 0 && h[i] >= limit }
func (h held) Trials(int) (own, shared time.Time) { return time.Time{}, time.Time{} }

// learnt is a snapshot in which each profile's answers, in order, were observed at noon.
func learnt(tab *Table, answers map[string][]quota.Reading, model string) *Snapshot {
	s := NewSnapshot(tab)
	for id, readings := range answers {
		i, _ := tab.ProfileIndex(id)
		for _, rd := range readings {
			s = s.withStanding(i, s.Standings[i].Apply(rd, call(model, noon), tab.Settings.Policy))
		}
	}
	return s
}

// The contract's order for the model of a node, one step a case.
func TestChooseModel(t *testing.T) {
	mapped := account("mapped", "own")
	mapped.ModelMap = map[string]string{"fast": "own-mini", "auto": "own-auto", "house": "own-house"}
	mappedOnly := account("map-only")
	mappedOnly.ModelMap = map[string]string{"house": "theirs"}
	second := account("second", "gpt-1", "gpt-2")
	second.FallbackModels = []string{"claude-3"}
	anthropic := account("anthropic", "claude-3")
	anthropic.Provider.Serves = []string{"claude-"}
	profiles := []Profile{mapped, mappedOnly, second, anthropic, account("open")}
	r := role("r", "mapped", "mapped/fixed", "map-only", "second", "anthropic", "open")
	r.DefaultModel = "house"
	tab := table(t, profiles, r, role("plain", "open", "map-only"))

	f := func(name, role, model string, anyNode bool, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			var p Plan
			Choose(NewSnapshot(tab), Query{Role: mustRole(t, tab, role), Model: model, AnyNode: anyNode}, -1, Vacant{}, noon, &p)
			equalText(t, planText(&p), want)
		})
	}
	f("requested by its alias at one account", "r", "fast", false, `
		0 mapped own-mini usable
		1 mapped fixed usable
		2 map-only - model_not_served
		3 second - model_not_served
		4 anthropic - model_not_served
		5 open fast usable`)
	f("requested and listed, as a model map's target too", "r", "own-mini", false, `
		0 mapped own-mini usable
		1 mapped fixed usable
		2 map-only - model_not_served
		3 second - model_not_served
		4 anthropic - model_not_served
		5 open own-mini usable`)
	f("requested and known of the provider", "r", "claude-4", false, `
		0 mapped - model_not_served
		1 mapped fixed usable
		2 map-only - model_not_served
		3 second - model_not_served
		4 anthropic claude-4 usable
		5 open claude-4 usable`)
	f("requested, but any will do", "r", "claude-3", true, `
		0 mapped own usable
		1 mapped fixed usable
		2 map-only theirs usable
		3 second claude-3 usable
		4 anthropic claude-3 usable
		5 open claude-3 usable`)
	f("auto, which one account maps", "r", "auto", false, `
		0 mapped own-auto usable
		1 mapped fixed usable
		2 map-only theirs usable
		3 second gpt-1 usable
		4 anthropic claude-3 usable
		5 open house usable`)
	f("nothing requested", "r", "", true, `
		0 mapped own usable
		1 mapped fixed usable
		2 map-only theirs usable
		3 second gpt-1 usable
		4 anthropic claude-3 usable
		5 open house usable`)
	f("nothing requested, no default", "plain", "default", false, `
		0 open - model_not_served
		1 map-only - model_not_served`)
}

// An account's own first usable model: the next one of its list takes over, and when none is left the first says why.
func TestChooseOwnFirstUsableModel(t *testing.T) {
	tab := table(t, []Profile{account("a", "gpt-1", "gpt-2")}, role("r", "a"))
	q := Query{Role: tab.Roles[0], AnyNode: true}
	blocked := func(model string, until time.Time) quota.Reading {
		return refusal(quota.RateLimited, quota.ScopeModel, until)
	}
	s := NewSnapshot(tab)
	s = s.withStanding(0, s.Standings[0].Apply(blocked("gpt-1", at(t, "12:30")), call("gpt-1", noon), tab.Settings.Policy))
	var p Plan
	Choose(s, q, -1, Vacant{}, noon, &p)
	equalText(t, planText(&p), `0 a gpt-2 usable`)

	s = s.withStanding(0, s.Standings[0].Apply(blocked("gpt-2", at(t, "12:10")), call("gpt-2", noon), tab.Settings.Policy))
	Choose(s, q, -1, Vacant{}, noon, &p)
	equalText(t, planText(&p), `0 a gpt-1 rate_limited until 12:30`)
}

// P13, L01 and the order of the checks: what is configured comes before the model, the model before health, health before
// slots; an account is told off for the first of them only.
func TestChooseReasons(t *testing.T) {
	off, foreign, elsewhere := account("off", "m"), account("foreign", "m"), account("elsewhere", "other")
	off.Enabled, off.Protocol, foreign.Protocol = false, ProtocolGemini, ProtocolGemini
	spent, busy, both, free := account("spent", "m"), account("busy", "m"), account("both", "m"), account("free", "m")
	for _, p := range []*Profile{&off, &foreign, &elsewhere, &busy, &both, &free} {
		p.MaxConcurrency = 2
	}
	spare := account("spare", "m")
	spare.ColdSpare = true
	profiles := []Profile{off, foreign, elsewhere, spent, busy, both, free, spare}
	tab := table(t, profiles, role("r", "spare", "off", "foreign", "elsewhere", "spent", "busy", "both", "free"))
	out := []quota.Reading{refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "15:00"))}
	s := learnt(tab, map[string][]quota.Reading{"off": out, "foreign": out, "elsewhere": out, "spent": out, "both": out}, "m")
	occ := held{0: 2, 1: 2, 2: 2, 3: 99, 4: 2, 5: 2, 6: 1}
	var p Plan
	Choose(s, Query{Role: tab.Roles[0], Model: "m"}, -1, occ, noon, &p)
	equalText(t, planText(&p), `
		0 off - disabled
		1 foreign - protocol_unavailable
		2 elsewhere - model_not_served
		3 spent m quota_exhausted until 15:00
		4 busy m concurrency
		5 both m quota_exhausted until 15:00
		6 free m usable
		7 spare m usable`)
}

// Every state of a standing has the reason of the same name.
func TestChooseHealthReasons(t *testing.T) {
	tab := table(t, []Profile{account("a", "m")}, role("r", "a"))
	for class, want := range map[quota.Class]Reason{
		quota.RateLimited: ReasonRateLimited, quota.QuotaExhausted: ReasonQuota, quota.Billing: ReasonBilling,
		quota.AuthInvalid: ReasonAuth, quota.Forbidden: ReasonForbidden, quota.ModelNotFound: ReasonNoModel,
		quota.Overloaded: ReasonCooldown, quota.ServerError: ReasonCooldown, quota.Timeout: ReasonCooldown,
	} {
		s := learnt(tab, map[string][]quota.Reading{"a": {refusal(class, quota.ScopeAccount, time.Time{})}}, "m")
		var p Plan
		Choose(s, Query{Role: tab.Roles[0], Model: "m"}, -1, Vacant{}, noon, &p)
		if got := p.Nodes[0]; got.Reason != want || got.Block.Class != class {
			t.Errorf("%s: got %q, block %+v", class, got.Reason, got.Block)
		}
	}
}

// P18: the Gemini family of an account is spent, so its Claude models still serve, and only Gemini is passed over.
func TestChooseFamilies(t *testing.T) {
	tab := table(t, []Profile{account("ag", "gemini-3.7-flash", "claude-sonnet-4-6"), account("b", "gemini-3.7-flash")}, role("r", "ag", "b"))
	spent := refusal(quota.QuotaExhausted, quota.ScopeFamily, at(t, "17:00"))
	s := learnt(tab, map[string][]quota.Reading{"ag": {spent}}, "gemini-3.7-flash")
	f := func(model string, anyNode bool, want string) {
		t.Helper()
		var p Plan
		Choose(s, Query{Role: tab.Roles[0], Model: model, AnyNode: anyNode}, -1, Vacant{}, noon, &p)
		equalText(t, planText(&p), want)
	}
	f("gemini-3.7-flash", false, `
		0 ag gemini-3.7-flash quota_exhausted until 17:00
		1 b gemini-3.7-flash usable`)
	f("claude-sonnet-4-6", false, `
		0 ag claude-sonnet-4-6 usable
		1 b - model_not_served`)
	f("", true, `
		0 ag claude-sonnet-4-6 usable
		1 b gemini-3.7-flash usable`)
}

// P19 and the limits of affinity: a preference below eligibility.
func TestChooseAffinity(t *testing.T) {
	spare1, spare2 := account("s1", "m"), account("s2", "m")
	spare1.ColdSpare, spare2.ColdSpare = true, true
	profiles := []Profile{account("a", "m"), account("b", "m"), account("c", "m"), spare1, spare2}
	r := role("r", "a", "b", "c", "s1", "s2")
	f := func(name string, autoReturn bool, bound string, out []string, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			set := settings()
			set.AutoReturnPrimary = autoReturn
			tab := tableWith(t, set, profiles, r)
			answers := make(map[string][]quota.Reading)
			for _, id := range out {
				answers[id] = []quota.Reading{refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{})}
			}
			i, _ := tab.ProfileIndex(bound)
			var p Plan
			Choose(learnt(tab, answers, "m"), Query{Role: tab.Roles[0], Model: "m"}, i, Vacant{}, noon, &p)
			var got strings.Builder
			for _, n := range p.Nodes {
				got.WriteString(" " + n.Profile.ID)
			}
			if got.String() != " "+want || p.Bound != i {
				t.Errorf("got%s, want %s", got.String(), want)
			}
		})
	}
	f("primary is back, auto-return on", true, "b", nil, "a b c s1 s2")
	f("primary is back, auto-return off", false, "b", nil, "b a c s1 s2")
	f("primary is out", true, "c", []string{"a"}, "c a b s1 s2")
	f("bound is out", false, "b", []string{"b"}, "a b c s1 s2")
	f("bound is the primary", false, "a", nil, "a b c s1 s2")
	f("bound is a spare", false, "s2", nil, "a b c s2 s1")
	f("bound is a spare, all else is out", true, "s2", []string{"a", "b", "c"}, "a b c s2 s1")
	f("bound is the first spare", false, "s1", nil, "a b c s1 s2")
}

// A role that went with a reload between Resolve and Plan has no nodes, and a query without a role has none.
func TestChooseWithoutRole(t *testing.T) {
	tab := table(t, []Profile{account("a")}, role("r", "a"))
	p := Plan{Nodes: make([]Node, 3)}
	for _, r := range []*Role{nil, {ID: "gone"}} {
		if Choose(NewSnapshot(tab), Query{Role: r, Model: "m"}, 0, Vacant{}, noon, &p); len(p.Nodes) != 0 {
			t.Errorf("role %v: %s", r, planText(&p))
		}
	}
}
