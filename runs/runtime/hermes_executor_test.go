package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime/fakehermes"
)

// hermesHub is a hub whose only runtime is a Hermes: a journal, an executor, and the store that outlives them.
type hermesHub struct {
	*Executor
	journal *runs.Journal
	stop    func()
}

func newHermesHub(t *testing.T, store runs.Store, fake *fakehermes.Server) *hermesHub {
	t.Helper()
	h, err := NewHermes(HermesOptions{BaseURL: "http://hermes.invalid", Client: fake.Client()})
	if err != nil {
		t.Fatal(err)
	}
	hub := &hermesHub{journal: runs.New(runs.Options{Store: store, Instance: "hub"})}
	hub.Executor = New(Options{Journal: hub.journal, Runtimes: map[string]Runtime{"hermes": h}, Default: "hermes", Instance: "hub"})
	committing, halt := context.WithCancel(t.Context())
	executing, stop := context.WithCancel(committing)
	committed, executed := make(chan error, 1), make(chan error, 1)
	go func() { committed <- hub.journal.Run(committing) }()
	go func() { executed <- hub.Run(executing) }()
	hub.stop = func() {
		stop()
		if err := <-executed; err != nil {
			t.Error(err)
		}
		halt()
		if err := <-committed; err != nil {
			t.Error(err)
		}
	}
	return hub
}

// J21, W12: hubs come and go while a run waits for an approval and goes on. It ends as one run with one end and one answer,
// sealed, and says what it would have said without.
func TestHermesAcrossHubs(t *testing.T) {
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Usage = []int{5, 6}
		t.Say("May I? ")
		choice := t.Approve("rm -rf build")
		t.Wait(later(time.Minute))
		t.Say("It was ")
		t.Wait(later(time.Minute))
		t.Say(choice + ".")
		return "It was " + choice + ".", nil
	}
	for _, o := range []fakehermes.Options{{}, {Old: true}, {LateNotice: true}} {
		synctest.Test(t, func(t *testing.T) {
			fake, store := fakehermes.New(o, agent), new(memstore.Store)
			defer fake.Close()
			hub := newHermesHub(t, store, fake)
			s, err := hub.Start(t.Context(), Order{SessionID: "s1", Body: json.RawMessage(hello)})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			restart := func() {
				t.Helper()
				hub.stop()
				time.Sleep(5 * time.Second)
				hub = newHermesHub(t, store, fake)
				if err := hub.Recover(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			restart()
			run, err := hub.journal.Look(t.Context(), s.RunID)
			if err != nil || run.Status != runs.AwaitingApproval {
				t.Fatalf("run is %+v, %v", run, err)
			}
			if _, err := hub.Control(t.Context(), s.RunID, Control{Verb: Approval, ID: run.PendingApprovalID, Text: "session"}); err != nil {
				t.Fatal(err)
			}
			if _, err := hub.Control(t.Context(), s.RunID, Control{Verb: Approval, ID: run.PendingApprovalID, Text: "deny"}); !errors.Is(err, ErrNotActive) {
				t.Errorf("a second answer: %v", err)
			}
			time.Sleep(30 * time.Second)
			restart()
			time.Sleep(time.Hour)
			hub.stop()
			page, err := store.Read(t.Context(), s.RunID, 0, 1000, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			run = folded(page.Rows)
			if run.Output != "It was session." || run.Status != runs.Completed || !page.Head.Closed || string(run.Usage) != `{"input_tokens":5,"output_tokens":6,"total_tokens":11}` {
				t.Errorf("run is %+v", run)
			}
			if count(page.Rows, runs.TypeApprovalResolved) != 1 || int64(len(page.Rows)) != page.Head.Last {
				t.Errorf("rows are\n%s", told(page.Rows))
			}
		})
	}
}

// C01, C04: a run is cancelled through the hub while its tool runs: one end, what it had said, no tool's result behind it.
func TestHermesCancelledByHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, store := fakehermes.New(fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
			t.Say("I begin. ")
			t.Tool("terminal", "sleep 1000")
			t.Wait(nil)
			return "", nil
		}), new(memstore.Store)
		defer fake.Close()
		hub := newHermesHub(t, store, fake)
		s, err := hub.Start(t.Context(), Order{SessionID: "s1", Body: json.RawMessage(hello)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if run, err := hub.Control(t.Context(), s.RunID, Control{Verb: Cancel}); err != nil || run.Status != runs.Cancelling && run.Status != runs.Canceled {
			t.Errorf("run is %+v, %v", run, err)
		}
		time.Sleep(time.Second)
		run, err := hub.journal.Look(t.Context(), s.RunID)
		if err != nil || run.Status != runs.Canceled || run.Output != "I begin. " {
			t.Errorf("run is %+v, %v", run, err)
		}
		hub.stop()
	})
}
