package proxy

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// E01, on inference streams: after the commit a silent stream has a comment at least every 15 seconds, of one line with one
// newline; before it there is none, because nothing may be sent that would forbid a failover. Heartbeats are no content:
// the idle deadline is not moved by them.
func TestHeartbeats(t *testing.T) {
	quiet := setup{
		accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: 25 * time.Second}},
		config: func(c *Config) {
			c.FirstTokenTimeout, c.CommitDeadline, c.RequestTimeout, c.IdleTimeout = time.Minute, 10*time.Minute, time.Hour, time.Minute
		},
	}
	bubble(t, quiet, func(t *testing.T, r *rig) {
		got := r.chat(askStream)
		r.want(got, "200 profile=a attempts=1 [DONE]")
		if strings.HasPrefix(got.body, ":") {
			t.Errorf("a heartbeat before the first content: %q", got.body)
		}
		if beats, silences := strings.Count(got.body, ": hub\n"), strings.Count(got.body, "data: "); beats < silences-2 || strings.Contains(got.body, ": hub\n\n") {
			t.Errorf("%d heartbeats in %d events: %q", beats, silences, got.body)
		}
		r.settle()
	})
	stalls := setup{config: func(c *Config) { c.IdleTimeout = 35 * time.Second }}
	bubble(t, stalls, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Stall)
		began := time.Now()
		got := r.chat(askStream)
		r.want(got, "200 profile=a attempts=1 code=upstream_interrupted cut")
		if took := time.Since(began); took != 35*time.Second {
			t.Errorf("took %s", took)
		}
		if n := strings.Count(got.body, ": hub\n"); n != 3 {
			t.Errorf("%d heartbeats in 35 s: %q", n, got.body)
		}
	})
}

// deaf is a client that stops taking bytes.
type deaf struct {
	http.ResponseWriter
	err error
}

func (d *deaf) Write(b []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	return d.ResponseWriter.Write(b)
}

// A heartbeat that cannot be written tells that the client is gone, once, and is the last.
func TestHeartbeatFindsTheClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deaf{ResponseWriter: httptest.NewRecorder()}
		told := 0
		d := downstream{w: w, conn: http.NewResponseController(w.ResponseWriter), heartbeat: comment, gone: func(error) { told++ }}
		d.open()
		time.Sleep(25 * time.Second)
		d.mu.Lock()
		w.err = errors.New("broken pipe")
		d.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		d.close()
	})
}

// In the middle of an event that is passed on unread there is no heartbeat: it would end up inside the data.
func TestNoHeartbeatInsideAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		d := downstream{w: w, conn: http.NewResponseController(w), heartbeat: comment}
		d.open()
		if err := d.send([]byte("data: half"), true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := d.send([]byte(" and half\n\n"), false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		d.close()
		if got := w.Body.String(); got != "data: half and half\n\n: hub\n" {
			t.Errorf("%q", got)
		}
	})
}
