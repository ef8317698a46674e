package router

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes-hub/quota"
)

var (
	someModels   = []string{"gpt-1", "gpt-2", "claude-1", "gemini-1"}
	someCaps     = []string{"coding", "vision"}
	someProfiles = []string{"p0", "p1", "p2", "p3", "p4", "p5"}
)

// drawTable draws a valid configuration of up to six accounts and one role.
func drawTable(t *rapid.T) *Table {
	models := rapid.SliceOfNDistinct(rapid.SampledFrom(someModels), 0, 3, rapid.ID[string])
	caps := rapid.SliceOfNDistinct(rapid.SampledFrom(someCaps), 0, 2, rapid.ID[string])
	ids := someProfiles[:rapid.IntRange(1, len(someProfiles)).Draw(t, "profiles")]
	var profiles []Profile
	for _, id := range ids {
		p := account(id, models.Draw(t, id+" preferred")...)
		p.Enabled = rapid.IntRange(0, 4).Draw(t, id+" enabled") > 0
		p.ColdSpare = rapid.IntRange(0, 3).Draw(t, id+" spare") == 0
		p.Protocol = rapid.SampledFrom([]Protocol{ProtocolChat, ProtocolChat, ProtocolChat, ProtocolGemini}).Draw(t, id+" protocol")
		p.Capabilities = caps.Draw(t, id+" capabilities")
		p.FallbackModels = models.Draw(t, id+" fallback")
		p.MaxConcurrency = rapid.IntRange(0, 2).Draw(t, id+" slots")
		p.BaseURL = rapid.SampledFrom([]string{"https://one.test", "https://two.test"}).Draw(t, id+" at")
		if rapid.Bool().Draw(t, id+" maps") {
			p.ModelMap = map[string]string{"fast": rapid.SampledFrom(someModels).Draw(t, id+" fast")}
		}
		profiles = append(profiles, p)
	}
	r := Role{ID: "r", FallbackCapabilities: caps.Draw(t, "fallback capabilities")}
	r.DefaultModel = rapid.SampledFrom(append(someModels, "")).Draw(t, "default model")
	for range rapid.IntRange(0, 6).Draw(t, "chain length") {
		item := ChainItem{Profile: rapid.SampledFrom(ids).Draw(t, "item")}
		item.Model = rapid.SampledFrom([]string{"", "", "gpt-1", "claude-1"}).Draw(t, "item model")
		r.Chain = append(r.Chain, item)
	}
	s := settings()
	s.AutoReturnPrimary = rapid.Bool().Draw(t, "auto return")
	s.Threshold = Threshold{Percent: 20, Switch: rapid.Bool().Draw(t, "switch")}
	tab, err := NewTable(profiles, []Role{r}, s)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// drawSnapshot lets the accounts of tab answer at random.
func drawSnapshot(t *rapid.T, tab *Table) *Snapshot {
	s := NewSnapshot(tab)
	for range rapid.IntRange(0, 10).Draw(t, "answers") {
		i := rapid.IntRange(0, len(tab.Profiles)-1).Draw(t, "of")
		class := rapid.SampledFrom([]quota.Class{
			quota.OK, quota.RateLimited, quota.QuotaExhausted, quota.Billing, quota.AuthInvalid, quota.Forbidden,
			quota.ModelNotFound, quota.ServerError, quota.InvalidRequest,
		}).Draw(t, "class")
		scope := rapid.SampledFrom([]quota.Scope{quota.ScopeRequest, quota.ScopeModel, quota.ScopeFamily, quota.ScopeAccount, quota.ScopeProvider}).Draw(t, "scope")
		reset := noon.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "reset")) * time.Minute)
		rd := refusal(class, scope, reset)
		if rapid.Bool().Draw(t, "measured") {
			left := quota.Known(rapid.SampledFrom([]float64{0, 10, 20, 60}).Draw(t, "left"))
			id := rapid.SampledFrom([]string{"p.5h", "p.claude.5h", "p.requests"}).Draw(t, "window")
			rd.Buckets = []quota.Bucket{{ID: id, RemainingPercent: left, ResetAt: reset}}
		}
		c := call(rapid.SampledFrom(someModels).Draw(t, "model"), noon)
		s = s.withStanding(i, s.Standings[i].Apply(rd, c, tab.Settings.Policy))
		s.outages, _ = s.withOutage(i, rd, c)
	}
	return s
}

// crowd is an Occupancy of a running hub: slots taken, and since when accounts and their providers are being tried.
type crowd struct {
	held
	own, shared map[int]time.Time
}

func (c crowd) Trials(i int) (own, shared time.Time) { return c.own[i], c.shared[i] }

// drawCrowd draws one as of now. Accounts of one egress share a trial.
func drawCrowd(t *rapid.T, tab *Table, now time.Time) crowd {
	c := crowd{held{}, map[int]time.Time{}, map[int]time.Time{}}
	trial := func(what string) time.Time {
		ago := rapid.SampledFrom([]time.Duration{-1, 0, TrialBound - 1, TrialBound, time.Hour}).Draw(t, what)
		if ago < 0 {
			return time.Time{}
		}
		return now.Add(-ago)
	}
	var ofEgress []time.Time
	for range tab.egresses {
		ofEgress = append(ofEgress, trial("of the egress"))
	}
	for i := range tab.Profiles {
		c.held[i] = rapid.IntRange(0, 3).Draw(t, "held")
		c.own[i] = trial("of the account")
		if e := tab.egress[i]; e >= 0 {
			c.shared[i] = ofEgress[e]
		}
	}
	return c
}

// For any configuration, health, occupancy and query: a plan holds every node of the role exactly once, a usable one is
// ready and has a slot, an unusable one says why and its reason is true, only affinity and headroom change the order, and
// neither a threshold nor a provider's rest leaves nobody.
func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		s := drawSnapshot(t, tab)
		q := Query{Role: tab.Roles[0], AnyNode: rapid.Bool().Draw(t, "any node")}
		q.Model = rapid.SampledFrom([]string{"", "auto", "fast", "gpt-1", "claude-1", "unheard-of"}).Draw(t, "requested")
		bound := rapid.IntRange(-1, len(tab.Profiles)-1).Draw(t, "bound")
		now := noon.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "minutes later")) * time.Minute)
		occ := drawCrowd(t, tab, now)
		p := Plan{Nodes: make([]Node, rapid.IntRange(0, 20).Draw(t, "old nodes"))}
		Choose(s, q, bound, occ, now, &p)

		checkComplete(t, tab, &p)
		checkOrder(t, tab, &p)
		for i := range p.Nodes {
			checkVerdict(t, s, occ, now, &p.Nodes[i])
		}
		checkLeniency(t, s, occ, &p)
		var again Plan
		if Choose(s, q, bound, occ, now, &again); planText(&again) != planText(&p) {
			t.Fatalf("not the same twice:\n%s\n%s", planText(&p), planText(&again))
		}
	})
}

func checkComplete(t *rapid.T, tab *Table, p *Plan) {
	r := tab.Roles[0]
	want := make(map[ChainItem]bool)
	chained := make(map[string]bool)
	for _, item := range r.Chain {
		want[item], chained[item.Profile] = true, true
	}
	for _, pr := range tab.Profiles {
		shares := slices.ContainsFunc(pr.Capabilities, func(c string) bool { return slices.Contains(r.FallbackCapabilities, c) })
		if pr.Enabled && shares && !chained[pr.ID] {
			want[ChainItem{Profile: pr.ID}] = true
		}
	}
	if len(p.Nodes) != len(want) {
		t.Fatalf("%d nodes, want %d:\n%s", len(p.Nodes), len(want), planText(p))
	}
	positions := make(map[int]bool)
	for _, n := range p.Nodes {
		positions[n.Position] = true
		if item := (ChainItem{Profile: n.Profile.ID}); !want[item] && !want[ChainItem{n.Profile.ID, n.Model}] && n.Reason != ReasonDisabled && n.Reason != ReasonProtocol {
			t.Fatalf("nobody asked for %s %s", n.Profile.ID, n.Model)
		}
	}
	for i := range p.Nodes {
		if !positions[i] {
			t.Fatalf("position %d is missing:\n%s", i, planText(p))
		}
	}
}

func checkOrder(t *rapid.T, tab *Table, p *Plan) {
	rest := slices.Clone(p.Nodes)
	moved := slices.IndexFunc(rest, func(n Node) bool { return n.Index == p.Bound && n.Reason == Usable })
	primary := slices.ContainsFunc(rest, func(n Node) bool { return n.Position == 0 && n.Tier == TierChain && n.Reason == Usable })
	if tab.Settings.AutoReturnPrimary && primary && rest[0].Position != 0 {
		t.Fatalf("before a usable primary:\n%s", planText(p))
	}
	if moved >= 0 && !(tab.Settings.AutoReturnPrimary && primary) {
		rest = slices.Delete(rest, moved, moved+1) // wherever affinity put it
	}
	if !slices.IsSortedFunc(rest, func(a, b Node) int {
		switch {
		case a.Tier != b.Tier:
			return int(a.Tier) - int(b.Tier)
		case !a.expires.Equal(b.expires):
			return map[bool]int{true: -1, false: 1}[sooner(a.expires, b.expires) && !a.expires.IsZero()]
		}
		return a.Position - b.Position
	}) {
		t.Fatalf("out of order, bound %d:\n%s", p.Bound, planText(p))
	}
	for _, n := range p.Nodes {
		if n.Tier == TierChain && !n.expires.IsZero() {
			t.Fatalf("headroom counts in the chain:\n%s", planText(p))
		}
	}
	if !slices.IsSortedFunc(p.Nodes, func(a, b Node) int { return spareLast(a.Tier) - spareLast(b.Tier) }) {
		t.Fatalf("a spare before others:\n%s", planText(p))
	}
}

func checkVerdict(t *rapid.T, s *Snapshot, occ crowd, now time.Time, n *Node) {
	st, o := &s.Standings[n.Index], s.outageOf(n.Index)
	block, hope := st.Check(n.Model, n.Family, now), st.Unproven(n.Model, n.Family, now)
	full := n.Profile.MaxConcurrency > 0 && occ.Held(n.Index) >= n.Profile.MaxConcurrency
	fit := n.Profile.Enabled && n.Profile.Protocol == ProtocolChat
	ready := fit && n.Model != "" && block.State == quota.Ready
	own, shared := occ.Trials(n.Index)
	tried := hope.State != quota.Ready && exclusive(own, now) || o.unproven() && exclusive(shared, now)
	governing, known := st.Governing(n.Model, n.Family, now)
	ok := false
	switch n.Reason {
	case Usable:
		ok = ready && !full && !tried && (!o.resting(now) || n.resort && o.resort) &&
			n.Trial == (hope.State != quota.Ready && own.IsZero() || o.unproven() && shared.IsZero())
	case ReasonDisabled:
		ok = !n.Profile.Enabled
	case ReasonProtocol:
		ok = n.Profile.Enabled && !fit
	case ReasonModel:
		ok = fit && n.Model == ""
	case ReasonConcurrency:
		ok = ready && full
	case ReasonHalfOpen:
		ok = ready && tried && !n.Block.Stated && n.Block.Until.After(now)
	case ReasonThreshold:
		ok = ready && !full && !tried && s.Table.Settings.Threshold.Switch && known && governing.RemainingPercent.Value < 20 && n.Block.Bucket == governing.ID
	default:
		refused := block.State != quota.Ready && n.Reason == Reason(block.State) && n.Block == block
		rests := ready && n.Reason == ReasonCooldown && o.resting(now) && n.Block == o.rest
		ok = fit && n.Model != "" && (refused || rests)
	}
	if !ok {
		t.Fatalf("%s %s: verdict %q is not true: block %+v, full %v, tried %v, outage %+v", n.Profile.ID, n.Model, n.Reason, block, full, tried, o)
	}
}

// checkLeniency: where nobody is usable, nobody is left out for a preference, nor for a new rest that could be tried.
func checkLeniency(t *rapid.T, s *Snapshot, occ crowd, p *Plan) {
	if anyUsable(p.Nodes) {
		return
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		full := n.Profile.MaxConcurrency > 0 && occ.Held(n.Index) >= n.Profile.MaxConcurrency
		if n.Reason == ReasonThreshold || s.outageOf(n.Index).openTo(n, p.At) && !full {
			t.Fatalf("nobody serves although %s could:\n%s", n.Profile.ID, planText(p))
		}
	}
}
