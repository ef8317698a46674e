package runtime

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime/fakehermes"
)

const hello = `{"input":"hello","session_id":"s1"}`

// concert is an agent that does something of everything.
func concert(t *fakehermes.Turn) (string, error) {
	t.Usage = []int{120, 7}
	t.Think("let me see")
	t.Say("I look. ")
	t.Tool("terminal", "ls")
	t.Emit("subagent.start", map[string]any{"goal": "count", "subagent_id": "a1"})
	t.ToolDone("terminal", false)
	t.Thought("two files")
	t.Emit("weather.changed", map[string]any{"wind": 7})
	t.Say("Two ")
	t.Say("files – ")
	t.Say("äöü.")
	return "Two files – äöü.", nil
}

// J01, J02, J33, W02: every event of Hermes is a row, in order, with all that Hermes said; there is one end.
func TestHermesRun(t *testing.T) {
	bubble(t, fakehermes.Options{Key: "k"}, concert, func(t *testing.T, rig *hermesRig) {
		rows := rig.starts(hello).end()
		want := `run.started
status
reasoning.delta delta=let me see
token.delta delta=I look. 
tool.started name=terminal preview=ls
progress phase=subagent.start text=count
tool.done name=terminal is_error=false
reasoning.done text=two files
progress phase=weather.changed text=weather.changed
token.delta delta=Two 
token.delta delta=files – 
token.delta delta=äöü.
usage.final usage={input_tokens:120,output_tokens:7,total_tokens:127}
done! output=Two files – äöü. usage={input_tokens:120,output_tokens:7,total_tokens:127}
run.closed
`
		if diff := cmp.Diff(want, told(rows)); diff != "" {
			t.Errorf("rows differ:\n%s", diff)
		}
		upstream := folded(rows).UpstreamRunID
		for _, e := range rows[2 : len(rows)-1] {
			p := gjson.ParseBytes(e.Payload)
			if e.Type != runs.TypeUsageFinal && (p.Get("run_id").Str != upstream || p.Get("event").Str == "" || p.Get("timestamp").Num == 0) {
				t.Errorf("%s lacks what Hermes said: %s", e.Type, e.Payload)
			}
		}
		if wind := gjson.GetBytes(rows[8].Payload, "wind").Int(); wind != 7 {
			t.Errorf("an unknown event lost its members: %s", rows[8].Payload)
		}
		started, done := gjson.GetBytes(rows[4].Payload, "tool_call_id").Str, gjson.GetBytes(rows[6].Payload, "tool_call_id").Str
		if started == "" || started != done {
			t.Errorf("the tool began as %q and ended as %q", started, done)
		}
	})
}

// The whole is the sum whatever is lost: wherever the event stream is cut, and whether the run ends soon or late, the run is
// the same in the end, from its status alone. That a stream is gone (404) is no failure.
func TestHermesCutEverywhere(t *testing.T) {
	whole := func(t *testing.T, o fakehermes.Options, agent fakehermes.Agent, cut int) (run runs.Run, rows []runs.Event) {
		bubble(t, o, agent, func(t *testing.T, rig *hermesRig) {
			rig.fake.CutAfter(cut)
			rows = rig.starts(hello).end()
			run = folded(rows)
			run.RunID, run.LastEventID, run.UpstreamRunID, run.CreatedAt = "", "", "", 0
			run.Error = []byte(gjson.GetBytes(run.Error, "code").Str + gjson.GetBytes(run.Error, "message").Str)
		})
		return run, rows
	}
	plain := func(t *fakehermes.Turn) (string, error) {
		t.Usage = []int{3, 4}
		t.Say("Hel")
		t.Say("lo, ")
		t.Tool("web", "x")
		t.ToolDone("web", true)
		t.Say("wörld")
		return "Hello, wörld", nil
	}
	for name, agent := range map[string]fakehermes.Agent{
		"completed": plain,
		"late": func(t *fakehermes.Turn) (string, error) {
			t.Say("Hel")
			t.Wait(later(100 * time.Second))
			return plain(t)
		},
		"concert": concert,
		"failed": func(t *fakehermes.Turn) (string, error) {
			t.Say("Hel")
			t.Thought("hm")
			return "", errors.New("provider said no")
		},
		"silent": func(t *fakehermes.Turn) (string, error) { return "all at once", nil },
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := whole(t, fakehermes.Options{}, agent, -1)
			if want.TerminalState == "" {
				t.Fatal("the uninterrupted run has not ended")
			}
			for cut := range 14 {
				got, rows := whole(t, fakehermes.Options{Old: cut%2 == 0}, agent, cut)
				if name == "failed" { // its status does not tell what it had said
					got.Output = want.Output
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("cut after %d: the run differs:\n%s\n%s", cut, diff, told(rows))
				}
				if text := said(rows); name != "failed" && name != "silent" && !strings.HasSuffix(text, got.Output) {
					t.Errorf("cut after %d: the deltas say %q", cut, text)
				}
				if n := count(rows, runs.TypeGap); n > 1 {
					t.Errorf("cut after %d: %d gaps are told of", cut, n)
				}
			}
			_, rows := whole(t, fakehermes.Options{}, agent, 0)
			if text := told(rows); !strings.Contains(text, "journal.gap reason=stream_lost\n") || !strings.Contains(text, "recovered=true") {
				t.Errorf("nothing says that rows are missing:\n%s", text)
			}
		})
	}
}

// A stream that says nothing at all is left. The server may not have noticed: then the next stream hears nothing but
// keepalives for ever, and only the status tells of the end.
func TestHermesStreamOfNobody(t *testing.T) {
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Say("one ")
		t.Wait(later(5 * time.Minute))
		t.Say("two ")
		t.Wait(later(time.Minute))
		t.Say("three")
		return "one two three", nil
	}
	bubble(t, fakehermes.Options{LateNotice: true, KeepaliveEvery: 100 * time.Second}, agent, func(t *testing.T, rig *hermesRig) {
		begun := time.Now()
		rows := rig.starts(hello).end()
		if took := time.Since(begun); took > 6*time.Minute+10*time.Second {
			t.Errorf("the end was noticed after %s", took)
		}
		if run := folded(rows); run.Output != "one two three" || said(rows) != "one two three" || run.Status != runs.Completed {
			t.Errorf("run is %+v:\n%s", run, told(rows))
		}
	})
}

// While the runtime cannot be reached the run goes on. That is said once each time.
func TestHermesUnreachable(t *testing.T) {
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Say("on ")
		t.Wait(later(3 * time.Minute))
		return "on and on", nil
	}
	bubble(t, fakehermes.Options{}, agent, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		for range 2 {
			synctest.Wait()
			rig.fake.Down(true)
			time.Sleep(time.Minute)
			if run := p.look(); run.Status != runs.Running {
				t.Errorf("status is %s", run.Status)
			}
			rig.fake.Down(false)
			time.Sleep(10 * time.Second)
		}
		want := `run.started
status
token.delta delta=on 
journal.gap reason=stream_lost
progress phase=runtime_unreachable text=The runtime cannot be reached. The hub goes on asking.
progress phase=runtime_reachable text=The runtime answers again.
progress phase=runtime_unreachable text=The runtime cannot be reached. The hub goes on asking.
progress phase=runtime_reachable text=The runtime answers again.
token.delta delta=and on recovered=true
done! output=on and on recovered=true
run.closed
`
		if diff := cmp.Diff(want, told(p.end())); diff != "" {
			t.Errorf("rows differ:\n%s", diff)
		}
	})
}

// A runtime that restarted has forgotten the run, or says that it was interrupted. Neither is said at once, and a run that
// comes back is none of it.
func TestHermesRestarts(t *testing.T) {
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Say("half")
		t.Wait(nil)
		return "", nil
	}
	f := func(o fakehermes.Options, code string, atLeast time.Duration) {
		t.Helper()
		bubble(t, o, agent, func(t *testing.T, rig *hermesRig) {
			p := rig.starts(hello)
			synctest.Wait()
			begun := time.Now()
			rig.fake.Restart()
			run := folded(p.end())
			if got := gjson.GetBytes(run.Error, "code").Str; got != code || run.TerminalState != runs.EndInterruptedByCrash || run.Output != "half" {
				t.Errorf("code %s, run %+v", got, run)
			}
			if took := time.Since(begun); took < atLeast || took > atLeast+6*time.Second {
				t.Errorf("it took %s, want about %s", took, atLeast)
			}
		})
	}
	f(fakehermes.Options{}, "runtime_forgot_run", 30*time.Second)
	f(fakehermes.Options{Old: true}, "runtime_forgot_run", 30*time.Second)
	f(fakehermes.Options{Durable: true}, "runtime_interrupted", 0)
}

// A runtime that does not know the run now and then has not forgotten it.
func TestHermesForgetsAndRemembers(t *testing.T) {
	bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
		t.Say("x")
		t.Wait(later(time.Second))
		t.Cut()
		t.Wait(later(2 * time.Minute))
		return "x, after all", nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		time.Sleep(2 * time.Second)
		for range 3 {
			rig.fake.Intercept(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusNotFound)
				return true
			})
			time.Sleep(25 * time.Second)
			rig.fake.Intercept(nil)
			time.Sleep(10 * time.Second)
		}
		if run := folded(p.end()); run.Output != "x, after all" || run.Status != runs.Completed {
			t.Errorf("run is %+v", run)
		}
		if n := len(rig.fake.Calls("GET", "/v1/runs/"+p.x.id+"/events")); n != 2 {
			t.Errorf("the event stream was asked for %d times, want once and once more", n)
		}
	})
}

// The status may say that a run has ended before its events do. They are waited for: they say it better.
func TestHermesEventsComeLate(t *testing.T) {
	bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
		t.Say("a")
		t.Wait(later(16 * time.Second))
		t.Say("b")
		return "ab", nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		answers(rig.fake, "GET", "/v1/runs/"+p.x.id, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"object":"hermes.run","status":"completed","output":"ab"}`)
		})
		if text := told(p.end()); strings.Contains(text, "recovered") || !strings.Contains(text, "token.delta delta=b\ndone! output=ab\n") {
			t.Errorf("rows are\n%s", text)
		}
	})
}

// A stream that cannot be opened at first is opened later: the server keeps the events meanwhile, and nothing is lost.
func TestHermesAttachesLate(t *testing.T) {
	bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
		t.Say("hello")
		t.Wait(later(time.Minute))
		return "hello", nil
	}, func(t *testing.T, rig *hermesRig) {
		rig.h.look(t.Context())
		w, x := begun(t, rig)
		rig.fake.Down(true)
		p := rig.follows(w, x)
		time.Sleep(3 * time.Second)
		rig.fake.Down(false)
		rows := p.end()
		if count(rows, runs.TypeGap) != 0 || said(rows) != "hello" || folded(rows).Output != "hello" {
			t.Errorf("rows are\n%s", told(rows))
		}
	})
}

// begun is a run that the server has, and nobody follows yet.
func begun(t *testing.T, rig *hermesRig) (*runs.Writer, Execution) {
	t.Helper()
	w, err := rig.journal.Begin(playID, runs.Origin{SessionID: "s1"}, runs.Redacted, runs.RunStarted{Status: runs.Running})
	if err != nil {
		t.Fatal(err)
	}
	x, err := rig.h.Start(t.Context(), playID, Order{Body: []byte(hello)})
	if err != nil {
		t.Fatal(err)
	}
	return w, x
}

// A long answer is not cut in the terminal row, because it is not in there once the deltas have told it.
func TestHermesLongOutput(t *testing.T) {
	long := strings.Repeat("a word or two, ", 20_000)
	for _, cut := range []int{-1, 0, 2} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
				t.Say(long[:100_000])
				t.Say(long[100_000:200_000])
				t.Say(long[200_000:])
				return long, nil
			}, func(t *testing.T, rig *hermesRig) {
				rig.fake.CutAfter(cut)
				if run := folded(rig.starts(hello).end()); run.Output != long {
					t.Errorf("the output has %d bytes, want %d", len(run.Output), len(long))
				}
			})
		})
	}
}
