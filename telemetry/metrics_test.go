package telemetry

import (
	"fmt"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func testLabels() Labels {
	return Labels{
		Endpoints: []string{"/v1/chat/completions"},
		Roles:     []string{"coder", "fast"},
		Profiles:  []string{"codex-1", "claude-2"},
	}
}

func newTestMetrics() (*prometheus.Registry, *Metrics) {
	reg := prometheus.NewRegistry()
	return reg, NewMetrics(reg, testLabels(), Build{Version: "v1", Commit: "abc", GoVersion: "go1.26"})
}

// scrape returns the lines of reg's text that begin with one of the names and do not end in " 0".
func scrape(t testing.TB, reg *prometheus.Registry, names ...string) string {
	t.Helper()
	var out []string
	for line := range strings.SplitSeq(gather(t, reg), "\n") {
		if strings.HasSuffix(line, " 0") {
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(line, namespace+"_"+n) }) {
			out = append(out, strings.TrimPrefix(line, namespace+"_"))
		}
	}
	return strings.Join(out, "\n")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(strings.ReplaceAll(want, "\t", "")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// T04's counts: a quota failure and the success after it are two attempts, one failover with its reason, one request.
func TestObserve(t *testing.T) {
	reg, m := newTestMetrics()
	m.Observe(failedOver())
	m.Inflight(1)
	m.Inflight(1)
	m.Inflight(-1)
	expect(t, scrape(t, reg, "requests_total", "upstream_attempts_total", "failovers_total", "tokens_total", "cost_usd_total", "inflight", "build_info"), `
		build_info{commit="abc",go_version="go1.26",version="v1"} 1
		cost_usd_total{profile="claude-2"} 0.0125
		failovers_total{reason="quota_exhausted",role="coder"} 1
		inflight_requests 1
		requests_total{endpoint="/v1/chat/completions",outcome="success",role="coder"} 1
		tokens_total{kind="cache_read",profile="claude-2"} 800
		tokens_total{kind="input",profile="claude-2"} 1000
		tokens_total{kind="output",profile="claude-2"} 50
		tokens_total{kind="reasoning",profile="claude-2"} 20
		upstream_attempts_total{outcome="ok",profile="claude-2"} 1
		upstream_attempts_total{outcome="quota_exhausted",profile="codex-1"} 1`)
	expect(t, scrape(t, reg, "upstream_duration_seconds_sum", "upstream_duration_seconds_count", "time_to_first_token_seconds_sum", "request_duration_seconds_sum", "overhead_seconds_sum"), `
		overhead_seconds_sum 0.0015
		request_duration_seconds_sum{endpoint="/v1/chat/completions",outcome="success"} 1.5
		time_to_first_token_seconds_sum{profile="claude-2"} 0.25
		upstream_duration_seconds_sum{profile="claude-2"} 1.375
		upstream_duration_seconds_count{profile="claude-2"} 1
		upstream_duration_seconds_sum{profile="codex-1"} 0.1
		upstream_duration_seconds_count{profile="codex-1"} 1`)
	expect(t, scrape(t, reg, `overhead_seconds_bucket{le="0.001"}`, `overhead_seconds_bucket{le="0.0025"}`), `overhead_seconds_bucket{le="0.0025"} 1`)
}

// A rate sees the first event only when the series was there before it.
func TestSeriesBeginAtZero(t *testing.T) {
	reg, _ := newTestMetrics()
	text := gather(t, reg)
	for _, line := range []string{
		`hermes_hub_requests_total{endpoint="/v1/chat/completions",outcome="exhausted",role="fast"} 0`,
		`hermes_hub_upstream_attempts_total{outcome="billing",profile="codex-1"} 0`,
		`hermes_hub_failovers_total{reason="timeout",role="coder"} 0`,
		`hermes_hub_tokens_total{kind="cache_write",profile="claude-2"} 0`,
		`hermes_hub_time_to_first_token_seconds_count{profile="claude-2"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in:\n%s", line, text)
		}
	}
	if strings.Contains(text, `"`+Other+`"`) {
		t.Errorf("a series %q before anything unknown happened:\n%s", Other, text)
	}
}

// T08, T07: usage that no provider stated is not counted, a stated 0 is not unknown, a negative number is not believed.
func TestUsageIsCountedAsStated(t *testing.T) {
	reg, m := newTestMetrics()
	m.Observe(&Exchange{Attempts: []Attempt{
		{Profile: "codex-1", Outcome: "ok", Usage: Usage{Input: 99}},
		{Profile: "codex-1", Outcome: "ok", Usage: Usage{Input: 7, Output: 0, CacheRead: -5, Known: true}, Cost: Cost{USD: -1, Known: true}},
	}})
	expect(t, scrape(t, reg, "tokens_total", "cost"), `tokens_total{kind="input",profile="codex-1"} 7`)
}

// T12: no client and no upstream can make series. Ten thousand odd requests leave as many series as ten.
func TestCardinalityIsBounded(t *testing.T) {
	reg, m := newTestMetrics()
	odd := func(i int) {
		s := fmt.Sprintf("user%d@example.com\xff", i)
		m.Observe(&Exchange{Endpoint: "/" + s, Role: s, Outcome: Outcome(s), Model: s, Key: s, ID: s, Err: s, Total: -time.Second, Attempts: []Attempt{
			{Profile: s, Model: s, Outcome: s, Reason: s}, {Profile: "codex-1", Outcome: s}, {Profile: s, Outcome: "ok"},
		}})
		m.Observe(&Exchange{Endpoint: "/v1/chat/completions", Role: s, Outcome: InvalidCall})
	}
	for i := range 10 {
		odd(i)
	}
	few := strings.Count(gather(t, reg), "\n")
	for i := range 10_000 {
		odd(i)
	}
	text := gather(t, reg)
	if many := strings.Count(text, "\n"); many != few {
		t.Errorf("%d lines became %d", few, many)
	}
	if strings.Contains(text, "user") || strings.Contains(text, "@") {
		t.Error("a label holds what a client sent")
	}
	expect(t, scrape(t, reg, `requests_total{endpoint="other"`, `requests_total{endpoint="/v1/chat/completions",outcome="invalid_request",role="o`), `
		requests_total{endpoint="/v1/chat/completions",outcome="invalid_request",role="other"} 10010
		requests_total{endpoint="other",outcome="other",role="other"} 10010`)
}

// F05's side of metrics: a reload keeps the counts of what stays, drops what is gone, begins what is new.
func TestRelabel(t *testing.T) {
	reg, m := newTestMetrics()
	m.Observe(failedOver())
	l := testLabels()
	l.Roles = []string{"coder", "reviewer"}
	l.Profiles = []string{"claude-2", "grok-3"}
	m.Relabel(l)
	text := gather(t, reg)
	for _, gone := range []string{`"codex-1"`, `"fast"`} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is still there:\n%s", gone, text)
		}
	}
	for _, line := range []string{
		`hermes_hub_requests_total{endpoint="/v1/chat/completions",outcome="success",role="coder"} 1`,
		`hermes_hub_requests_total{endpoint="/v1/chat/completions",outcome="success",role="reviewer"} 0`,
		`hermes_hub_upstream_attempts_total{outcome="ok",profile="claude-2"} 1`,
		`hermes_hub_cost_usd_total{profile="grok-3"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in:\n%s", line, text)
		}
	}
	m.Observe(failedOver())
	expect(t, scrape(t, reg, "upstream_attempts_total"), `
		upstream_attempts_total{outcome="ok",profile="claude-2"} 2
		upstream_attempts_total{outcome="quota_exhausted",profile="other"} 1`)
}

// Requests go on being counted while a reload replaces the labels; the race detector watches.
func TestObserveDuringRelabel(t *testing.T) {
	reg, m := newTestMetrics()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				m.Observe(failedOver())
			}
		})
	}
	for range 20 {
		m.Relabel(testLabels())
		gather(t, reg)
	}
	group.Wait()
	expect(t, scrape(t, reg, "requests_total"), `requests_total{endpoint="/v1/chat/completions",outcome="success",role="coder"} 2000`)
}

// The package comment is what dashboards are written from: it lists exactly the metrics that a scrape shows, with their
// types and labels. T12: the scrape parses and lints clean.
func TestPackageCommentListsTheMetrics(t *testing.T) {
	reg, m := newTestMetrics()
	reg.MustRegister(StateCollector(fullState))
	NewJournalMetrics(reg, fullJournal)
	m.Observe(failedOver())
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	var got []string
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(family.GetName(), " ", strings.ToLower(family.GetType().String()), " ", strings.Join(labels, ", "))))
	}
	file, err := parser.ParseFile(token.NewFileSet(), "telemetry.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.SplitSeq(file.Doc.Text(), "\n") {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(line, "\t"+namespace) {
			kind, labels, _ := strings.Cut(strings.TrimSpace(rest), " ")
			sorted := strings.FieldsFunc(labels, func(r rune) bool { return r == ',' || r == ' ' })
			slices.Sort(sorted)
			want = append(want, strings.TrimSpace(name+" "+kind+" "+strings.Join(sorted, ", ")))
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the scrape shows\n%s\nthe package comment lists\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNewRegistryShowsRuntimeAndProcess(t *testing.T) {
	text := gather(t, NewRegistry())
	for _, name := range []string{"\ngo_goroutines ", "\nprocess_resident_memory_bytes "} {
		if !strings.Contains(text, name) {
			t.Errorf("no%sin:\n%s", name, text)
		}
	}
}

func gather(t testing.TB, reg *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Counting must not feed the garbage collector: it is on every request's path.
func TestObserveAllocatesNothing(t *testing.T) {
	_, m := newTestMetrics()
	x := failedOver()
	if n := testing.AllocsPerRun(100, func() { m.Observe(x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	_, m := newTestMetrics()
	x := failedOver()
	b.ReportAllocs()
	for b.Loop() {
		m.Inflight(1)
		m.Observe(x)
		m.Inflight(-1)
	}
}
