package runtime

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime/fakehermes"
)

// careful asks for one approval, and says what was chosen.
func careful(t *fakehermes.Turn) (string, error) {
	t.Say("May I? ")
	return t.Approve("rm -rf build"), nil
}

// C07, C08: an approval is answered by its id, once, and its answer is told once, whether the runtime has an event for it or
// not, and whether it knows approvals by ids or not.
func TestHermesApproval(t *testing.T) {
	f := func(o fakehermes.Options, choice, want string) {
		t.Helper()
		bubble(t, o, careful, func(t *testing.T, rig *hermesRig) {
			p := rig.starts(hello)
			id := p.look().PendingApprovalID
			if id == "" || strings.HasPrefix(id, madeID) != o.Old {
				t.Fatalf("the pending approval is %q", id)
			}
			if err := p.control(Approval, "req_7", choice); !errors.Is(err, ErrNotActive) {
				t.Errorf("an unknown id: %v", err)
			}
			wantRefused(t, p.control(Approval, id, "perhaps"), 400, "invalid_approval_choice")
			if err := p.control(Approval, id, choice); err != nil {
				t.Error(err)
			}
			if err := p.control(Approval, id, choice); !errors.Is(err, ErrNotActive) {
				t.Errorf("a second answer: %v", err)
			}
			rows := p.end()
			if count(rows, runs.TypeApprovalRequested) != 1 || count(rows, runs.TypeApprovalResolved) != 1 || folded(rows).Output != want {
				t.Errorf("rows are\n%s", told(rows))
			}
			for _, e := range rows {
				if e.Type == runs.TypeApprovalResolved && (gjson.GetBytes(e.Payload, "approval_id").Str != id || gjson.GetBytes(e.Payload, "choice").Str != want) {
					t.Errorf("the answer's row is %s", e.Payload)
				}
			}
			calls := rig.fake.Calls("POST", "/v1/runs/"+p.x.id+"/approval")
			if sent := gjson.GetBytes(calls[0].Body, "request_id").Str; len(calls) != 1 || sent != map[bool]string{false: id}[o.Old] {
				t.Errorf("%d answers were sent, the first %s", len(calls), calls[0].Body)
			}
		})
	}
	for _, o := range []fakehermes.Options{{}, {Mute: true}, {Old: true}, {Old: true, Mute: true}} {
		f(o, "once", "once")
		f(o, "Approve", "once")
		f(o, "session", "session")
		f(o, "deny", "deny")
	}
}

// The answer gets there once, however many send it at once, and another may try when it did not get there.
func TestHermesApprovalRaces(t *testing.T) {
	bubble(t, fakehermes.Options{}, careful, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		id := p.look().PendingApprovalID
		rig.fake.Down(true)
		wantRefused(t, p.control(Approval, id, "once"), 503, "runtime_unavailable")
		rig.fake.Down(false)
		results := make(chan error)
		for range 8 {
			go func() { results <- p.control(Approval, id, "once") }()
		}
		taken := 0
		for range 8 {
			if err := <-results; err == nil {
				taken++
			} else if !errors.Is(err, ErrNotActive) {
				t.Error(err)
			}
		}
		if rows := p.end(); taken != 1 || count(rows, runs.TypeApprovalResolved) != 1 {
			t.Errorf("%d were taken:\n%s", taken, told(rows))
		}
		if n := len(rig.fake.Calls("POST", "/v1/runs/"+p.x.id+"/approval")); n != 2 {
			t.Errorf("%d answers were sent, want the one that was lost and another", n)
		}
	})
}

// A runtime without ids answers its oldest approval, whatever was meant. So only the oldest may be answered, and not even
// that if it may have run out meanwhile and another be the oldest by now.
func TestHermesApprovalInLine(t *testing.T) {
	bubble(t, fakehermes.Options{Old: true}, func(t *fakehermes.Turn) (string, error) {
		var first string
		done := t.Aside(func() { first = t.Approve("first") })
		t.Wait(later(time.Second))
		second := t.Approve("second")
		done()
		return first + " " + second, nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		time.Sleep(2 * time.Second)
		ids := pending(p.rows())
		if len(ids) != 2 {
			t.Fatalf("pending are %q", ids)
		}
		wantRefused(t, p.control(Approval, ids[1], "once"), 409, "approval_order")
		if err := p.control(Approval, "", "once"); !errors.Is(err, ErrNotActive) {
			t.Errorf("without an id: %v", err)
		}
		if err := p.control(Approval, ids[0], "session"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := p.control(Approval, "", "once"); err != nil {
			t.Errorf("the only one: %v", err)
		}
		if rows := p.end(); folded(rows).Output != "session once" || count(rows, runs.TypeApprovalResolved) != 2 {
			t.Errorf("rows are\n%s", told(rows))
		}
	})
}

// pending are the ids of approvals that nothing says are answered.
func pending(rows []runs.Event) []string {
	var f runs.Fold
	for _, e := range rows {
		f.Apply(e)
	}
	return f.Approvals()
}

// The first approval has run out, which no event says. Its yes would let the second command run, which nobody allowed.
func TestHermesApprovalRanOut(t *testing.T) {
	bubble(t, fakehermes.Options{Old: true}, func(t *fakehermes.Turn) (string, error) {
		t.Tool("terminal", "first")
		done := t.Aside(func() { t.Approve("first") })
		t.Wait(later(time.Minute))
		t.Expire()
		done()
		t.ToolDone("terminal", true)
		return t.Approve("second"), nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		time.Sleep(61 * time.Second)
		ids := pending(p.rows())
		if len(ids) != 2 {
			t.Fatalf("pending are %q", ids)
		}
		wantRefused(t, p.control(Approval, ids[0], "always"), 409, "approval_unclear")
		if err := p.control(Approval, ids[0], "deny"); err != nil {
			t.Error(err)
		}
		if run := folded(p.end()); run.Output != "deny" {
			t.Errorf("the second command was answered with %q", run.Output)
		}
	})
}

// The same while nobody listened: the approval that was told of is not the one that waits.
func TestHermesApprovalChangedUnseen(t *testing.T) {
	bubble(t, fakehermes.Options{Old: true}, func(t *fakehermes.Turn) (string, error) {
		done := t.Aside(func() { t.Approve("first") })
		t.Wait(later(time.Minute))
		t.Cut()
		t.Expire()
		done()
		return t.Approve("second"), nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		time.Sleep(2 * time.Minute)
		wantRefused(t, p.control(Approval, p.look().PendingApprovalID, "always"), 409, "approval_unclear")
		_ = p.control(Cancel, "", "")
		p.end()
	})
}

// Alone, an approval that ran out is not pending any more, and that is told.
func TestHermesApprovalStale(t *testing.T) {
	for _, o := range []fakehermes.Options{{}, {Old: true}} {
		bubble(t, o, func(t *fakehermes.Turn) (string, error) {
			done := t.Aside(func() { t.Approve("first") })
			t.Wait(later(time.Minute))
			t.Expire()
			done()
			t.Wait(later(time.Minute))
			return "without", nil
		}, func(t *testing.T, rig *hermesRig) {
			p := rig.starts(hello)
			time.Sleep(61 * time.Second)
			id := p.look().PendingApprovalID
			for range 2 {
				if err := p.control(Approval, id, "once"); !errors.Is(err, ErrNotActive) {
					t.Errorf("error is %v", err)
				}
			}
			if run := p.look(); run.Status != runs.Running {
				t.Errorf("status is %s", run.Status)
			}
			if rows := p.end(); count(rows, runs.TypeApprovalResolved) != 1 {
				t.Errorf("rows are\n%s", told(rows))
			}
		})
	}
}

// An approval that nobody saw being asked for is found in the run's status: with all that was asked, or, of a runtime that
// tells nothing of it, as one that can only be denied.
func TestHermesApprovalUnseen(t *testing.T) {
	f := func(o fakehermes.Options, choice, want string) {
		t.Helper()
		bubble(t, o, func(t *fakehermes.Turn) (string, error) {
			t.Say("x")
			return t.Approve("rm -rf build"), nil
		}, func(t *testing.T, rig *hermesRig) {
			rig.fake.CutAfter(1)
			p := rig.starts(hello)
			time.Sleep(20 * time.Second)
			rows := p.rows()
			if count(rows, runs.TypeApprovalRequested) != 1 {
				t.Fatalf("rows are\n%s", told(rows))
			}
			id := folded(rows).PendingApprovalID
			if o.Old {
				wantRefused(t, p.control(Approval, id, "once"), 409, "approval_unclear")
			}
			if err := p.control(Approval, id, choice); err != nil {
				t.Error(err)
			}
			if rows := p.end(); folded(rows).Output != want || count(rows, runs.TypeApprovalResolved) != 1 {
				t.Errorf("rows are\n%s", told(rows))
			}
		})
	}
	f(fakehermes.Options{}, "once", "once")
	f(fakehermes.Options{Old: true}, "deny", "deny")
}

// The hub was restarted while an approval waited. It can be answered if it is certain that it is this one that waits.
func TestHermesApprovalAfterRestart(t *testing.T) {
	for _, o := range []fakehermes.Options{{}, {Old: true}} {
		bubble(t, o, careful, func(t *testing.T, rig *hermesRig) {
			p := rig.starts(hello)
			synctest.Wait()
			p.stopHub()
			time.Sleep(time.Minute)
			next, err := p.nextHub()
			if err != nil {
				t.Fatal(err)
			}
			id := next.look().PendingApprovalID
			if err := next.control(Approval, id, "session"); err != nil {
				t.Error(err)
			}
			rows := next.end()
			if folded(rows).Output != "session" || count(rows, runs.TypeApprovalResolved) != 1 || count(rows, runs.TypeApprovalRequested) != 1 {
				t.Errorf("rows are\n%s", told(rows))
			}
		})
	}
	bubble(t, fakehermes.Options{Old: true}, func(t *fakehermes.Turn) (string, error) {
		done := t.Aside(func() { t.Approve("first") })
		t.Wait(later(30 * time.Second))
		t.Expire()
		done()
		return t.Approve("second"), nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		synctest.Wait()
		p.stopHub()
		time.Sleep(time.Minute)
		next, err := p.nextHub()
		if err != nil {
			t.Fatal(err)
		}
		wantRefused(t, next.control(Approval, next.look().PendingApprovalID, "always"), 409, "approval_unclear")
		_ = next.control(Cancel, "", "")
		next.end()
	})
}

// Somebody answered at the runtime itself while nobody listened: the run does not wait any more.
func TestHermesApprovalElsewhere(t *testing.T) {
	bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
		t.Approve("rm -rf build")
		t.Wait(later(time.Minute))
		return "done", nil
	}, func(t *testing.T, rig *hermesRig) {
		rig.fake.CutAfter(1)
		p := rig.starts(hello)
		time.Sleep(10 * time.Second)
		if run := p.look(); run.Status != runs.AwaitingApproval {
			t.Errorf("status is %s", run.Status)
		}
		answer, err := rig.h.wire.call(t.Context(), time.Second, "POST", "/v1/runs/"+p.x.id+"/approval", []byte(`{"choice":"once"}`), nil)
		if err != nil || answer.status != 200 {
			t.Fatal(err, answer.status)
		}
		time.Sleep(10 * time.Second)
		if run := p.look(); run.Status != runs.Running || run.PendingApprovalID != "" {
			t.Errorf("run is %+v", run)
		}
		p.end()
	})
}

// C10: a question and its answer are rows; where questions are answered is the runtime's to say.
func TestHermesClarify(t *testing.T) {
	for _, where := range []string{"run", "session"} {
		for _, cut := range []int{-1, 1} {
			bubble(t, fakehermes.Options{Clarify: where}, func(t *fakehermes.Turn) (string, error) {
				t.Say("x")
				return t.Ask("Which one?", "red", "blue"), nil
			}, func(t *testing.T, rig *hermesRig) {
				rig.fake.CutAfter(cut)
				p := rig.starts(hello)
				time.Sleep(5 * time.Second)
				run := p.look()
				if run.Status != runs.AwaitingClarify {
					t.Fatalf("run is %+v", run)
				}
				if err := p.control(Clarify, "cla_9", "red"); !errors.Is(err, ErrNotActive) {
					t.Errorf("an unknown id: %v", err)
				}
				if err := p.control(Clarify, run.PendingClarifyID, "blue"); err != nil {
					t.Error(err)
				}
				if err := p.control(Clarify, run.PendingClarifyID, "red"); !errors.Is(err, ErrNotActive) {
					t.Errorf("a second answer: %v", err)
				}
				rows := p.end()
				if folded(rows).Output != "blue" || count(rows, runs.TypeClarifyRequested) != 1 || count(rows, runs.TypeClarifyResolved) != 1 {
					t.Errorf("rows are\n%s", told(rows))
				}
			})
		}
	}
}
