package simulator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestSteps proves that Go's plain client sees of every step what the fault catalogue says, to a stream request and to a
// plain one, in memory and over TCP alike.
func TestSteps(t *testing.T) {
	unproven := map[string]bool{"hang": false, "stall": false, "stall-heartbeats": false} // TestStepsThatWait
	for _, info := range simulator.Steps() {
		if _, elsewhere := unproven[string(info.Name)]; !elsewhere {
			unproven[string(info.Name)] = true
		}
	}
	f := func(step simulator.StepName, stream, plain string) {
		t.Helper()
		name, _, _ := strings.Cut(string(step), " ")
		unproven[name] = false
		t.Run(string(step), func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				for body, want := range map[string]string{streamBody: stream, plainBody: plain} {
					c.Push("a", step)
					if got := seen(c.ask(t, body)); got != want {
						t.Errorf("the client saw\n     %s\nwant %s", got, want)
					}
				}
			}, accountA)
		})
	}

	f("normal", "200 stream text finish usage done, end", "200 json text finish usage, end")

	f("400", "400 json error, end", "400 json error, end")
	f("400-context", "400 json error, end", "400 json error, end")
	f("400-content-policy", "400 json error, end", "400 json error, end")
	f("401", "401 json error, end", "401 json error, end")
	f("402", "402 json error, end", "402 json error, end")
	f("403", "403 json error, end", "403 json error, end")
	f("403-html", "403 html other, end", "403 html other, end")
	f("404", "404 json error, end", "404 json error, end")
	f("408", "408 json empty, end", "408 json empty, end")
	f("409", "409 json error, end", "409 json error, end")
	f("413", "413 json error, end", "413 json error, end")
	f("429 1m0s", "429 json error, end", "429 json error, end")
	f("429-no-headers", "429 json error, end", "429 json error, end")
	f("429-http-date", "429 json error, end", "429 json error, end")
	f("429-too-large", "429 json error, end", "429 json error, end")
	f("429-insufficient-quota", "429 json error, end", "429 json error, end")
	f("429-usage-limit", "429 json error, end", "429 json error, end")
	f("429-server-error", "429 json error, end", "429 json error, end")
	f("429-html", "429 html other, end", "429 html other, end")
	f("500", "500 json error, end", "500 json error, end")
	f("502", "502 html other, end", "502 html other, end")
	f("503", "503 json error, end", "503 json error, end")
	f("503-slow-down", "503 json error, end", "503 json error, end")
	f("504", "504 html other, end", "504 html other, end")
	f("529", "529 json error, end", "529 json error, end")
	f("status 418", "418 json error, end", "418 json error, end")

	f("slow-first-token 50ms", "200 stream text finish usage done, end", "200 json text finish usage, end")

	f("close-before-head", "no answer: EOF", "no answer: EOF")
	f("reset-before-head", "no answer: reset", "no answer: reset")
	f("cut-reset", "200 stream part-text, reset", "200 json other, reset")
	f("cut-reset 0", "200 stream, reset", "200 json empty, reset")
	f("cut-eof", "200 stream part-text, end", "200 json other, end")
	f("cut-tool-arguments", "200 stream part-arguments, end", "200 json other, end")
	f("reset-tool-arguments", "200 stream part-arguments, reset", "200 json other, reset")
	f("cut-before-done", "200 stream text finish usage, end", "200 json text finish usage, end")
	f("truncated-chunk", "200 stream part-text, unexpected EOF", "200 json other, unexpected EOF")
	f("missing-last-chunk", "200 stream part-text, unexpected EOF", "200 json other, unexpected EOF")
	f("short-content-length", "200 stream part-text, unexpected EOF", "200 json other, unexpected EOF")
	f("http10-half", "200 stream part-text, end", "200 json other, end")
	f("http10", "200 stream text finish usage done, end", "200 json text finish usage, end")

	f("garbage-head", "no answer: broken head", "no answer: broken head")
	f("partial-head", "no answer: broken head", "no answer: broken head")
	f("huge-head", "no answer: head too large", "no answer: head too large")
	f("early-hints", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("redirect", "307 json empty, end", "307 json empty, end")

	f("gzip", "200 stream gunzipped text finish usage done, end", "200 json gunzipped text finish usage, end")
	f("gzip-broken", "200 stream gunzipped, unexpected EOF", "200 json gunzipped other, unexpected EOF")
	f("json-error-200", "200 json error, end", "200 json error, end")
	f("html-200", "200 html other, end", "200 html other, end")
	f("empty-200", "200 stream empty, end", "200 json empty, end")
	f("204", "204 untyped empty, end", "204 untyped empty, end")
	f("error-first", "200 stream error, end", "200 json error, end")
	f("error-first-quota", "200 stream error, end", "200 json error, end")
	f("error-mid-stream", "200 stream part-text error, end", "200 json error, end")
	f("429-mid-stream", "200 stream part-text error, end", "200 json error, end")
	f("comments-only", "200 stream other, end", "200 json other, end")
	f("empty-deltas", "200 stream, end", "200 json finish usage, end")
	f("done-only", "200 stream done, end", "200 json, end")
	f("json-to-stream", "200 json text finish usage, end", "200 json text finish usage, end")
	f("stream-to-plain", "200 stream text finish usage done, end", "200 stream text finish done, end")

	f("usage-missing", "200 stream text finish done, end", "200 json text finish, end")
	f("usage-before-finish", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("finish-missing", "200 stream text usage done, end", "200 json text finish usage, end")
	f("id-lines", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("crlf", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("bom", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("no-space", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("data-null", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("data-keepalive", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("error-null", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("comments", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("huge-line", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("split-runes", "200 stream text finish usage done, end", "200 json text finish usage, end")
	f("duplicate-tool-index", "200 stream arguments finish usage done, end", "200 json arguments finish usage, end")
	f("int-ids", "200 stream text finish usage done, end", "200 json text finish usage, end")

	for name, missing := range unproven {
		if missing {
			t.Errorf("no case proves step %q", name)
		}
	}
}

// TestStepsThatWait proves that a step that waits sees within a second that its client went away (P29, L03).
func TestStepsThatWait(t *testing.T) {
	f := func(step simulator.StepName, body, until string) {
		t.Helper()
		t.Run(string(step), func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				c.Push("a", step)
				if err := c.leave(t, body, until); !errors.Is(err, context.Canceled) {
					t.Fatalf("the client's error is %v, want its own cancellation", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := c.WaitCancelled(ctx, "a", 1); err != nil {
					t.Fatal(err)
				}
				if call := c.Calls("a")[0]; !call.Cancelled || call.End.IsZero() || c.InFlight("a") != 0 {
					t.Errorf("the call is %+v, %d in flight; want it cancelled, ended, none", call, c.InFlight("a"))
				}
			}, accountA)
		})
	}

	f("hang", streamBody, "")
	f("hang", plainBody, "")
	f("slow-first-token 1h", streamBody, `"role"`)
	f("stall", streamBody, "simulated ")
	f("stall 0", streamBody, `"role"`)
	f("stall", plainBody, "chat.completion")
	f("stall-heartbeats", streamBody, ": simulated heartbeat")
}

// TestLeavingAnAnswer proves that a client that leaves in the middle of an answer is told from one that has seen it all.
func TestLeavingAnAnswer(t *testing.T) {
	slow := accountA
	slow.ChunkPace = time.Hour
	bothWays(t, func(t *testing.T, c client) {
		if err := c.leave(t, streamBody, `"role"`); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.WaitCancelled(ctx, "a", 1); err != nil {
			t.Fatal(err)
		}
	}, slow)
	bothWays(t, func(t *testing.T, c client) {
		// A client that leaves at the protocol's last word, as the SDKs do, has seen it all.
		_ = c.leave(t, streamBody, "[DONE]")
		if err := c.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if call := c.Calls("a")[0]; call.Cancelled || call.End.IsZero() {
			t.Errorf("the call is %+v, want it ended and not cancelled", call)
		}
	}, accountA)
}
