package hub

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A03: the members of each model are those of the UI state contract, in its order; what the hub adds to them is listed here.
func TestContractFields(t *testing.T) {
	f := func(model any, contract, added string) {
		t.Helper()
		kind := reflect.TypeOf(model)
		var names []string
		for field := range kind.Fields() {
			names = append(names, field.Tag.Get("json"))
		}
		own := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(strings.Fields(added), n) })
		if want := strings.Fields(contract); !slices.Equal(own, want) {
			t.Errorf("%s\n has %q\nwant %q", kind.Name(), own, want)
		}
		if len(names) != len(own)+len(strings.Fields(added)) {
			t.Errorf("%s lacks some of %q", kind.Name(), added)
		}
	}
	f(HubSnapshot{}, `generation seq timestamp profiles_by_provider all_profiles readiness agents providers routing quotas metrics is_stale`, `store_epoch`)
	f(ProfileViewModel{}, `profile_id display_name account_identity provider provider_display_name assigned_roles primary_role
		is_main_account is_main_orchestrator auth_state health_state health_label_ru model_states cooldown_remaining_sec last_checked_at
		enabled is_cold_spare is_empty_slot email plan plan_code plan_source quota_snapshot preferred_models active_leases`,
		`health_label_en plan_en`)
	f(QuotaSnapshot{}, `account_id provider buckets fetched_at stale_after_seconds source unavailable_reason is_estimated`, `unavailable_reason_en`)
	f(QuotaBucket{}, `id display_name model_family used_percent remaining_percent used_absolute remaining_absolute limit_absolute
		reset_at reset_in_seconds period status`, `label_ru label_en reset_label_ru reset_label_en`)
	f(AgentViewModel{}, `role_id role_name_ru role_description_ru assigned_profile_id assigned_display_name provider
		provider_display_name model account_identity routing_position status status_label_ru is_active is_main_orchestrator
		cooldown_remaining_sec session_id active_quota_status active_quota_label`,
		`role_name_en role_description_en status_label_en active_quota_label_en`)
	f(PipelineNode{}, `profile_id display_name provider model account_identity status status_label_ru quota_status is_active
		cooldown_remaining_sec failover_reason`, `status_label_en failover_reason_en`)
	f(RolePipeline{}, `role_id role_name_ru default_model max_failover session_affinity active_profile_id nodes`, `role_name_en`)
	f(SystemReadiness{}, `state title_ru summary_ru roles_ready_count total_roles accounts_connected_count total_accounts
		providers_ready_count total_providers warnings`, `title_en summary_en warnings_en`)
	f(ProviderSummary{}, `provider_id provider_name total_slots connected_count online_count auth_required_count quota_exhausted_count
		cold_spare_count discovered_models last_refresh_at`, ``)
	f(ModelFamilyHealth{}, `family state label_ru remaining_sec reset_at reason`, `label_en`)
	f(Metrics{}, `generation seq duration_ms total_profiles authenticated_profiles refresh_runs_total refresh_deduplicated_total
		telemetry host active_calls_total active_calls_by_profile`, `refresh_skipped_total`)
}

// Every text in the contract's language has its twin, and neither is ever empty where the other is not.
func TestTwins(t *testing.T) {
	for name, s := range scenes(t) {
		var v any
		if err := json.Unmarshal(encoded(t, s.build()), &v); err != nil {
			t.Fatal(err)
		}
		walk(v, func(object map[string]any) {
			for key, value := range object {
				twin, ok := strings.CutSuffix(key, "_ru")
				if !ok {
					continue
				}
				english, there := object[twin+"_en"]
				if !there || (value == nil) != (english == nil) || (value == "") != (english == "") {
					t.Errorf("%s: %s is %q, its twin %q", name, key, value, english)
				}
			}
		})
	}
}

// A03: no credential is anywhere in a snapshot.
func TestNoSecrets(t *testing.T) {
	for name, s := range scenes(t) {
		if text := string(encoded(t, s.build())); strings.Contains(text, "secret-key") {
			t.Errorf("%s: a credential shows", name)
		}
	}
}

func encoded(t testing.TB, s HubSnapshot) []byte {
	t.Helper()
	data, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// walk calls back with every object in a decoded JSON value.
func walk(v any, found func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		found(v)
		for _, inner := range v {
			walk(inner, found)
		}
	case []any:
		for _, inner := range v {
			walk(inner, found)
		}
	}
}
