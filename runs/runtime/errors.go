package runtime

import (
	"errors"
	"fmt"
	"time"
)

// Errors of runs and their controls. A route tells each by its own status and code.
var (
	ErrNotActive   = errors.New("that is not pending, or the run has ended")             // 409 not_active
	ErrUnsupported = errors.New("this run's runtime has no such control")                // 409 unsupported_control
	ErrKeyConflict = errors.New("the idempotency key was used for another request")      // 409 idempotency_key_conflict
	ErrNoRuntime   = errors.New("no runtime of that name is configured")                 // 400
	ErrElsewhere   = errors.New("the run is executed by another hub, which is not here") // 503
	ErrGone        = errors.New("nothing executes the run any more")
	ErrStopping    = errors.New("the hub is stopping") // 503 hub_unavailable; and the cause of Follow's context
)

// Refused is a runtime that would not take an order or a control.
type Refused struct {
	Status     int           // as an HTTP status for the client: 400, 409, 429, 502, 503
	Code       string        // short and stable
	Message    string        // safe to be shown
	RetryAfter time.Duration // 0 = not stated
}

func (r *Refused) Error() string {
	return fmt.Sprintf("the runtime refused: %d %s: %s", r.Status, r.Code, r.Message)
}
