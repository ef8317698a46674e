package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hermes-hub/runs/runtime/fakehermes"
)

// errDemoRestart ends the demo's first hub: the second one goes on with its run.
var errDemoRestart = errors.New("the demo starts the hub anew")

// demoRun is a run of the demo as its observer knows it when the hub goes away.
type demoRun struct {
	id     string
	cursor string // of the last row that was seen
	rows   int
}

// demoAgent is a simulated Hermes, which takes its time and does not care whether anybody watches.
func demoAgent() *fakehermes.Server {
	return fakehermes.New(fakehermes.Options{Durable: true}, func(t *fakehermes.Turn) (string, error) {
		t.Say("I count the files. ")
		t.Tool("terminal", "ls | wc -l")
		counted := make(chan struct{})
		timer := time.AfterFunc(2*time.Second, func() { close(counted) })
		defer timer.Stop()
		t.Wait(counted)
		t.ToolDone("terminal", false)
		t.Say("There are 42.")
		return "I count the files. There are 42.", nil
	})
}

// tellRun begins a run at the simulated agent and watches it until its tool works.
func (a *app) tellRun(ctx context.Context, out io.Writer) (demoRun, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.addr(0)+"/v1/runs", strings.NewReader(`{"input":"How many files are there?","runtime":"hermes"}`))
	if err != nil {
		return demoRun{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return demoRun{}, stopped(ctx, fmt.Errorf("begin the demo's run: %w", err))
	}
	defer res.Body.Close()
	var begun struct {
		RunID string `json:"run_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&begun); err != nil || res.StatusCode != http.StatusAccepted {
		return demoRun{}, stopped(ctx, fmt.Errorf("begin the demo's run: status %d, %w", res.StatusCode, err))
	}
	fmt.Fprintf(out, "\n  run        %s at a simulated Hermes, observed through the hub:\n", begun.RunID)
	r := demoRun{id: begun.RunID}
	if err := a.watch(ctx, out, &r, "tool.started"); err != nil {
		return demoRun{}, err
	}
	fmt.Fprintf(out, "  restart    the hub is stopped here, with the run at cursor %s, and another started on its data\n", r.cursor)
	return r, nil
}

// tellRest goes on where the observer was when the hub went away.
func (a *app) tellRest(ctx context.Context, out io.Writer, r demoRun) error {
	fmt.Fprintf(out, "  resumed    from that cursor:\n")
	if err := a.watch(ctx, out, &r, ""); err != nil {
		return err
	}
	fmt.Fprintf(out, "  ended      %d rows, each seen once\n", r.rows)
	return nil
}

// watch prints the run's rows behind the cursor up to the first of a family, or to the end.
func (a *app) watch(ctx context.Context, out io.Writer, r *demoRun, until string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.addr(0)+"/v1/runs/"+r.id+"/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Last-Event-ID", r.cursor)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return stopped(ctx, fmt.Errorf("observe the demo's run: %w", err))
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			r.cursor, r.rows = id, r.rows+1
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return nil
		}
		var row struct {
			Seq                  int
			Type                 string
			Delta, Preview, Tool string
		}
		if json.Unmarshal([]byte(data), &row) != nil || row.Seq == 0 {
			continue // a control frame
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("             %2d  %-18s %s%s", row.Seq, row.Type, row.Delta, row.Preview), " "))
		if row.Type == until {
			return nil
		}
	}
	return stopped(ctx, errors.New("observe the demo's run: the stream ended before the run did"))
}
