// Package telemetry tells what happened: Exchange to metrics, to one log line, and to the numbers of the last day (Window).
// It knows none of the other packages; everything comes in as plain strings and numbers.
//
// The metrics are an interface: dashboards and alerts rely on these names and labels. Label values come from the
// configuration and from closed lists; whatever else would be one is counted as "other". Never a label: keys, users,
// sessions, runs, addresses, models, texts.
//
//	hermes_hub_requests_total                   counter    endpoint, role, outcome
//	hermes_hub_upstream_attempts_total          counter    profile, outcome
//	hermes_hub_failovers_total                  counter    role, reason
//	hermes_hub_request_duration_seconds         histogram  endpoint, outcome
//	hermes_hub_upstream_duration_seconds        histogram  profile
//	hermes_hub_time_to_first_token_seconds      histogram  profile
//	hermes_hub_overhead_seconds                 histogram
//	hermes_hub_tokens_total                     counter    profile, kind
//	hermes_hub_cost_usd_total                   counter    profile
//	hermes_hub_inflight_requests                gauge
//	hermes_hub_build_info                       gauge      version, commit, go_version
//	hermes_hub_leases                           gauge      profile
//	hermes_hub_lease_limit                      gauge      profile
//	hermes_hub_profile_state                    gauge      profile, state
//	hermes_hub_pipeline_active                  gauge      role, profile
//	hermes_hub_provider_resting                 gauge      provider
//	hermes_hub_quota_remaining_ratio            gauge      profile, bucket
//	hermes_hub_quota_reset_timestamp_seconds    gauge      profile, bucket
//	hermes_hub_quota_age_seconds                gauge      profile
//	hermes_hub_snapshot_generation              gauge
//	hermes_hub_config_last_reload_successful    gauge
//	hermes_hub_journal_append_seconds           histogram
//	hermes_hub_journal_events_total             counter
//	hermes_hub_journal_dropped_events_total     counter
//	hermes_hub_journal_refused_batches_total    counter
//	hermes_hub_journal_degraded                 gauge
//	hermes_hub_runs_active                      gauge
//	hermes_hub_sse_subscribers                  gauge      stream
//	hermes_hub_store_up                         gauge      store
//
// Values of kind: input, output, cache_read, cache_write (both part of input), reasoning (part of output). Values of
// outcome: of a request those of Outcome, of an attempt those of AttemptOutcomes, which are also those of reason. What
// stands below build_info is read at the scrape, from State and JournalState. What is unknown or unlimited has no series; it is never 0.
package telemetry
