package telemetry

import (
	"math"
	"time"
)

// OwnMeasurement is the source of everything that the hub counted itself.
const OwnMeasurement = "own_measurement"

// Filter narrows a Breakdown down to one role, one provider, one profile; empty fields do not. Other stands for all that
// the configuration did not know when it was counted.
type Filter struct{ Role, Provider, Profile string }

func (f Filter) admits(s lane) bool {
	return (f.Role == "" || f.Role == s.role) && (f.Provider == "" || f.Provider == s.provider) && (f.Profile == "" || f.Profile == s.profile)
}

// Breakdown is the telemetry of a window: the telemetry member of the metrics in the UI state contract's snapshot.
type Breakdown struct {
	Source        string                `json:"source"` // OwnMeasurement
	HasData       bool                  `json:"has_data"`
	WindowSeconds float64               `json:"window_seconds"`
	Global        Aggregates            `json:"global"`
	ByProvider    map[string]Aggregates `json:"by_provider"`
	ByRole        map[string]Aggregates `json:"by_role"`
}

// Aggregates are the numbers of the UI state contract's call telemetry, under its names and in its order. What was not
// measured is null, never 0.
type Aggregates struct {
	Source           string           `json:"source"`           // OwnMeasurement
	HasData          bool             `json:"has_data"`         // a call, or a request that failed before there was one
	TotalCalls       int64            `json:"total_calls"`      // upstream attempts
	SuccessfulCalls  int64            `json:"successful_calls"` // of them
	FailedCalls      int64            `json:"failed_calls"`     // client requests that ended in failure, by the account that was asked last
	CallShare        *float64         `json:"call_share"`       // of all calls of the window, 0 to 1; null when it has none
	ErrorRate        *float64         `json:"error_rate"`       // failed_calls / total_calls, at most 1; null without calls
	LatencyP50       *float64         `json:"latency_p50_ms"`   // of attempts, whatever came of them
	LatencyP95       *float64         `json:"latency_p95_ms"`
	LatencyMax       *float64         `json:"latency_max_ms"`
	PromptTokens     *int64           `json:"total_prompt_tokens"`     // as providers stated them; null when none did
	CompletionTokens *int64           `json:"total_completion_tokens"` // likewise
	TotalTokens      *int64           `json:"total_tokens"`            // both
	CostUSD          *float64         `json:"total_cost_usd"`          // of the calls whose price and usage are known; null when there is none
	Failovers        int64            `json:"failovers_count"`         // by the account that was left
	FailoverReasons  map[string]int64 `json:"failover_reasons"`        // how the attempts failed that were followed by another
}

// group adds lanes up.
type group struct {
	tally
	spread spread
}

func (g *group) add(t *tally) {
	g.tally.merge(t)
	g.spread.add(t.latency)
}

// aggregates tells a group's numbers; total is how many calls the window has in all.
func (g *group) aggregates(total int64) Aggregates {
	a := Aggregates{
		Source:          OwnMeasurement,
		HasData:         g.calls > 0 || g.failed > 0,
		TotalCalls:      g.calls,
		SuccessfulCalls: g.succeeded,
		FailedCalls:     g.failed,
		FailoverReasons: make(map[string]int64, len(g.failovers)),
	}
	for _, f := range g.failovers {
		a.Failovers = plus(a.Failovers, f.n)
		a.FailoverReasons[f.reason] = f.n
	}
	if total > 0 {
		a.CallShare = new(rounded(float64(g.calls)/float64(total), 4))
	}
	if g.calls > 0 {
		// Requests that failed before a call can outnumber the calls.
		a.ErrorRate = new(rounded(min(float64(g.failed)/float64(g.calls), 1), 4))
		a.LatencyP50 = new(inMilliseconds(g.spread.percentile(50)))
		a.LatencyP95 = new(inMilliseconds(g.spread.percentile(95)))
		a.LatencyMax = new(inMilliseconds(float64(g.slowest)))
	}
	if g.stated > 0 {
		a.PromptTokens, a.CompletionTokens = new(g.prompt), new(g.completion)
		a.TotalTokens = new(plus(g.prompt, g.completion))
	}
	if g.priced > 0 {
		a.CostUSD = new(rounded(g.usd, 9))
	}
	return a
}

func inMilliseconds(units float64) float64 {
	return rounded(units*float64(unit)/float64(time.Millisecond), 1)
}

// rounded keeps that many digits behind the point.
func rounded(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
