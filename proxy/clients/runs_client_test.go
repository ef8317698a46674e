package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// runsLimit bounds whatever a test of runs waits for.
const runsLimit = 90 * time.Second

// runsClient is a client of the hub's runs.
type runsClient struct {
	t      *testing.T
	ctx    context.Context
	url    string // of the hub
	header http.Header
}

// client returns a client with the hub's one key, for as long as the test goes on.
func (h *hubProcess) client(t *testing.T) *runsClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runsLimit)
	t.Cleanup(cancel)
	return &runsClient{t, ctx, h.url, http.Header{"Authorization": {"Bearer " + hubKey}, "Content-Type": {"application/json"}}}
}

// send sends a request with more headers, given as names and values. The body of the answer is the caller's to close.
func (c *runsClient) send(method, path, body string, header ...string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.header.Clone()
	for pair := range slices.Chunk(header, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

// runObject is what the tests read of a run, and of the answers about it.
type runObject struct {
	RunID             string          `json:"run_id"`
	Status            string          `json:"status"`
	TerminalState     string          `json:"terminal_state"`
	LastEventID       string          `json:"last_event_id"`
	Output            string          `json:"output"`
	Usage             usage           `json:"usage"`
	PendingApprovalID string          `json:"pending_approval_id"`
	Runtime           string          `json:"runtime"`
	Features          map[string]any  `json:"features"` // of the capabilities
	Error             json.RawMessage `json:"error"`
}

// usage is what a run used.
type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// call sends a request and reads the answer, which must have that status.
func (c *runsClient) call(want int, method, path, body string, header ...string) (o runObject) {
	c.t.Helper()
	resp := c.send(method, path, body, header...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil || resp.StatusCode != want {
		c.t.Fatalf("%s %s: %d %s, %v; want %d", method, path, resp.StatusCode, text, err, want)
	}
	return o
}

// code is the code of an error in the answer.
func (o runObject) code() string {
	var e struct{ Code string }
	_ = json.Unmarshal(o.Error, &e)
	return e.Code
}

// start begins a run of Hermes that follows the orders, and returns its id.
func (c *runsClient) start(orders string) string {
	c.t.Helper()
	o := c.call(http.StatusAccepted, http.MethodPost, "/v1/runs", fmt.Sprintf(`{"input":"Follow these orders: %s","runtime":"hermes"}`, orders))
	if o.RunID == "" || o.Status != "started" {
		c.t.Fatalf("the run was begun as %+v", o)
	}
	return o.RunID
}

// run is the run object.
func (c *runsClient) run(id string) runObject {
	c.t.Helper()
	return c.call(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
}

// row is a row of a run as an observer gets it.
type row struct {
	ID    string // of the frame
	Frame string // its data

	Type       string   `json:"type"`
	Event      string   `json:"event"` // Hermes' name of it
	Delta      string   `json:"delta"`
	Tool       string   `json:"tool"`
	Output     string   `json:"output"`
	ApprovalID string   `json:"approval_id"`
	Choice     string   `json:"choice"`
	Choices    []string `json:"choices"`
	Command    string   `json:"command"`
	Payload    struct {
		Reason string `json:"reason"`
	} `json:"payload"`
}

// is is a condition: the row is what Hermes calls by that name.
func is(event string) func(row) bool { return func(r row) bool { return r.Event == event } }

// observer reads a run's rows as they come.
type observer struct {
	run    string // its id
	client *runsClient
	body   io.Closer
	lines  *bufio.Scanner
	rows   []row
	done   bool // [DONE] was read
}

// observe opens a run's event stream behind the row with that id, "" for all of it.
func (c *runsClient) observe(id, after string) *observer {
	c.t.Helper()
	header := []string{"Accept", "text/event-stream"}
	if after != "" {
		header = append(header, "Last-Event-ID", after)
	}
	resp := c.send(http.MethodGet, "/v1/runs/"+id+"/events", "", header...)
	c.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		c.t.Fatalf("observe %s: %d %s", id, resp.StatusCode, text)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &observer{run: id, client: c, body: resp.Body, lines: lines}
}

// next reads the next row; none is left when the stream has ended. Frames that are no rows, which tell of the stream
// itself, have an event: line.
func (o *observer) next() (r row, ok bool) {
	o.client.t.Helper()
	aside := false
	for o.lines.Scan() {
		name, value, _ := strings.Cut(o.lines.Text(), ": ")
		switch {
		case name == "event":
			aside = true
		case name == "":
			aside = false
		case name == "id":
			r.ID = value
		case name != "data" || aside:
		case value == "[DONE]":
			o.done = true
		default:
			if err := json.Unmarshal([]byte(value), &r); err != nil {
				o.client.t.Fatalf("%v in %s", err, value)
			}
			r.Frame = value
			o.rows = append(o.rows, r)
			return r, true
		}
	}
	return row{}, false
}

// until reads rows until there is one that is wanted, and returns it.
func (o *observer) until(wanted func(row) bool) row {
	o.client.t.Helper()
	for {
		r, ok := o.next()
		switch {
		case !ok:
			o.client.t.Fatalf("the stream ended without what was wanted (%v):\n%s", o.lines.Err(), o)
		case wanted(r):
			return r
		}
	}
}

// end reads the rest of the rows. The stream must end as it should.
func (o *observer) end() *observer {
	o.client.t.Helper()
	for ok := true; ok; {
		_, ok = o.next()
	}
	if n := len(o.rows); !o.done || n > 0 && o.rows[n-1].Type != "run.closed" {
		o.client.t.Errorf("the stream did not end well ([DONE]: %t, %v):\n%s", o.done, o.lines.Err(), o)
	}
	return o
}

// last is the id of the newest row.
func (o *observer) last() string { return o.rows[len(o.rows)-1].ID }

// count is how many of the rows are wanted.
func (o *observer) count(wanted func(row) bool) (n int) {
	for _, r := range o.rows {
		if wanted(r) {
			n++
		}
	}
	return n
}

// text is what the deltas say.
func (o *observer) text() string {
	var b strings.Builder
	for _, r := range o.rows {
		if r.Event == "message.delta" {
			b.WriteString(r.Delta)
		}
	}
	return strings.TrimSpace(b.String())
}

// steps are the names of the events without those of the text, as an agent's user follows them.
func (o *observer) steps() (all []string) {
	for _, r := range o.rows {
		switch r.Event {
		case "", "message.delta", "reasoning.available":
		default:
			all = append(all, strings.TrimSpace(r.Event+" "+r.Tool))
		}
	}
	return all
}

// String tells the rows, one a line.
func (o *observer) String() string {
	var b strings.Builder
	for _, r := range o.rows {
		b.WriteString(r.Frame + "\n")
	}
	return b.String()
}

// sameRows fails the test unless both observers have seen the same rows, byte for byte.
func sameRows(t *testing.T, what string, got, want []row) {
	t.Helper()
	alike := slices.EqualFunc(got, want, func(a, b row) bool { return a.ID == b.ID && a.Frame == b.Frame })
	if !alike {
		t.Errorf("%s:\n got %s\nwant %s", what, &observer{rows: got}, &observer{rows: want})
	}
}
