package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

const (
	mostErrorBytes = 64 << 10
	mostWholeBytes = 32 << 20
)

// errAsked is the cause of a call's end when its run was cancelled.
var errAsked = errors.New("the run was cancelled")

// failure is a call that did not end well.
type failure struct{ runs.ErrorRaised }

func (f *failure) Error() string { return f.Code + ": " + f.Message }

func fails(code, message string) *failure {
	return &failure{runs.ErrorRaised{Reason: "error", Code: code, Message: message, Ends: true}}
}

// Follow is Execution's.
func (x *completionRun) Follow(ctx context.Context, w *runs.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-x.asked:
			stop(errAsked)
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer stop(errOver)

	began := x.now()
	for _, note := range x.notes {
		_ = w.Append(note) // what is refused here is refused at the end, too
	}
	res, err := x.caller.Call(ctx, x.call)
	if err == nil {
		err = x.read(w, res)
	} else {
		err = errors.Join(fails("call_failed", "The hub could not make the call."), err)
	}
	x.answer.settle(w, x.now().Sub(began))
	if err == nil {
		err = x.answer.end(w)
	}
	return x.conclude(ctx, w, err)
}

// conclude tells the run's end, if that is not for the executor to tell.
func (x *completionRun) conclude(ctx context.Context, w *runs.Writer, err error) error {
	switch cause := context.Cause(ctx); {
	case w.Ended():
		return nil
	case errors.Is(cause, errAsked): // whatever the call's end looked like from here
		_ = w.Append(runs.RunCancelled{}) // refused when the run has ended
		return nil
	case errors.Is(cause, ErrStopping):
		return ErrGone
	case cause != nil:
		return cause
	}
	if f, ok := errors.AsType[*failure](err); ok {
		_ = w.Append(f.ErrorRaised) // refused when the run has ended
		return nil
	}
	return err
}

// read makes events of the answer.
func (x *completionRun) read(w *runs.Writer, res *http.Response) error {
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, mostErrorBytes)) // what of it there is
		return refusedBy(res.StatusCode, res.Header, body)
	}
	x.announce(w, res.Header)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		body, err := io.ReadAll(io.LimitReader(res.Body, mostWholeBytes))
		if err != nil || !gjson.ValidBytes(body) {
			return interrupted()
		}
		return x.answer.whole(w, body)
	}
	frames := newSSEFrames(res.Body)
	for {
		frame, err := frames.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return interrupted()
		case frame.tooLong:
			return fails("event_too_large", "An event of the answer was larger than can be read.")
		}
		if last, err := x.answer.event(w, frame.data); last || err != nil {
			return err
		}
	}
}

// interrupted is an answer that broke off.
func interrupted() *failure {
	return fails("upstream_interrupted", "The answer broke off before its end.")
}

// route is who answers a call.
type route struct {
	profile, model, role string
}

// announce tells who answers, and what came before that.
func (x *completionRun) announce(w *runs.Writer, h http.Header) {
	r := route{h.Get("X-Hub-Profile"), h.Get("X-Hub-Model"), h.Get("X-Hub-Role")}
	x.answer.routed(r)
	tell := func(phase, format string, args ...any) {
		_ = w.Append(runs.Progress{Phase: phase, Text: fmt.Sprintf(format, args...)}) // as above
	}
	if reasons := h.Get("X-Hub-Failover-Reason"); reasons != "" {
		tell("failover", "Accounts before this one failed: %s.", strings.ReplaceAll(reasons, ",", ", "))
	}
	if r.profile != "" {
		_ = w.Append(runs.Progress{
			Phase: runs.PhaseRoute, Text: fmt.Sprintf("Account %s answers with %s.", r.profile, cmp.Or(r.model, "its model")),
			Model: r.model, Role: r.role, Profile: r.profile,
		})
	}
	if dropped := h.Get("X-Hub-Dropped-Params"); dropped != "" {
		tell("dropped_params", "The account does not know these parameters: %s.", dropped)
	}
}

// refusedBy is an answer that is none.
func refusedBy(status int, h http.Header, body []byte) *failure {
	code, message := errorSaid(body)
	e := gjson.GetBytes(body, "error")
	code = cmp.Or(code, "http_"+strconv.Itoa(status))
	details := map[string]any{"status": status}
	for _, name := range []string{"resets_at", "resets_in_seconds", "param", "type"} {
		if v := e.Get(name); v.Exists() && v.Type != gjson.Null && len(v.Raw) <= 256 {
			details[name] = v.Value()
		}
	}
	if after := h.Get("Retry-After"); after != "" {
		details["retry_after"] = after
	}
	body, _ = json.Marshal(details) // decoded JSON and short texts cannot fail
	return &failure{runs.ErrorRaised{
		Reason: reason(status, code), Code: code, Message: cmp.Or(message, "The hub refused the call."), Details: body, Ends: true,
	}}
}
