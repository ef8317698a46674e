package hub

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the screens in testdata")

// Whoever never saw the code can draw the contract's screens from the JSON alone: readiness, accounts, pipelines, quotas. The
// texts are in testdata; they are also the quickest way to see what a snapshot says.
func TestScreens(t *testing.T) {
	for name, s := range scenes(t) {
		var snapshot map[string]any
		if err := json.Unmarshal(encoded(t, s.build()), &snapshot); err != nil {
			t.Fatal(err)
		}
		file, got := filepath.Join("testdata", "screens-"+name+".txt"), screens(snapshot)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s, with + what was drawn:\n%s", name, diff)
		}
	}
}

// screen draws with nothing but a decoded snapshot.
type screen struct{ strings.Builder }

func screens(snapshot map[string]any) string {
	var s screen
	s.readiness(snapshot)
	s.accounts(snapshot)
	s.pipelines(snapshot)
	s.quotas(snapshot)
	return s.String()
}

func (s *screen) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

type object = map[string]any

// list is a member that is an array of objects.
func list(o object, name string) []object {
	var all []object
	for _, v := range o[name].([]any) {
		all = append(all, v.(object))
	}
	return all
}

// or is a value, or a dash where it is null or empty.
func or(v any) any {
	if v == nil || v == "" {
		return "—"
	}
	return v
}

func (s *screen) readiness(snapshot object) {
	r := snapshot["readiness"].(object)
	s.line("ГОТОВНОСТЬ  %s — %s", r["title_ru"], r["summary_ru"])
	s.line("  роли %v/%v · аккаунты %v/%v · провайдеры %v/%v · активных вызовов %v", r["roles_ready_count"], r["total_roles"],
		r["accounts_connected_count"], r["total_accounts"], r["providers_ready_count"], r["total_providers"], snapshot["metrics"].(object)["active_calls_total"])
	for _, w := range r["warnings"].([]any) {
		s.line("  ! %s", w)
	}
}

func (s *screen) accounts(snapshot object) {
	s.line("\nАККАУНТЫ")
	for _, p := range list(snapshot, "providers") {
		s.line("%s: подключено %v из %v, работает %v, модели %v", p["provider_name"], p["connected_count"], p["total_slots"], p["online_count"], p["discovered_models"])
		accounts := snapshot["profiles_by_provider"].(object)[p["provider_id"].(string)].([]any)
		for _, account := range accounts {
			a := account.(object)
			badge := ""
			if a["plan_source"] != "unknown" {
				badge = " [" + a["plan_code"].(string) + "]"
			}
			s.line("  %s (%s)%s — %s, роли %v, занято %v", a["display_name"], a["account_identity"], badge, a["health_label_ru"], a["assigned_roles"], a["active_leases"])
			for _, family := range []string{"claude", "gemini", "gpt", "grok", "deepseek"} {
				if m, ok := a["model_states"].(object)[family].(object); ok {
					s.line("    %s: %s", family, m["label_ru"])
				}
			}
		}
	}
}

func (s *screen) pipelines(snapshot object) {
	s.line("\nМАРШРУТЫ")
	for _, agent := range list(snapshot, "agents") {
		s.line("%s — %s, %s, %s, сессия %v", agent["role_name_ru"], or(agent["assigned_display_name"]), agent["status_label_ru"], agent["active_quota_label"], or(agent["session_id"]))
		for i, n := range list(snapshot["routing"].(object)[agent["role_id"].(string)].(object), "nodes") {
			mark := " "
			if n["is_active"] == true {
				mark = "▶"
			}
			s.line("  %s %d. %s · %s · %s · %s · %s", mark, i+1, n["display_name"], n["provider"], n["model"], n["account_identity"], n["status_label_ru"])
			if reason := n["failover_reason"]; reason != nil {
				s.line("       переключение: %s", reason)
			}
		}
	}
}

func (s *screen) quotas(snapshot object) {
	s.line("\nКВОТЫ")
	for _, p := range list(snapshot, "providers") {
		for _, account := range snapshot["profiles_by_provider"].(object)[p["provider_id"].(string)].([]any) {
			id := account.(object)["profile_id"].(string)
			q := snapshot["quotas"].(object)[id].(object)
			kind := "измерено"
			if q["is_estimated"] == true {
				kind = "оценка"
			}
			s.line("%s: %s, %s%s", id, kind, q["source"], strings.TrimSuffix(fmt.Sprintf(" — %v", or(q["unavailable_reason"])), " — —"))
			for _, b := range list(q, "buckets") {
				s.line("  %-31s %-9s %s %s", b["display_name"], b["status"], b["label_ru"], or(b["reset_label_ru"]))
			}
		}
	}
}
