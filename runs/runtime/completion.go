package runtime

import (
	"context"
	"net/http"
	"sync"
	"time"

	"hermes-hub/runs"
)

// Caller makes calls of this hub's own routes.
type Caller interface {
	// Call serves the call and returns once the answer has a head: whatever a client would be answered, refusals too. The
	// body streams, and ends with an error when the answer is not whole. The end of ctx ends the call and what it holds.
	Call(ctx context.Context, c Call) (*http.Response, error)
}

// Call is one call of a run.
type Call struct {
	Owner     string // name of the client key that the run belongs to
	Role      string // "" = as the key and the model say
	SessionID string
	RunID     string
	Path      string // /v1/chat/completions or /v1/responses
	Header    http.Header
	Body      []byte
}

// Completion is the runtime that executes a run as one streamed call of the hub's own: role, failover and leases are those
// of any call. It runs no tools, and knows of a conversation what the order tells, or what the journal has of the session.
type Completion struct {
	caller  Caller
	journal *runs.Journal
	now     func() time.Time
}

// NewCompletion returns the runtime. From the journal it reads what was said before in an order's session.
func NewCompletion(c Caller, j *runs.Journal) *Completion {
	return &Completion{caller: c, journal: j, now: time.Now}
}

// Controls are Runtime's: what is said to a model cannot be changed while it answers.
func (c *Completion) Controls() []Verb { return []Verb{Cancel} }

// Start is Runtime's. It refuses what no model could be asked; the call itself is made by Follow, and how that fails is an
// event of the run.
func (c *Completion) Start(ctx context.Context, runID string, o Order) (Execution, error) {
	call := Call{Owner: o.Owner, Role: o.Role, SessionID: o.SessionID, RunID: runID, Header: o.Header}
	x := &completionRun{caller: c.caller, now: c.now, asked: make(chan struct{})}
	var err error
	if o.Surface == ResponsesAPI {
		call.Path = "/v1/responses"
		call.Body, err = responsesBody(o)
		x.answer = &responsesAnswer{id: ResponseID(runID)}
	} else {
		call.Path = "/v1/chat/completions"
		call.Body, x.notes, err = c.chatBody(ctx, runID, o)
		x.answer = &chatAnswer{message: "msg_" + runID}
	}
	if err != nil {
		return nil, err
	}
	x.call = call
	return x, nil
}

// Resume is Runtime's: a call ends with the process that made it.
func (c *Completion) Resume(context.Context, runs.Run) (Execution, error) { return nil, ErrGone }

// completionRun is one call that a run consists of.
type completionRun struct {
	caller Caller
	call   Call
	notes  []runs.Progress // on what of the order has no effect
	answer answer
	now    func() time.Time

	asked chan struct{} // closed when it is to be cancelled
	once  sync.Once
}

// answer makes events of what comes back from a call.
type answer interface {
	// routed tells who answers.
	routed(r route)
	// event takes one event of the stream, and reports whether it was the last one.
	event(w *runs.Writer, data []byte) (last bool, err error)
	// whole takes an answer that is not a stream.
	whole(w *runs.Writer, body []byte) error
	// settle tells what is left to be told before the run ends, in whatever way.
	settle(w *runs.Writer, took time.Duration)
	// end tells the end of a stream that was not cut. A failure says why it is no good end.
	end(w *runs.Writer) error
}

// Control is Execution's.
func (x *completionRun) Control(_ context.Context, c Control) error {
	if c.Verb != Cancel {
		return ErrUnsupported
	}
	x.once.Do(func() { close(x.asked) })
	return nil
}
