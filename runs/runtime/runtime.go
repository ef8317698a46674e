// Package runtime executes runs: it is handed an order, and what comes of it goes into the journal.
//
//	Order ─ Executor.Start ─▶ journal: run.started ─▶ Runtime.Start ─▶ Execution.Follow ─▶ journal: rows, the end, the seal
//	                                          Executor.Control ─▶ Execution.Control ─┘
//
// A Runtime is one kind of program that runs things: completion (this hub's own routes) or hermes (a Hermes API server). The
// Executor owns the runs that are going on in this process: it begins them, follows each in a goroutine of its own, routes
// controls to them, ends what does not end by itself, and after a restart goes on with what is still running elsewhere and
// ends the rest. The journal is the truth: nobody observes a run but through it.
//
// The package knows no routes and no provider.
package runtime

import (
	"context"
	"encoding/json"
	"net/http"

	"hermes-hub/runs"
)

// Verb is what can be asked of a run that is going on, in the words of Run.ActiveControls.
type Verb string

// The verbs.
const (
	Cancel   Verb = "cancel"   // end it, keeping what there is
	Approval Verb = "approval" // answer a pending approval by its id
	Clarify  Verb = "clarify"  // answer a pending question by its id
	Continue Verb = "continue" // queue more input
	Steer    Verb = "steer"    // change what it is doing now
	Goal     Verb = "goal"     // set, ask for, pause, resume or clear the session's goal
)

// Control is one wish about a run.
type Control struct {
	Verb Verb
	ID   string          // Approval, Clarify: which; "" where the runtime may take the only one pending
	Text string          // Approval: the choice; Clarify: the response; Continue, Steer: the message; Goal: the text
	Mode string          // Continue: how it is taken ("queue", …); Goal: the action
	Body json.RawMessage // the request as it came, for what a runtime knows beyond this
}

// Order is what a client wants to have run.
type Order struct {
	RunID     string // "": the executor makes one
	SessionID string // "" = none
	Owner     string // name of the client key, "" when none is needed
	Runtime   string // its name, "" = the default one
	Role      string // of the route it came by, "" = as the request, the key and the model say
	Model     string
	Body      json.RawMessage // the request as it came, a JSON object: unknown members are the runtime's to understand
	Header    http.Header     // what goes to the runtime with it: X-Hermes-Session-Key
	Dialect   runs.Dialect    // the words that its observers will want
	Surface   Surface         // what the body is a request of
	Content   runs.Content    // how much of it is kept
	Key       string          // Idempotency-Key, "" = none

	// Started is what the run's first row tells beyond what the executor knows: workspace, toolsets, metadata, …
	Started runs.RunStarted
}

// Surface is what an order's body is a request of.
type Surface string

// The surfaces.
const (
	RunsAPI      Surface = "runs"      // POST /v1/runs, in either dialect
	ResponsesAPI Surface = "responses" // POST /v1/responses with background: true
)

// Runtime executes runs. Its methods may be called from many goroutines.
type Runtime interface {
	// Controls are what its runs can be asked for.
	Controls() []Verb

	// Start begins to execute an order. It returns once the runtime has taken it, or with a *Refused when it would not. It
	// must be safe to repeat with the same run id: after a crash the executor may not know whether it was taken.
	Start(ctx context.Context, runID string, o Order) (Execution, error)

	// Resume goes on with a run that another process had begun, from what its rows tell. ErrGone says that nothing executes
	// it any more. Any other error means that it could not be found out, and is tried again.
	Resume(ctx context.Context, r runs.Run) (Execution, error)
}

// Execution is one run that is going on. Follow is called once; Control from many goroutines meanwhile.
type Execution interface {
	// Follow appends what happens to w until the run has ended, its one terminal event included, and returns nil. It does
	// not seal the log. When ctx ends because the hub stops (ErrStopping is its cause), it returns that without a terminal
	// event, if the run goes on without the hub; after any other end of ctx, and after any other error, the executor ends
	// the run.
	Follow(ctx context.Context, w *runs.Writer) error

	// Control carries out one wish, whose verb is among Controls and whose id was pending a moment ago. It returns once the
	// runtime has taken it; what comes of it is told by Follow. *Refused and ErrNotActive say why not.
	Control(ctx context.Context, c Control) error
}
