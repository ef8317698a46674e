package router

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// explained is the plan of a role with one node for every reason there is to skip one.
func explained(t *testing.T) *Plan {
	t.Helper()
	off, foreign, elsewhere, busy := account("off", "m"), account("foreign", "m"), account("elsewhere", "x"), account("busy", "m")
	off.Enabled, foreign.Protocol, busy.MaxConcurrency = false, ProtocolMessages, 2
	profiles := []Profile{off, foreign, elsewhere, busy, account("spent", "m"), account("login", "m"), account("a", "m"), account("b", "m")}
	tab := table(t, profiles, role("r", "off", "foreign", "elsewhere", "busy", "spent", "login", "a", "b"))
	s := learnt(tab, map[string][]quota.Reading{
		"spent": {refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00"))},
		"login": {refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{})},
	}, "m")
	s.Version = 7
	var p Plan
	Choose(s, Query{Role: tab.Roles[0], Model: "m"}, -1, held{3: 2}, at(t, "12:30"), &p)
	return &p
}

// explanationText prints an explanation, a line a candidate.
func explanationText(e Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s seq=%d at=%s request=%s chosen=%s\n",
		e.Role, e.RoleSource, e.SnapshotSeq, e.At.Format("15:04"), orNull(e.RequestID), orNull(e.Chosen))
	for _, c := range e.Candidates {
		fmt.Fprintf(&b, "%d %s %s %s %s", c.Position, c.ProfileID, orNull(c.Model), c.Verdict, orNull(c.Reason))
		if c.Until != nil {
			fmt.Fprintf(&b, " until %s", c.Until.Format("15:04"))
		}
		if c.Evidence != nil {
			fmt.Fprintf(&b, " (%s %s %s)", c.Evidence.Source, c.Evidence.At.Format("15:04"), orNull(c.Evidence.Detail))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// P28: every candidate has a verdict, and every one that is passed over has its reason, its end and what that rests on.
func TestExplainPlan(t *testing.T) {
	equalText(t, explanationText(Explain(explained(t), RoleExplicit, nil, "")), `
		r explicit seq=7 at=12:30 request=null chosen=a
		0 off null skipped disabled (configuration 12:30 enabled: false)
		1 foreign null skipped protocol_unavailable (configuration 12:30 protocol: messages)
		2 elsewhere null skipped model_not_served (configuration 12:30 requested model: m)
		3 busy m skipped concurrency (leases 12:30 max_concurrency: 2)
		4 spent m skipped quota_exhausted until 13:00 (runtime_event 12:00 test:quota_exhausted)
		5 login m skipped auth_required (runtime_event 12:00 test:auth_invalid)
		6 a m selected null
		7 b m standby null`)
}

// P28: of a request that was served, the explanation tells what happened: who failed with what, who answered, also when
// the plan was made anew in between and one of those called is in it no longer, or with another model.
func TestExplainRequest(t *testing.T) {
	tried := []Tried{
		{"a", "m", "rate_limited", at(t, "12:30"), "status:429", at(t, "12:40")},
		{Profile: "a", Model: "old-model", Class: "timeout", At: at(t, "12:31")},
		{"a", "m", "server_error", at(t, "12:32"), "status:500", at(t, "12:50")},
		{Profile: "b", Model: "m", Class: Succeeded, At: at(t, "12:33")},
	}
	got := explanationText(Explain(explained(t), RoleModelAlias, tried, "req-1"))
	head, rest, _ := strings.Cut(got, "\n")
	if want := "r model_alias seq=7 at=12:30 request=req-1 chosen=b"; head != want {
		t.Errorf("got %s, want %s", head, want)
	}
	equalText(t, rest[strings.Index(rest, "6 a"):], `
		6 a m failed server_error until 12:50 (runtime_event 12:32 status:500)
		7 b m selected null (runtime_event 12:33 null)
		8 a old-model failed timeout (runtime_event 12:31 null)`)
}

// Of a request that was never sent to anyone nobody is said to have served it.
func TestExplainUntried(t *testing.T) {
	e := Explain(explained(t), RoleClientKey, []Tried{}, "req-1")
	if last := e.Candidates[6]; e.Chosen != nil || last.Verdict != VerdictStandby {
		t.Errorf("chosen %v, a is %s", e.Chosen, last.Verdict)
	}
}

// An account that a reload took away between the plan and the call is passed over, and not said to be switched off.
func TestExplainGone(t *testing.T) {
	r := New(table(t, []Profile{account("a", "m"), account("b", "m")}, role("r", "a", "b")), Options{Now: (&clock{noon}).now})
	var p Plan
	r.Plan(Query{Role: r.Snapshot().Table.Roles[0], Model: "m"}, &p)
	r.Swap(table(t, []Profile{account("b", "m")}, role("r", "b")))
	_, _ = r.Acquire(&p.Nodes[0], Holder{})
	equalText(t, explanationText(Explain(&p, RoleExplicit, nil, "")), `
		r explicit seq=0 at=12:00 request=null chosen=b
		0 a m skipped disabled (configuration 12:00 no longer configured)
		1 b m selected null`)
}

// The JSON is the contract's: every member is there, unknown is null.
func TestExplainJSON(t *testing.T) {
	tab := table(t, []Profile{account("a", "m")}, role("r", "a"))
	var p Plan
	Choose(NewSnapshot(tab), Query{Role: tab.Roles[0], Model: "m"}, -1, Vacant{}, noon, &p)
	data, err := json.Marshal(Explain(&p, RoleDefaultFallback, nil, ""))
	want := `{"role":"r","role_source":"default_fallback","snapshot_seq":0,"at":"2026-03-01T12:00:00Z","request_id":null,"chosen":"a",` +
		`"candidates":[{"profile_id":"a","model":"m","position":0,"verdict":"selected","reason":null,"until":null,"evidence":null}]}`
	if err != nil || string(data) != want {
		t.Errorf("got  %s %v\nwant %s", data, err, want)
	}
	p.Nodes = p.Nodes[:0]
	data, _ = json.Marshal(Explain(&p, RoleDefaultFallback, nil, ""))
	if !strings.HasSuffix(string(data), `"chosen":null,"candidates":[]}`) {
		t.Errorf("no nodes: %s", data)
	}
}
