package fakehermes

import (
	"encoding/json"
	"fmt"
)

// Agent is what a run does. It returns the run's final output, or the error that it fails with. When the run is stopped,
// the method of Turn that is called next, or is waiting, does not return.
type Agent func(t *Turn) (output string, err error)

// Turn is the run that an Agent executes.
type Turn struct {
	// Body is the order.
	Body json.RawMessage
	// Usage is what the run's end tells: tokens in and out; nil: nothing.
	Usage []int
	// StopFails has a stop end the run as failed, as it does in some builds.
	StopFails bool

	r *run
}

// gone is the panic that ends an agent: true when its process was killed.
type gone bool

// start runs the agent in a goroutine of its own. With Server.mu held.
func (s *Server) start(r *run) {
	s.work.Go(func() {
		t := &Turn{Body: r.body, r: r}
		output, err := "", error(nil)
		defer func() {
			switch why := recover().(type) {
			case nil:
				t.end(output, err)
			case gone:
				if !why {
					t.cancelled()
				}
			default:
				panic(why)
			}
		}()
		t.do(func() { r.set("running", "", nil) })
		output, err = s.agent(t)
	})
}

// do does something to the run, unless it was stopped or its process killed.
func (t *Turn) do(f func()) {
	t.r.s.mu.Lock()
	defer t.r.s.mu.Unlock()
	t.alive()
	f()
}

func (t *Turn) alive() {
	select {
	case <-t.r.killed:
		panic(gone(true))
	default:
	}
	select {
	case <-t.r.stop:
		panic(gone(false))
	default:
	}
}

// Wait waits until ch is closed, as a tool does that takes its time. nil is never closed.
func (t *Turn) Wait(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-t.r.killed:
	case <-t.r.stop:
	}
	t.do(func() {})
}

// Say tells more of the answer. As in Hermes, that does not touch the record.
func (t *Turn) Say(delta string) {
	t.do(func() { t.r.emit("message.delta", map[string]any{"delta": delta}) })
}

// Think tells more of the thoughts.
func (t *Turn) Think(delta string) {
	t.do(func() { t.r.emit("reasoning.delta", map[string]any{"delta": delta}) })
}

// Emit tells an event with these members.
func (t *Turn) Emit(event string, members map[string]any) {
	t.do(func() {
		t.r.set(t.r.status, event, nil)
		t.r.emit(event, members)
	})
}

// Thought tells a block of thoughts, whole.
func (t *Turn) Thought(text string) { t.Emit("reasoning.available", map[string]any{"text": text}) }

// Tool begins a tool.
func (t *Turn) Tool(name, preview string) {
	t.Emit("tool.started", map[string]any{"tool": name, "preview": preview})
}

// ToolDone ends it.
func (t *Turn) ToolDone(name string, failed bool) {
	t.Emit("tool.completed", map[string]any{"tool": name, "duration": 0.25, "error": failed})
}

// Raw writes to the event stream as it is.
func (t *Turn) Raw(text string) { t.do(func() { t.r.push(text) }) }

// Cut cuts the event stream: what is told from now on is lost.
func (t *Turn) Cut() {
	t.do(func() {
		if t.r.queue != nil {
			t.r.queue.end()
			t.r.queue = nil
		}
	})
}

// Steered are the instructions that came in since the last call.
func (t *Turn) Steered() (texts []string) {
	t.do(func() { texts, t.r.steered = t.r.steered, nil })
	return texts
}

// Taken are the messages and goals that came in.
func (t *Turn) Taken() (bodies []json.RawMessage) {
	t.do(func() { bodies = t.r.taken })
	return bodies
}

// Approve asks whether the command may run, and waits for the choice.
func (t *Turn) Approve(command string) string {
	return t.ask(&t.r.approvals, "waiting_for_approval", "approval.request", map[string]any{
		"command": command, "description": "needs care", "pattern_key": "care", "pattern_keys": []string{"care"},
		"allow_session": true, "allow_permanent": true, "choices": []string{"once", "session", "always", "deny"},
	}, "request_id")
}

// Ask asks the user, and waits for the answer.
func (t *Turn) Ask(question string, choices ...string) string {
	return t.ask(&t.r.clarifies, "waiting_for_clarify", "clarify.request", map[string]any{
		"question": question, "choices": choices, "multi_select": false,
	}, "clarify_id")
}

func (t *Turn) ask(line *[]*ask, status, event string, object map[string]any, idMember string) string {
	a := &ask{object: object, answer: make(chan string, 1)}
	t.do(func() {
		t.r.asks++
		a.id = fmt.Sprintf("%s_%d", idMember[:3], t.r.asks)
		if idMember != "request_id" || !t.r.s.o.Old {
			object[idMember] = a.id
		}
		*line = append(*line, a)
		t.r.set(status, event, nil)
		t.r.emit(event, object)
	})
	select {
	case answer := <-a.answer:
		t.do(func() {})
		return answer
	case <-t.r.killed:
	case <-t.r.stop:
	}
	t.do(func() {})
	return ""
}

// Expire has the run's oldest approval run out, as one does that nobody answers: no event tells of it.
func (t *Turn) Expire() {
	t.do(func() {
		if len(t.r.approvals) > 0 {
			t.r.approvals[0].answer <- "timeout"
			t.r.approvals = t.r.approvals[1:]
		}
	})
}

// Aside runs f beside the agent, as tools do that run side by side. The returned func waits for it.
func (t *Turn) Aside(f func()) (wait func()) {
	done := make(chan struct{})
	var why any
	t.r.s.work.Go(func() {
		defer close(done)
		defer func() { why = recover() }()
		f()
	})
	return func() {
		<-done
		if why != nil {
			panic(why)
		}
	}
}

// end ends the run as the agent did.
func (t *Turn) end(output string, err error) {
	t.r.s.mu.Lock()
	defer t.r.s.mu.Unlock()
	select {
	case <-t.r.killed:
		return
	default:
	}
	switch {
	case t.r.stopping:
		t.stopped()
	case err != nil:
		failure := map[string]any{"error": err.Error()}
		t.r.end("failed", "run.failed", failure, failure)
	default:
		done := map[string]any{"output": output}
		if len(t.Usage) == 2 {
			done["usage"] = map[string]any{"input_tokens": t.Usage[0], "output_tokens": t.Usage[1], "total_tokens": t.Usage[0] + t.Usage[1]}
		}
		if len(t.r.steered) > 0 {
			done["pending_steer"] = t.r.steered
		}
		t.r.end("completed", "run.completed", done, done)
	}
}

func (t *Turn) cancelled() {
	t.r.s.mu.Lock()
	defer t.r.s.mu.Unlock()
	t.stopped()
}

// stopped ends a run that was stopped.
func (t *Turn) stopped() {
	if t.StopFails {
		failure := map[string]any{"error": "interrupted"}
		t.r.end("failed", "run.failed", failure, failure)
		return
	}
	t.r.end("cancelled", "run.cancelled", nil, nil)
}
