package runtime

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hermes-hub/runs"
)

// Started is a run that was begun, or that had been.
type Started struct {
	RunID     string
	SessionID string
	Status    runs.Status
	Replayed  bool // it had been begun by an earlier order with the same key
	Runtime   string
}

// createIn is how long the journal may take to store a run's first row, whether the client waits or not.
const createIn = 10 * time.Second

// Start begins a run: its first row is stored, then the runtime is asked to take it. It goes on when ctx ends, which only
// ends the waiting for the runtime. A run that the runtime would not take has ended when its *Refused is returned.
//
// An order with a key begins a run once: the same key with the same body finds that run, and with another body is an
// ErrKeyConflict. A run of that key that has expired is found as expired: it is not run a second time. An order for a
// session whose newest run is being cancelled waits for that run's end, for CancelGrace at most: then it is Refused.
func (e *Executor) Start(ctx context.Context, o Order) (Started, error) {
	o.Runtime = cmp.Or(o.Runtime, e.menu.Load().fallback)
	rt, err := e.runtime(o.Runtime)
	if err != nil {
		return Started{}, err
	}
	first := o.Started
	first.Status, first.Controls = runs.Queued, words(rt.Controls())
	w, s, err := e.create(ctx, o, first)
	if err != nil || s.Replayed {
		return s, err
	}
	l := e.enter(s.RunID, rt, w, false)
	taken := make(chan error, 1)
	err = e.spawn(context.WithoutCancel(ctx), func(base context.Context) { e.execute(base, l, o, taken) })
	if err != nil { // the hub is stopping, and the client is told so: nothing was begun
		e.finish(ctx, l, err)
		return Started{}, err
	}
	select {
	case err := <-taken:
		s.Status = runs.Running
		return s, err
	case <-ctx.Done():
		return s, context.Cause(ctx)
	}
}

// create stores an order's first row, unless its key has begun a run already.
func (e *Executor) create(ctx context.Context, o Order, first runs.RunStarted) (*runs.Writer, Started, error) {
	if over(e.stopped) {
		return nil, Started{}, ErrStopping
	}
	first.Runtime, first.Model, first.Role = o.Runtime, cmp.Or(o.Model, first.Model), cmp.Or(o.Role, first.Role)
	first.RequestHash, first.Content = requestHash(o), cmp.Or(o.Content, runs.Redacted)
	if o.Dialect == runs.WebUI {
		first.Words = runs.WordsWebUI
	}
	s := Started{RunID: cmp.Or(o.RunID, runs.NewID()), SessionID: o.SessionID, Status: first.Status, Runtime: o.Runtime}
	if o.Key != "" { // a replay waits for nothing
		id, was, err := e.byKey(ctx, o, first.RequestHash)
		if err != nil || was.Replayed {
			return nil, was, err
		}
		s.RunID = id
	}
	if err := e.awaitCancelled(ctx, o); err != nil {
		return nil, Started{}, err
	}
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), createIn)
	defer cancel()
	origin := runs.Origin{SessionID: o.SessionID, Owner: o.Owner}
	w, created, err := e.o.Journal.Create(storing, s.RunID, origin, first.Content, first)
	switch {
	case errors.Is(err, runs.ErrNothingKept):
		return nil, Started{}, &Refused{Status: http.StatusBadRequest, Code: "content_off", Message: err.Error()}
	case err != nil:
		return nil, Started{}, err
	case created:
		return w, s, nil
	}
	run, err := e.o.Journal.Look(ctx, s.RunID) // another was first
	if err != nil {
		return nil, Started{}, err
	}
	s, err = replay(run, first.RequestHash)
	return nil, s, err
}

// byKey is the run that stands for an order's key, if it was begun already, else the id that it is to have. A run that its
// runtime would not take does not count: the client may try again.
func (e *Executor) byKey(ctx context.Context, o Order, hash string) (id string, was Started, err error) {
	for try := range mostTries {
		id = o.keyed(try)
		run, err := e.o.Journal.Look(ctx, id)
		switch {
		case errors.Is(err, runs.ErrUnknownRun):
			return id, Started{}, nil
		case err != nil:
			return "", Started{}, err
		case !wasRefused(run) || try == mostTries-1:
			was, err = replay(run, hash)
			return id, was, err
		}
	}
	return id, was, nil
}

// mostTries is how often a key may be tried while the runtime would not take its order.
const mostTries = 64

// keyed is the id of the run that an order's key stands for: its owner's, on that surface, whichever hub it comes to.
func (o Order) keyed(try int) string {
	sum := sha256.New()
	for _, part := range []string{string(o.Surface), o.Owner, o.Key} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	fmt.Fprint(sum, try)
	return "run_" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// requestHash is that of an order's body, whatever blanks it has between its members.
func requestHash(o Order) string {
	var compact bytes.Buffer
	body := []byte(o.Body)
	if json.Compact(&compact, body) == nil {
		body = compact.Bytes()
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// replay is a run that an earlier order began, if it was the same order.
func replay(run runs.Run, hash string) (Started, error) {
	if run.Status != runs.Expired && run.RequestHash != hash {
		return Started{}, ErrKeyConflict
	}
	return Started{RunID: run.RunID, SessionID: run.SessionID, Status: run.Status, Replayed: true, Runtime: run.Runtime}, nil
}

// awaitCancelled waits until the session's newest run has ended, if it is being cancelled.
func (e *Executor) awaitCancelled(ctx context.Context, o Order) error {
	if o.SessionID == "" {
		return nil
	}
	heads, err := e.o.Journal.List(ctx, runs.Filter{Owner: o.Owner, SessionID: o.SessionID, Active: true, Limit: 1})
	if err != nil || len(heads) == 0 {
		return err
	}
	if run, err := e.o.Journal.Look(ctx, heads[0].RunID); err != nil || run.Status != runs.Cancelling {
		return ignoreUnknown(err)
	}
	waiting, cancel := context.WithTimeout(ctx, e.o.CancelGrace)
	defer cancel()
	if e.awaitEnd(waiting, heads[0].RunID) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &Refused{
		Status: http.StatusConflict, Code: "run_cancelling", RetryAfter: time.Second,
		Message: "the session's run is being cancelled and has not ended yet",
	}
}

// awaitEnd reports whether the run has ended, or is gone, before ctx has.
func (e *Executor) awaitEnd(ctx context.Context, runID string) bool {
	sub, head, err := e.o.Journal.Subscribe(ctx, runID, "")
	if err != nil || head.Expired {
		return errors.Is(err, runs.ErrUnknownRun) || head.Expired
	}
	defer sub.Close()
	for head.Active() {
		d, err := sub.Next(ctx)
		if err != nil {
			return errors.Is(err, runs.ErrUnknownRun)
		}
		head = d.Head
	}
	return true
}

func ignoreUnknown(err error) error {
	if errors.Is(err, runs.ErrUnknownRun) { // deleted meanwhile
		return nil
	}
	return err
}

// words are verbs as a run's active controls.
func words(verbs []Verb) []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = string(v)
	}
	return names
}
