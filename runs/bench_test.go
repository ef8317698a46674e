package runs_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
)

// started is a running journal and a run in it.
func started(b *testing.B, o runs.Options) (*runs.Journal, *runs.Writer) {
	o.Store, o.Instance, o.MaxRunRows, o.MaxRunBytes, o.MaxWaiting = new(memstore.Store), "here", 1<<40, 1<<50, 1<<30
	j := runs.New(o)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-ended })
	w, err := j.Begin("r", runs.Origin{}, runs.Redacted, runs.RunStarted{})
	if err != nil {
		b.Fatal(err)
	}
	return j, w
}

// What one delta costs the request that it belongs to.
func BenchmarkAppend(b *testing.B) {
	_, w := started(b, runs.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(delta("token")); err != nil {
			b.Fatal(err)
		}
	}
}

// From an append to an observer that waits for it.
func BenchmarkAppendToObserver(b *testing.B) {
	j, w := started(b, runs.Options{FlushEvery: time.Nanosecond})
	sub, _, err := j.Subscribe(b.Context(), "r", "")
	for err != nil {
		if _, err = w.Sync(b.Context()); err == nil {
			sub, _, err = j.Subscribe(b.Context(), "r", "")
		}
	}
	defer sub.Close()
	for b.Loop() {
		_ = w.Append(runs.Progress{}) // shows itself by the observer's waiting for ever
		for got := 0; got == 0; {
			d, err := sub.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			got = len(d.Rows)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	e := runs.Event{
		RunID: runs.NewID(), SessionID: "s", Seq: 42, Type: runs.TypeTokenDelta, CreatedAt: time.Unix(1778750000, 0),
		Payload: json.RawMessage(`{"message_id":"m","delta":"token"}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runs.Hermes.Frame(e); err != nil {
			b.Fatal(err)
		}
	}
}
