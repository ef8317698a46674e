package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes-hub/proxy"
	"hermes-hub/runs"
	"hermes-hub/telemetry"
)

// runtimeCall is the runtime of runs that plain calls leave: nothing executes them but the call itself.
const runtimeCall = "call"

// callRecorder keeps what plain calls leave as runs of the journal. Of a call nothing but facts is kept unless the plane
// tells it words.
type callRecorder struct {
	journal *runs.Journal
	redact  func(string) string // takes secrets and people out of a text
	log     *slog.Logger

	mu   sync.Mutex
	open map[*runs.Writer]struct{} // of calls that have not ended
}

func newCallRecorder(j *runs.Journal, redact func(string) string, log *slog.Logger) *callRecorder {
	return &callRecorder{journal: j, redact: redact, log: log, open: map[*runs.Writer]struct{}{}}
}

// callMetadata is what a run's metadata tell of the call that left it. The members of Hermes' own are as it sent them.
type callMetadata struct {
	Endpoint     string          `json:"endpoint"`
	RequestID    string          `json:"request_id"`
	RoleSource   string          `json:"role_source,omitempty"`
	Stream       bool            `json:"stream"`
	TaskID       json.RawMessage `json:"task_id,omitempty"`
	TurnID       json.RawMessage `json:"turn_id,omitempty"`
	APIRequestID json.RawMessage `json:"api_request_id,omitempty"`
	SessionID    json.RawMessage `json:"session_id,omitempty"`
	Platform     json.RawMessage `json:"platform,omitempty"`
	Provider     json.RawMessage `json:"provider,omitempty"`
	BaseURL      json.RawMessage `json:"base_url,omitempty"`
	APIMode      json.RawMessage `json:"api_mode,omitempty"`
	APICallCount json.RawMessage `json:"api_call_count,omitempty"`
}

// Record begins the run of a call.
func (c *callRecorder) Record(r *proxy.Recorded) proxy.Recording {
	m := callMetadata{Endpoint: r.Endpoint, RequestID: r.RequestID, RoleSource: r.RoleSource, Stream: r.Stream}
	if r.Fields != nil {
		_ = json.Unmarshal(r.Fields, &m) // an object by the plane's word; what it cannot tell is not told
	}
	started := runs.RunStarted{
		Status: runs.Running, Controls: []string{}, Runtime: runtimeCall, Model: r.Model, Role: r.Role,
		Metadata: encoded(m),
	}
	if r.Input != "" {
		started.Input = encoded(r.Input)
	}
	w, err := c.journal.Begin(r.RunID, runs.Origin{SessionID: c.session(r.Session), Owner: r.Key}, runs.Redacted, started)
	if err != nil {
		c.log.Error("a call leaves no run", "run", r.RunID, "error", err)
		return nil
	}
	c.mu.Lock()
	c.open[w] = struct{}{}
	c.mu.Unlock()
	return &callRecording{c, w}
}

func (c *callRecorder) close(w *runs.Writer) {
	c.mu.Lock()
	delete(c.open, w)
	c.mu.Unlock()
}

// hold shows until ctx ends that the calls go on, so that no other hub takes their runs for dead.
func (c *callRecorder) hold(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		open := make([]*runs.Writer, 0, len(c.open))
		for w := range c.open {
			open = append(open, w)
		}
		c.mu.Unlock()
		if err := c.journal.Hold(ctx, open...); err != nil && ctx.Err() == nil {
			c.log.Debug("could not show that calls go on", "error", err)
		}
	}
}

// longestSession is how long a session's name may be to be kept as it is.
const longestSession = 256

// session is the name that a session's runs are kept under: its own, unless that names a person, holds a secret or is no
// name. Clients put all of this there.
func (c *callRecorder) session(name string) string {
	plain := func(r rune) bool { return r < ' ' || r == 0x7f }
	if len(name) <= longestSession && !strings.ContainsFunc(name, plain) && c.redact(name) == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "session_" + hex.EncodeToString(sum[:16])
}

func encoded(v any) json.RawMessage {
	b, _ := json.Marshal(v) // strings, numbers, and what was JSON before
	return b
}

// callRecording writes the run of one call. That a run is not the journal's any more is nothing to the call.
type callRecording struct {
	c *callRecorder
	w *runs.Writer
}

func (r *callRecording) append(p runs.Payload) { _ = r.w.Append(p) } // the journal tells of its losses itself

// Text adds to the answer.
func (r *callRecording) Text(delta string) { r.append(runs.TokenDelta{Delta: delta}) }

// Reasoning adds to the thoughts.
func (r *callRecording) Reasoning(delta string) { r.append(runs.ReasoningDelta{Delta: delta}) }

// Tool adds a call of a tool. What comes of it is in the client's next request.
func (r *callRecording) Tool(c proxy.ToolCall) {
	args := json.RawMessage(c.Arguments)
	if !json.Valid(args) {
		args = encoded(c.Arguments)
	}
	r.append(runs.ToolStarted{ToolCallID: c.ID, Name: c.Name, Args: args})
}

// Left says that pieces are missing.
func (r *callRecording) Left(pieces int) {
	r.append(runs.GapMarked{Reason: "overload", Dropped: int64(pieces)})
}

// End writes what the call came to, and seals the run.
func (r *callRecording) End(x *telemetry.Exchange) {
	defer r.c.close(r.w)
	for _, a := range x.Attempts {
		if a.Outcome != "ok" && x.Outcome != telemetry.ClientClosed {
			r.append(runs.Progress{Phase: "attempt_failed", Text: a.Profile + ": " + a.Outcome})
		}
	}
	used := usageOf(x)
	if used != nil && x.Outcome != telemetry.Success {
		r.append(runs.UsageFinal{Usage: *used})
	}
	switch x.Outcome {
	case telemetry.Success: // tells the usage itself: a row is a tenth of what a run costs
		r.append(runs.RunDone{Usage: used})
	case telemetry.ClientClosed:
		r.append(runs.RunCancelled{Message: "The client went away."})
	default:
		r.append(failureOf(x))
	}
	r.append(runs.RunClosed{})
}

// longestMessage is how many bytes of what a client was told of its failure are kept.
const longestMessage = 500

// failureOf is how a call that failed is told. Only what its client was told too is repeated: other causes name hosts.
func failureOf(x *telemetry.Exchange) runs.ErrorRaised {
	e := runs.ErrorRaised{Reason: string(x.Outcome), Ends: true}
	if n := len(x.Attempts); n > 0 && x.Attempts[n-1].Outcome != "ok" {
		e.Code = x.Attempts[n-1].Outcome
	}
	switch x.Outcome {
	case telemetry.Interrupted:
		e.Reason = "upstream_interrupted" // "interrupted" is a run whose executor has died
		e.Message = "The upstream broke off in the middle of its answer."
	case telemetry.InternalError:
		e.Message = "Internal error of the hub; its log has the details."
	default:
		e.Message = cmp.Or(x.Err[:min(len(x.Err), longestMessage)], "The call failed.")
	}
	return e
}

// usageOf is what all attempts of a call have used, as far as providers told; nil when none did.
func usageOf(x *telemetry.Exchange) *runs.Usage {
	told := slices.DeleteFunc(slices.Clone(x.Attempts), func(a telemetry.Attempt) bool { return !a.Usage.Known })
	if len(told) == 0 {
		return nil
	}
	last := told[len(told)-1]
	u := &runs.Usage{Model: last.Model, Provider: last.Provider, Duration: x.Total.Seconds()}
	cost, priced := 0.0, true
	for _, a := range told {
		u.InputTokens += a.Usage.Input
		u.OutputTokens += a.Usage.Output
		u.CacheReadTokens += a.Usage.CacheRead
		cost, priced = cost+a.Cost.USD, priced && a.Cost.Known
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	if priced {
		u.Cost = &cost
	}
	return u
}
