package clients

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// killedAtTool: the hub is killed while a tool works. The next one finds the run at the gateway by its status and goes on
// with it: who had seen a part of it gets the rest, each row once, and in the end what an uninterrupted run says.
//
// That the tool has ended is not told: 0.19.0 has one queue of events for a run. It takes the first event that follows for
// the subscriber that is dead, throws the queue away when it cannot send that, and lets a subscriber that came meanwhile wait
// in vain. Then the status is all there is. What that holds of the answer is told as deltas, behind a row that says that some
// may be missing.
func (w *runsWorld) killedAtTool(t *testing.T) {
	h := w.hub(t)
	w.restartedAtTool(t, h, h.kill)
}

// stoppedAtTool: that a hub is stopped, as to be replaced by a newer one, ends no run either.
func (w *runsWorld) stoppedAtTool(t *testing.T) {
	h := w.hub(t)
	w.restartedAtTool(t, h, h.stop)
}

func (w *runsWorld) restartedAtTool(t *testing.T, h *runsHub, end func()) {
	t.Helper()
	whole, uncut := w.waited(t, h, nil)
	cut, run := w.waited(t, h, end)
	if whole.text() != cut.text() || uncut.Output != run.Output || uncut.Status != run.Status || uncut.TerminalState != run.TerminalState {
		t.Errorf("cut it says\n%s%+v\nand whole\n%s%+v", cut, run, whole, uncut)
	}
	if gaps := cut.count(isGap); gaps != 1 || whole.count(isGap) != 0 {
		t.Errorf("%d gaps are told in %s", gaps, cut)
	}
	if steps, want := cut.steps(), []string{"tool.started terminal", "run.completed"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
}

// waited makes a run with a tool call, within which the hub is ended, or not, and another one takes its place.
func (w *runsWorld) waited(t *testing.T, h *runsHub, end func()) (*observer, runObject) {
	t.Helper()
	c := h.client(t)
	wait := w.keep(t, "wait")
	id := c.start("wait")
	o := c.observe(id, "")
	o.until(is("tool.started"))
	if end != nil {
		c, o = h.restartWithin(t, o, end)
	}
	remove(t, wait)
	run := o.endAsStored(c)
	if run.Status != "completed" || run.Output != foundByA || o.text() != foundByA {
		t.Errorf("the run is %+v, its text %q", run, o.text())
	}
	return o, run
}

// restartWithin restarts the hub while an observer reads, who comes back with the id of the last row that it has.
func (h *runsHub) restartWithin(t *testing.T, o *observer, end func()) (*runsClient, *observer) {
	t.Helper()
	h.restart(t, end)
	c := h.client(t)
	again := c.observe(o.run, o.last())
	again.rows = slices.Clone(o.rows)
	return c, again
}

// endAsStored reads the rest of the rows, and returns the run. What was read, in however many pieces, must be what a later
// observer reads.
func (o *observer) endAsStored(c *runsClient) runObject {
	c.t.Helper()
	sameRows(c.t, "seen as it went", o.end().rows, c.observe(o.run, "").end().rows)
	run := c.run(o.run)
	if run.LastEventID != o.last() {
		c.t.Errorf("the run's last row is %s, and %s was seen", run.LastEventID, o.last())
	}
	return run
}

// killedAtModel: the hub is killed while one of Hermes' own calls goes through it, which has no answer yet. Hermes repeats the
// call, at the next hub.
func (w *runsWorld) killedAtModel(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	h.sim.Push("a", simulator.Hang)
	o := c.observe(c.start("read"), "")
	if err := h.sim.WaitCalls(c.ctx, "a", 1); err != nil {
		t.Fatal(err)
	}
	o.until(func(r row) bool { return r.Type == "status" })
	c, o = h.restartWithin(t, o, h.kill)
	if run := o.endAsStored(c); run.Status != "completed" || run.Output != foundByA || o.text() != foundByA {
		t.Errorf("the run is %+v, its text %q", run, o.text())
	}
}

// killedAtWord: the hub is killed while the model speaks. Hermes keeps the words that it has, without the blank at their end,
// asks for the rest, and puts both together; this model says everything once more. Where some of that is lost, nobody can know
// how the rest goes on, so that words may be told twice: the text ends with the whole answer all the same.
func (w *runsWorld) killedAtWord(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	h.sim.Push("a", simulator.Stall)
	o := c.observe(c.start(""), "")
	o.until(is("message.delta"))
	c, o = h.restartWithin(t, o, h.kill)
	run := o.endAsStored(c)
	if run.Status != "completed" || run.Output != "II have found , says a." || !strings.HasSuffix(o.text(), run.Output) || o.count(isGap) != 1 {
		t.Errorf("the run is %+v, its text %q, its rows %s", run, o.text(), o)
	}
}

// killedAtApproval: the hub is killed while a run waits for an approval. It is still open at the next hub, under its id.
func (w *runsWorld) killedAtApproval(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	w.keep(t, "rubbish/")
	o := c.observe(c.start("remove"), "")
	asked := o.until(is("approval.request"))
	c, o = h.restartWithin(t, o, h.kill)
	o.until(isResumed)
	if run := c.run(o.run); run.Status != "awaiting_approval" || run.PendingApprovalID != asked.ApprovalID {
		t.Errorf("the run is %+v", run)
	}
	c.answer(http.StatusOK, o.run, "once", asked.ApprovalID)
	if e := c.answer(http.StatusConflict, o.run, "once", asked.ApprovalID); e.code() != "not_active" {
		t.Errorf("answered twice: %s", e.Error)
	}
	run := o.endAsStored(c)
	if run.Status != "completed" || run.Output != foundByA || o.count(is("approval.request")) != 1 || o.count(is("approval.responded")) != 1 {
		t.Errorf("the run is %+v, its rows %s", run, o)
	}
}

// isResumed is a condition: the row says that a hub has taken the run over.
func isResumed(r row) bool { return r.Type == "status" && r.Payload.Reason == "resumed" }

// isGap is a condition: the row says that rows may be missing.
func isGap(r row) bool { return r.Type == "journal.gap" }
