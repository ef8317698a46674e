package telemetry

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asked ends at noon and asked one account, which answered.
func asked(role, profile string, took time.Duration) *Exchange {
	return &Exchange{
		Role: role, Outcome: Success, Start: noon,
		Attempts: []Attempt{{Profile: profile, Provider: providerOf(profile), Outcome: "ok", Duration: took}},
	}
}

func providerOf(profile string) string { return strings.TrimRight(profile, "-0123456789") }

func windowLabels() Labels {
	l := testLabels()
	l.Providers = []string{"codex", "claude"}
	return l
}

func newTestWindow(xs ...*Exchange) *Window {
	w := NewWindow(WindowOptions{Labels: windowLabels(), Now: func() time.Time { return noon }})
	for _, x := range xs {
		w.Observe(x)
	}
	return w
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// T01: percentiles are interpolated between ranks.
func TestWindowLatencies(t *testing.T) {
	w := newTestWindow()
	for ms := 100; ms <= 1000; ms += 100 {
		w.Observe(asked("coder", "codex-1", time.Duration(ms)*time.Millisecond))
	}
	a := w.Breakdown(noon, Kept, Filter{}).Global
	if got := fmt.Sprint(*a.LatencyP50, *a.LatencyP95, *a.LatencyMax); got != "550 955 1000" {
		t.Errorf("got %s, want 550 955 1000", got)
	}
}

// T02: without data there are nulls, no zeros and no NaN; what the configuration knows has a row all the same.
func TestWindowWithoutData(t *testing.T) {
	const none = `{"source":"own_measurement","has_data":false,"total_calls":0,"successful_calls":0,"failed_calls":0,"call_share":null,` +
		`"error_rate":null,"latency_p50_ms":null,"latency_p95_ms":null,"latency_max_ms":null,"total_prompt_tokens":null,` +
		`"total_completion_tokens":null,"total_tokens":null,"total_cost_usd":null,"failovers_count":0,"failover_reasons":{}}`
	want := `{"source":"own_measurement","has_data":false,"window_seconds":86400,"global":` + none +
		`,"by_provider":{"claude":` + none + `,"codex":` + none + `},"by_role":{"coder":` + none + `,"fast":` + none + `}}`
	refused := &Exchange{Role: "coder", Outcome: Refused, Start: noon} // nothing was called, and the caller is to blame
	if got := asJSON(t, newTestWindow(refused, &Exchange{Outcome: InvalidCall, Start: noon}).Breakdown(noon, 0, Filter{})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// T03: 9, 7 and 4 calls of 20.
func TestWindowShares(t *testing.T) {
	w := newTestWindow()
	w.Relabel(Labels{Roles: []string{"coder"}, Profiles: []string{"codex-1", "claude-2", "grok-3"}})
	for profile, n := range map[string]int{"codex-1": 9, "claude-2": 7, "grok-3": 4} {
		for range n {
			w.Observe(asked("coder", profile, time.Second))
		}
	}
	f := func(filter Filter, want string) {
		t.Helper()
		b := w.Breakdown(noon, Kept, filter)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(b.ByProvider)) {
			got = append(got, fmt.Sprintf("%s %v", name, *b.ByProvider[name].CallShare))
		}
		if text := fmt.Sprintf("%v of %s", *b.Global.CallShare, strings.Join(got, ", ")); text != want {
			t.Errorf("%+v: got %s, want %s", filter, text, want)
		}
	}
	f(Filter{}, "1 of claude 0.35, codex 0.45, grok 0.2")
	f(Filter{Provider: "grok"}, "0.2 of grok 0.2")
	f(Filter{Profile: "codex-1", Role: "coder"}, "0.45 of codex 0.45")
	f(Filter{Role: "nobody"}, "0 of ")
}

// T04: a quota failure and the success after it are two attempts, one failover with its trigger, and no failure. T05, T06:
// the cost is that of the model that was asked, cached input at its own rate.
func TestWindowFailover(t *testing.T) {
	x := failedOver()
	NewPrices([]Price{
		{Model: "claude-opus", Input: new(1e6), Output: new(1e6)},
		{Model: "claude-opus-4-5", Input: new(5.0), Output: new(25.0), CachedInput: new(0.5)},
	}).Charge(x)
	b := newTestWindow(x).Breakdown(x.Start.Add(time.Minute), Kept, Filter{})
	global := `{"source":"own_measurement","has_data":true,"total_calls":2,"successful_calls":1,"failed_calls":0,"call_share":1,"error_rate":0,` +
		`"latency_p50_ms":737.5,"latency_p95_ms":1311.3,"latency_max_ms":1375,"total_prompt_tokens":1000,"total_completion_tokens":50,` +
		`"total_tokens":1050,"total_cost_usd":0.00265,"failovers_count":1,"failover_reasons":{"quota_exhausted":1}}`
	if got := asJSON(t, b.Global); got != global {
		t.Errorf("global:\ngot  %s\nwant %s", got, global)
	}
	if diff := cmp.Diff(b.Global, b.ByRole["coder"]); diff != "" {
		t.Errorf("the role's:\n%s", diff)
	}
	// The failover is told of the account that was left.
	if got := fmt.Sprint(b.ByProvider["openai-codex"].FailoverReasons, b.ByProvider["claude"].FailoverReasons); got != "map[quota_exhausted:1] map[]" {
		t.Errorf("by provider: %s", got)
	}
}

// Requests that ended in failure count once, however many accounts they asked, and without any too.
func TestWindowFailures(t *testing.T) {
	attempts := func(outcomes ...string) (as []Attempt) {
		for i, o := range outcomes {
			as = append(as, Attempt{Profile: []string{"codex-1", "claude-2"}[i%2], Provider: []string{"codex", "claude"}[i%2], Outcome: o, Duration: time.Second})
		}
		return as
	}
	f := func(outcome Outcome, as []Attempt, want string) {
		t.Helper()
		b := newTestWindow(&Exchange{Role: "coder", Outcome: outcome, Start: noon, Attempts: as}).Breakdown(noon, Kept, Filter{})
		rate := "null"
		if r := b.Global.ErrorRate; r != nil {
			rate = fmt.Sprint(*r)
		}
		got := fmt.Sprintf("%v: %d calls, %d failed (codex %d, claude %d), rate %s, %v", b.HasData, b.Global.TotalCalls, b.Global.FailedCalls,
			b.ByProvider["codex"].FailedCalls, b.ByProvider["claude"].FailedCalls, rate, b.Global.FailoverReasons)
		if got != want || b.ByRole["coder"].FailedCalls != b.Global.FailedCalls {
			t.Errorf("%s: got  %s\nwant %s", outcome, got, want)
		}
	}
	f(Exhausted, attempts("rate_limited", "auth_invalid"), "true: 2 calls, 1 failed (codex 0, claude 1), rate 0.5, map[rate_limited:1]")
	f(Exhausted, attempts("auth_expired", "auth_invalid", "ok?"), "true: 3 calls, 1 failed (codex 1, claude 0), rate 0.3333, map[auth_required:2]")
	f(Exhausted, nil, "true: 0 calls, 1 failed (codex 0, claude 0), rate null, map[]")
	f(Interrupted, attempts("interrupted"), "true: 1 calls, 1 failed (codex 1, claude 0), rate 1, map[]")
	f(InvalidCall, attempts("invalid_request"), "true: 1 calls, 1 failed (codex 1, claude 0), rate 1, map[]")
	f(Unavailable, nil, "true: 0 calls, 1 failed (codex 0, claude 0), rate null, map[]")
	f(ClientClosed, attempts("client_closed"), "true: 1 calls, 0 failed (codex 0, claude 0), rate 0, map[]")
	f(Success, attempts("never seen", "ok"), "true: 2 calls, 0 failed (codex 0, claude 0), rate 0, map[other:1]")
}

// More requests that failed without a call than calls are no rate above 1.
func TestWindowErrorRateHasABound(t *testing.T) {
	w := newTestWindow(asked("coder", "codex-1", time.Second))
	for range 3 {
		w.Observe(&Exchange{Role: "coder", Outcome: Exhausted, Start: noon})
	}
	if a := w.Breakdown(noon, Kept, Filter{}).Global; a.FailedCalls != 3 || *a.ErrorRate != 1 {
		t.Errorf("%d failed, rate %v", a.FailedCalls, *a.ErrorRate)
	}
}

// T07, T08: stated zeros are zeros, what nobody stated is null, and nothing is estimated. A negative number is not believed,
// and one beyond all measure does not turn the sum negative.
func TestWindowUsage(t *testing.T) {
	f := func(want string, usages ...Usage) {
		t.Helper()
		w := newTestWindow()
		for _, u := range usages {
			x := asked("coder", "codex-1", time.Second)
			x.Attempts[0].Usage = u
			w.Observe(x)
		}
		a := w.Breakdown(noon, Kept, Filter{}).Global
		if got := asJSON(t, []*int64{a.PromptTokens, a.CompletionTokens, a.TotalTokens}); got != want {
			t.Errorf("%+v: got %s, want %s", usages, got, want)
		}
	}
	f(`[null,null,null]`, Usage{}, Usage{Input: 5})
	f(`[7,0,7]`, Usage{Input: 7, Known: true}, Usage{})
	f(`[0,0,0]`, Usage{Known: true})
	f(`[0,2,2]`, Usage{Input: -5, Output: 2, Known: true})
	f(`[9223372036854775807,1,9223372036854775807]`, Usage{Input: 1 << 62, Output: 1, Known: true}, Usage{Input: 1 << 62, Known: true})
}

// T05: calls without a price, or without usage, have no cost, and take none from those that have.
func TestWindowCost(t *testing.T) {
	f := func(want string, costs ...Cost) {
		t.Helper()
		w := newTestWindow()
		for _, c := range costs {
			x := asked("coder", "codex-1", time.Second)
			x.Attempts[0].Cost = c
			w.Observe(x)
		}
		if got := asJSON(t, w.Breakdown(noon, Kept, Filter{}).Global.CostUSD); got != want {
			t.Errorf("%v: got %s, want %s", costs, got, want)
		}
	}
	f("null", Cost{}, Cost{USD: 3})
	f("3.75", Cost{USD: 3.75, Known: true}, Cost{})
	f("0", Cost{Known: true})
	f("0.3", Cost{USD: 0.1, Known: true}, Cost{USD: 0.2, Known: true})
	f("null", Cost{USD: -1, Known: true}, Cost{USD: math.Inf(1), Known: true}, Cost{USD: math.NaN(), Known: true}, Cost{USD: 1e300, Known: true})
}

// Observed, looked at and saved by many at once: every call is counted, and once. Run under the race detector.
func TestWindowUnderLoad(t *testing.T) {
	w := newTestWindow()
	const observers, calls = 8, 500
	var wg sync.WaitGroup
	for i := range observers {
		wg.Go(func() {
			for n := range calls {
				x := asked("coder", "codex-1", time.Millisecond)
				x.Start = noon.Add(-time.Duration(i*calls+n) * time.Second)
				w.Observe(x)
				if n%50 == i {
					w.Breakdown(noon, time.Hour, Filter{})
					_ = w.save(t.Context())
					w.Relabel(windowLabels())
				}
			}
		})
	}
	wg.Wait()
	b := w.Breakdown(noon, Kept, Filter{Profile: "codex-1"})
	if b.Global.TotalCalls != observers*calls || b.ByRole["coder"].TotalCalls != observers*calls {
		t.Errorf("%d calls, want %d", b.Global.TotalCalls, observers*calls)
	}
}
