package clients

import (
	"net/http"
	"slices"
	"testing"

	"hermes-hub/proxy/simulator"
)

// TestHermesRunsForgotten: the gateway is killed within a run and started again. It knows nothing of the run then, and
// nothing executes that any more: the hub says so, after it has given the gateway half a minute, and the next run goes well.
func TestHermesRunsForgotten(t *testing.T) {
	t.Parallel()
	w := newRunsWorld(t)
	h := w.hub(t)
	c := h.client(t)
	h.sim.Push("a", simulator.Stall)
	id := c.start("")
	o := c.observe(id, "")
	o.until(is("message.delta"))
	w.gateway.end()
	o.until(func(r row) bool { return r.Type == "progress" })
	w.gateway.start(t)
	o.end()
	if err := h.sim.WaitCancelled(c.ctx, "a", 1); err != nil {
		t.Error(err)
	}
	run := c.run(id)
	if run.Status != "failed" || run.TerminalState != "interrupted-by-crash" || run.code() != "runtime_forgot_run" || run.Output == "" {
		t.Errorf("the run is %+v", run)
	}
	sameRows(t, "replayed", c.observe(id, "").end().rows, o.rows)
	if e := c.call(http.StatusConflict, http.MethodPost, "/v1/runs/"+id+"/approval", `{"choice":"once","approval_id":"x"}`); e.code() != "not_active" {
		t.Errorf("an approval after the end: %s", e.Error)
	}
	next := c.start("read")
	if o := c.observe(next, "").end(); o.text() != foundByA || !slices.Contains(o.steps(), "run.completed") {
		t.Errorf("the next run tells %s", o)
	}
}
