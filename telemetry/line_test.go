package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// failedOver is a streamed chat completion whose first account was out of quota.
func failedOver() *Exchange {
	return &Exchange{
		ID: "req_1", Endpoint: "/v1/chat/completions", Role: "coder", RoleSource: "explicit", Model: "auto", Key: "laptop",
		Stream: true, Start: time.Unix(1_800_000_000, 0), Failovers: 1, Outcome: Success, Status: 200,
		Total: 1500 * time.Millisecond, Overhead: 1500 * time.Microsecond,
		Attempts: []Attempt{
			{Profile: "codex-1", Provider: "openai-codex", Model: "gpt-5.5", Outcome: "quota_exhausted", Reason: "code:usage_limit_reached", Status: 429, Duration: 100 * time.Millisecond},
			{
				Profile: "claude-2", Provider: "claude", Model: "claude-opus-4-5", Outcome: "ok", Status: 200, Duration: 1375 * time.Millisecond, FirstToken: 250 * time.Millisecond,
				Usage: Usage{Input: 1000, Output: 50, CacheRead: 800, Reasoning: 20, Known: true}, Cost: Cost{USD: 0.0125, Known: true},
			},
		},
	}
}

func TestLine(t *testing.T) {
	f := func(x *Exchange, format, want string) {
		t.Helper()
		var out bytes.Buffer
		x.Log(t.Context(), newTestLogger(t, &out, format))
		_, got, _ := strings.Cut(out.String(), map[string]string{"text": " level=", "json": `"level":`}[format])
		if got = strings.TrimSuffix(got, "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(failedOver(), "text", `INFO msg=request id=req_1 outcome=success status=200 endpoint=/v1/chat/completions role=coder role_source=explicit key=laptop requested_model=auto stream=true profile=claude-2 model=claude-opus-4-5 attempts=2 failovers=1 tried=codex-1:quota_exhausted,claude-2:ok total_ms=1500 overhead_ms=1.5 waited_ms=<nil> first_token_ms=250 input_tokens=1000 output_tokens=50 cost_usd=0.0125 err=<nil>`)
	// T05, T08: what is not known is null, and every field is there all the same.
	f(&Exchange{ID: "req_2", Outcome: InternalError, Status: 500, Err: "boom"}, "json",
		`"ERROR","msg":"request","id":"req_2","outcome":"internal_error","status":500,"endpoint":"","role":"","role_source":"","key":"","requested_model":"","stream":false,"profile":null,"model":null,"attempts":0,"failovers":0,"tried":"","total_ms":0,"overhead_ms":0,"waited_ms":null,"first_token_ms":null,"input_tokens":null,"output_tokens":null,"cost_usd":null,"err":"boom"}`)
	f(&Exchange{ID: "req_3", Outcome: Exhausted, Status: 429, Attempts: []Attempt{{Profile: "p", Outcome: "billing", Status: 402}}}, "json",
		`"WARN","msg":"request","id":"req_3","outcome":"exhausted","status":429,"endpoint":"","role":"","role_source":"","key":"","requested_model":"","stream":false,"profile":"p","model":"","attempts":1,"failovers":0,"tried":"p:billing","total_ms":0,"overhead_ms":0,"waited_ms":null,"first_token_ms":null,"input_tokens":null,"output_tokens":null,"cost_usd":null,"err":null}`)
}

// At the level info a success at the first try is silent, a failover is not.
func TestLineLevel(t *testing.T) {
	f := func(x Exchange, want string) {
		t.Helper()
		var out bytes.Buffer
		log, err := NewLogger(&out, "debug", "text")
		if err != nil {
			t.Fatal(err)
		}
		x.Log(t.Context(), log)
		if !strings.Contains(out.String(), " level="+want+" ") {
			t.Errorf("%s: want %s, got %s", x.Outcome, want, out.String())
		}
	}
	f(Exchange{Outcome: Success}, "DEBUG")
	f(Exchange{Outcome: Success, Failovers: 1}, "INFO")
	f(Exchange{Outcome: InvalidCall}, "INFO")
	f(Exchange{Outcome: Refused}, "INFO")
	f(Exchange{Outcome: ClientClosed}, "INFO")
	f(Exchange{Outcome: Exhausted}, "WARN")
	f(Exchange{Outcome: Interrupted}, "WARN")
	f(Exchange{Outcome: Unavailable}, "WARN")
	f(Exchange{Outcome: InternalError}, "ERROR")
}

// T07: in the Python hub a reported 0 became null.
func TestLineKeepsZeroTokens(t *testing.T) {
	x := Exchange{Attempts: []Attempt{{Profile: "p", Usage: Usage{Input: 10, Known: true}}}}
	var out bytes.Buffer
	x.Log(t.Context(), newTestLogger(t, &out, "json"))
	if !strings.Contains(out.String(), `"input_tokens":10,"output_tokens":0,"cost_usd":null`) {
		t.Errorf("want 0 output tokens in:\n%s", out.String())
	}
}

// A cost that leaves out an attempt would understate: it is unknown.
func TestLineCostIsWholeOrNull(t *testing.T) {
	x := failedOver()
	x.Attempts[0].Usage = Usage{Input: 5, Known: true}
	var out bytes.Buffer
	x.Log(t.Context(), newTestLogger(t, &out, "json"))
	if !strings.Contains(out.String(), `"input_tokens":1005,"output_tokens":50,"cost_usd":null`) {
		t.Errorf("want the sum of tokens and no cost in:\n%s", out.String())
	}
}

// A client's model name may be as long as its body; the line stays short and is cut between two characters.
func TestLineIsBounded(t *testing.T) {
	x := Exchange{Model: strings.Repeat("я", 1<<20), Err: strings.Repeat("e", 1<<20)}
	var out bytes.Buffer
	x.Log(t.Context(), newTestLogger(t, &out, "json"))
	if out.Len() > 2048 || !json.Valid(out.Bytes()) || strings.ContainsRune(out.String(), '�') {
		t.Errorf("want one short valid line, got %d bytes", out.Len())
	}
}
