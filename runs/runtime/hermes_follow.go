package runtime

import (
	"context"
	"errors"
	"time"

	"hermes-hub/runs"
)

// How a run is looked after.
const (
	hermesReattach   = 2                // times that a lost event stream is opened again before only the status is asked
	hermesCheckEvery = 15 * time.Second // that the status is asked while the first event stream is attached
	hermesDoubtEvery = 2 * time.Second  // the same with a later stream: it may hear nothing, if the server took it for a second one
)

// hermesFollow follows one run. It has an event stream as long as there is one, asks for the status ever and again all the
// same, since a stream may miss the end, and goes by the status alone when there is no stream.
type hermesFollow struct {
	x    *hermesRun
	w    *runs.Writer
	tale hermesTale

	stream   *hermesStream // nil: none
	attaches int           // times that it may be opened yet
	gap      bool          // rows may be missing, which the next row has to say
	later    bool          // the stream is not the first one any more

	timer   *time.Timer // until the status is asked for
	pace    hermesPace
	unknown time.Time // since when the server says that it does not know the run
	away    bool      // the server cannot be reached, and that was told
	ended   bool      // the status said so already; the stream was given time to say it better
	said    string    // what the status said last
}

func newHermesFollow(x *hermesRun, w *runs.Writer) *hermesFollow {
	f := &hermesFollow{x: x, w: w, attaches: 1 + hermesReattach, later: x.resumed, gap: x.resumed, timer: time.NewTimer(0)}
	f.tale = hermesTale{approvals: x.approvals, clarifies: x.clarifies, stopped: x.stopped.Load, missed: x.resumed}
	f.tale.text = hermesText{all: true}
	f.tale.text.add(x.text)
	return f
}

// errHermesOver ends the loop: the terminal row is appended, here or by somebody else.
var errHermesOver = errors.New("the run has ended")

func (f *hermesFollow) run(ctx context.Context) error {
	defer f.timer.Stop()
	defer f.detach()
	if !f.x.resumed { // a former process's run may have ended: its status is asked first
		f.attach(ctx)
	}
	for ctx.Err() == nil {
		if err := f.step(ctx); errors.Is(err, errHermesOver) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// step takes what comes next: an event, the stream's end, or a look at the status.
func (f *hermesFollow) step(ctx context.Context) error {
	var frames <-chan sseFrame
	if f.stream != nil {
		frames = f.stream.frames
	}
	select {
	case frame, ok := <-frames:
		if !ok {
			f.lose(f.stream.why)
			f.timer.Reset(0)
			return nil
		}
		rows, ended := f.tale.read(frame, f.x.h.now())
		return f.append(rows, ended)
	case <-f.x.look:
		f.pace = hermesPace{}
		return f.check(ctx)
	case <-f.timer.C:
		return f.check(ctx)
	case <-ctx.Done():
		return nil
	}
}

// append appends rows; what may be missing before them is told first.
func (f *hermesFollow) append(rows []runs.Payload, ended bool) error {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	if ended {
		rows = append(f.tale.answersSent(), rows...)
	}
	if f.gap && len(rows) > 0 {
		f.gap = false
		rows = append([]runs.Payload{runs.GapMarked{Reason: "stream_lost"}}, rows...)
	}
	for _, row := range rows {
		if err := f.w.Append(row); errors.Is(err, runs.ErrEnded) || errors.Is(err, runs.ErrSealed) {
			return errHermesOver
		} else if err != nil {
			return err
		}
	}
	if ended {
		return errHermesOver
	}
	return nil
}

// attach opens the event stream and sets the timer.
func (f *hermesFollow) attach(ctx context.Context) {
	f.attaches--
	stream, err := f.x.h.attach(ctx, f.x.id)
	switch {
	case err == nil:
		f.stream = stream
		f.timer.Reset(f.every())
	case errors.Is(err, errHermesNoQueue):
		f.attaches = 0
		f.lose(err)
	case ctx.Err() == nil: // the queue is kept for a while, so nothing is lost yet
		f.x.h.o.Logger.Warn("a run's event stream could not be opened", "runtime", f.x.h.o.Name, "upstream_run", f.x.id, "error", err)
	}
}

// lose notes that the stream is gone and events with it.
func (f *hermesFollow) lose(why error) {
	f.x.h.o.Logger.Info("a run's event stream is gone, its status is asked for", "runtime", f.x.h.o.Name, "upstream_run", f.x.id, "why", why)
	f.gap = f.gap || f.stream != nil || !f.later // once for each stream
	f.later, f.tale.missed = true, true
	f.detach()
	f.x.approvals.miss()
	f.x.clarifies.miss()
}

func (f *hermesFollow) detach() {
	if f.stream != nil {
		f.stream.Close()
		f.stream = nil
	}
}

// every is how long until the status is asked for again.
func (f *hermesFollow) every() time.Duration {
	switch {
	case f.stream == nil:
		return f.pace.next()
	case f.later:
		return hermesDoubtEvery
	default:
		return hermesCheckEvery
	}
}
