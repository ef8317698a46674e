package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// noon is when the tests happen.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a time of the same day, as "13:05".
func at(t testing.TB, clock string) time.Time {
	t.Helper()
	hm, err := time.Parse("15:04", clock)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(noon.Year(), noon.Month(), noon.Day(), hm.Hour(), hm.Minute(), 0, 0, time.UTC)
}

// account is an enabled chat account with unlimited slots that lists models.
func account(id string, models ...string) Profile {
	return Profile{
		ID: id, Enabled: true, Protocol: ProtocolChat, PreferredModels: models,
		BaseURL: "https://" + id + ".test/v1", Credential: NewSecret("key of " + id),
	}
}

func chain(profiles ...string) []ChainItem {
	var items []ChainItem
	for _, p := range profiles {
		id, model, _ := strings.Cut(p, "/")
		items = append(items, ChainItem{Profile: id, Model: model})
	}
	return items
}

// role is a role over a chain, given as "profile" or "profile/model".
func role(id string, profiles ...string) Role {
	return Role{ID: id, Chain: chain(profiles...), Affinity: true}
}

func settings() Settings {
	return Settings{
		Failover: true, AutoReturnPrimary: true, AffinityTTL: 30 * time.Minute,
		Protocols: []Protocol{ProtocolChat},
		Policy: quota.Policy{
			CooldownBase: 5 * time.Minute, CooldownMax: time.Hour,
			QuotaCooldown: 30 * time.Minute, RateLimitCooldown: time.Minute,
		},
	}
}

func table(t testing.TB, profiles []Profile, roles ...Role) *Table {
	t.Helper()
	return tableWith(t, settings(), profiles, roles...)
}

func tableWith(t testing.TB, s Settings, profiles []Profile, roles ...Role) *Table {
	t.Helper()
	tab, err := NewTable(profiles, roles, s)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func mustRole(t testing.TB, tab *Table, id string) *Role {
	t.Helper()
	r, ok := tab.Role(id)
	if !ok {
		t.Fatalf("no role %q", id)
	}
	return r
}

// clock is a hand-set now.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// refusal is a Reading of a failure, with a stated reset where reset is not zero.
func refusal(class quota.Class, scope quota.Scope, reset time.Time) quota.Reading {
	return quota.Reading{
		Class: class, Scope: scope, Failover: true, ResetAt: reset,
		Source: quota.SourceRuntimeEvent, Reason: "test:" + string(class),
	}
}

// call is a call for model that took no time at when.
func call(model string, when time.Time) quota.Call {
	return quota.Call{Model: model, Family: quota.Family(model), StartedAt: when, At: when}
}

// planText prints a plan, a line a node: "position profile model verdict".
func planText(p *Plan) string {
	var b strings.Builder
	for _, n := range p.Nodes {
		model, verdict := n.Model, string(n.Reason)
		if model == "" {
			model = "-"
		}
		if n.Reason == Usable {
			verdict = "usable"
		}
		fmt.Fprintf(&b, "%d %s %s %s", n.Position, n.Profile.ID, model, verdict)
		if !n.Block.Until.IsZero() {
			fmt.Fprintf(&b, " until %s", n.Block.Until.UTC().Format("15:04"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// equalText compares texts line by line, whatever their indentation.
func equalText(t testing.TB, got, want string) {
	t.Helper()
	if got, want := trimLines(got), trimLines(want); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func trimLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// withStanding is the next snapshot, in which one account's standing is another.
func (s *Snapshot) withStanding(i int, st quota.Standing) *Snapshot {
	next := *s
	next.Version++
	next.Standings = slices.Clone(s.Standings)
	next.Standings[i] = st
	return &next
}
