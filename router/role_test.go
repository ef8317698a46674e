package router

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func rolesTable(t testing.TB, defaultRole string) *Table {
	t.Helper()
	orchestrator := Role{ID: "orchestrator", Aliases: []string{"manager"}, DefaultModel: "gpt-5.5"}
	coder := Role{ID: "coder", Aliases: []string{"developer-1"}, DefaultModel: "claude-4"}
	reviewer := Role{ID: "reviewer", Aliases: []string{"critic"}, DefaultModel: "claude-4"}
	s := settings()
	s.DefaultRole = defaultRole
	return tableWith(t, s, []Profile{account("a")}, orchestrator, coder, reviewer)
}

// P15: each carrier in turn, in the contract's order. F07: an alias becomes its canonical id, wherever it stands.
func TestResolve(t *testing.T) {
	tab := rolesTable(t, "reviewer")
	f := func(name string, c Carriers, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			res, err := tab.Resolve(c)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprintf("%s %s model=%q any=%v", res.Role.ID, res.Source, res.Model, res.AnyNode)
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	all := Carriers{
		Path: "coder", Header: "orchestrator", Metadata: "reviewer", Model: "role:manager", KeyDefault: "coder", SessionRole: "reviewer",
	}
	f("path", all, `coder explicit model="" any=true`)
	all.Path = ""
	f("header", all, `orchestrator explicit model="" any=true`)
	all.Header = ""
	f("metadata", all, `reviewer explicit model="" any=true`)
	all.Metadata = ""
	f("role: in the model", all, `orchestrator model_alias model="" any=true`)
	all.Model = "reviewer"
	f("bare role id", all, `reviewer model_alias model="" any=true`)
	all.Model = "critic"
	f("bare alias", all, `reviewer model_alias model="" any=true`)
	all.Model = "claude-4"
	f("client key", all, `coder client_key model="claude-4" any=true`)
	all.KeyDefault = ""
	f("the first role with this default model", all, `coder model_match model="claude-4" any=false`)
	all.Model = "other"
	f("session", all, `reviewer session_affinity model="other" any=false`)
	all.SessionRole = "gone"
	f("session's role went with a reload", all, `reviewer default_fallback model="other" any=false`)
	f("nothing at all", Carriers{}, `reviewer default_fallback model="" any=true`)
	f("auto", Carriers{Model: "auto"}, `reviewer default_fallback model="auto" any=true`)
	f("default", Carriers{Model: "default", SessionRole: "coder"}, `coder session_affinity model="default" any=true`)
	f("explicit with a model", Carriers{Path: "manager", Model: "gpt-5.5"}, `orchestrator explicit model="gpt-5.5" any=true`)
	f("aliases everywhere", Carriers{Header: "developer-1", KeyDefault: "critic"}, `coder explicit model="" any=true`)

	// P17: a typo never passes silently, not even where another carrier wins; no phantom role appears.
	f("typo in path", Carriers{Path: "codr"}, `path names unknown role "codr"`)
	f("typo in header", Carriers{Path: "coder", Header: "codr"}, `header X-Hub-Role names unknown role "codr"`)
	f("typo in metadata", Carriers{Path: "coder", Metadata: "codr"}, `metadata.role names unknown role "codr"`)
	f("typo in role:", Carriers{Path: "coder", Model: "role:codr"}, `model names unknown role "codr"`)
	f("role: and nothing", Carriers{Model: "role:"}, `model names unknown role ""`)
	f("typo in the key", Carriers{KeyDefault: "codr"}, `the key's default_role names unknown role "codr"`)
	f("case matters", Carriers{Header: "Coder"}, `header X-Hub-Role names unknown role "Coder"`)

	// What a key may not use is refused where it was named, and passed over where it was only implied.
	only := []string{"orchestrator"}
	f("forbidden by path", Carriers{Path: "coder", Allowed: only}, `this key may not use role "coder"`)
	f("forbidden by alias", Carriers{Model: "critic", Allowed: only}, `this key may not use role "reviewer"`)
	f("forbidden by the key itself", Carriers{KeyDefault: "coder", Allowed: only}, `this key may not use role "coder"`)
	f("allowed by alias", Carriers{Model: "manager", Allowed: only}, `orchestrator model_alias model="" any=true`)
	f("model match passed over", Carriers{Model: "claude-4", Allowed: []string{"reviewer"}}, `reviewer model_match model="claude-4" any=false`)
	f("session passed over", Carriers{SessionRole: "coder", Allowed: []string{"reviewer"}}, `reviewer default_fallback model="" any=true`)
	f("default forbidden", Carriers{SessionRole: "coder", Allowed: only}, `this key may not use role "reviewer"`)
}

func TestResolveErrors(t *testing.T) {
	tab := rolesTable(t, "")
	if _, err := tab.Resolve(Carriers{Model: "other"}); !errors.Is(err, ErrNoRole) {
		t.Errorf("no default role: %v", err)
	}
	_, err := tab.Resolve(Carriers{Header: "x"})
	if unknown, ok := errors.AsType[*UnknownRoleError](err); !ok || unknown.Name != "x" {
		t.Errorf("unknown: %v", err)
	}
	_, err = tab.Resolve(Carriers{Header: "coder", Allowed: []string{"reviewer"}})
	if forbidden, ok := errors.AsType[*RoleForbiddenError](err); !ok || forbidden.Role != "coder" {
		t.Errorf("forbidden: %v", err)
	}
}

// P16: the Python hub read "role: coder" out of the system prompt. Here the prompt is not even a carrier: whoever adds one
// has to come by this test.
func TestResolveNeverSeesThePrompt(t *testing.T) {
	var fields []string
	for f := range reflect.TypeFor[Carriers]().Fields() {
		fields = append(fields, f.Name)
	}
	if got, want := fmt.Sprint(fields), "[Path Header Metadata Model KeyDefault SessionRole Allowed]"; got != want {
		t.Errorf("carriers are %s, want %s", got, want)
	}
}
