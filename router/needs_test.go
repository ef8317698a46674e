package router

import (
	"testing"
	"time"
)

// Gates: what is known of a model rules it out for a request that needs more, before it is called; what is unknown does
// not. The configured window beats the table's.
func TestNeeds(t *testing.T) {
	provider, _ := ProviderByID("openai-compatible")
	profile := func(id, model string, window int) Profile {
		return Profile{ID: id, Provider: provider, Enabled: true, Protocol: ProtocolChat, PreferredModels: []string{model}, ContextLength: window}
	}
	roles := []Role{{ID: "main", Chain: []ChainItem{{Profile: "all"}, {Profile: "blind"}, {Profile: "drawing"}, {Profile: "loose"}, {Profile: "small"}, {Profile: "unknown"}}}}
	tab, err := NewTable([]Profile{
		profile("all", "gpt-5.5", 0), profile("blind", "deepseek-v4-pro", 0), profile("drawing", "gemini-2.5-flash-image", 0),
		profile("loose", "gpt-5.4-pro", 0), profile("small", "gpt-5.5", 1000), profile("unknown", "my-own", 0),
	}, roles, Settings{Failover: true, Protocols: []Protocol{ProtocolChat}})
	if err != nil {
		t.Fatal(err)
	}
	f := func(needs Needs, want ...Reason) {
		t.Helper()
		var p Plan
		Choose(NewSnapshot(tab), Query{Role: tab.Roles[0], AnyNode: true, Needs: needs}, -1, Vacant{}, time.Unix(0, 0), &p)
		for i := range p.Nodes {
			if p.Nodes[i].Reason != want[i] {
				t.Errorf("%+v: %s is %q, want %q", needs, p.Nodes[i].Profile.ID, p.Nodes[i].Reason, want[i])
			}
		}
	}
	f(Needs{}, Usable, Usable, Usable, Usable, Usable, Usable)
	f(Needs{Tools: true}, Usable, Usable, ReasonTools, Usable, Usable, Usable)
	f(Needs{Vision: true}, Usable, ReasonVision, Usable, Usable, Usable, Usable)
	f(Needs{Structured: true}, Usable, Usable, Usable, ReasonStructured, Usable, Usable)
	f(Needs{Tokens: 1001}, Usable, Usable, Usable, Usable, ReasonWindow, Usable)
	f(Needs{Tokens: 2_000_000}, ReasonWindow, ReasonWindow, Usable, ReasonWindow, ReasonWindow, Usable)
	f(Needs{Tokens: 1000, Tools: true, Vision: true, Structured: true}, Usable, ReasonVision, ReasonTools, ReasonStructured, Usable, Usable)
}
