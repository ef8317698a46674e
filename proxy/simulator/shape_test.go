package simulator_test

import (
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// TestShapes proves that the odd but complete answers are odd in the way their names say.
func TestShapes(t *testing.T) {
	a := accountA
	a.Answer = simulator.Say("Hi")
	f := func(step simulator.StepName, wants ...string) {
		t.Helper()
		t.Run(string(step), func(t *testing.T) {
			bothWays(t, func(t *testing.T, c client) {
				c.Push("a", step)
				_, body, err := c.ask(t, streamBody)
				if err != nil {
					t.Fatal(err)
				}
				rest := shorten(string(body))
				for _, want := range wants {
					_, after, found := strings.Cut(rest, want)
					if !found {
						t.Fatalf("the stream is\n%s\nwant in it, in order, %q", shorten(string(body)), wants)
					}
					rest = after
				}
			}, a)
		})
	}

	f("usage-before-finish", `"content":"Hi"`, `"usage":{"prompt_tokens":9`, `"finish_reason":"stop"`, "data: [DONE]")
	f("id-lines", "retry: 3000\n\nid: 1\ndata: {", "\n\nid: 2\ndata: {", "\n\nid: 5\ndata: [DONE]\n\n")
	f("crlf", "data: {", "}\r\n\r\ndata: {", "data: [DONE]\r\n\r\n")
	f("bom", "\ufeffdata: {", "\n\ndata: {")
	f("no-space", "data:{", "\n\ndata:{", "\n\ndata:[DONE]\n\n")
	f("data-null", "data: null\n\ndata: {", "\n\ndata: null\n\ndata: [DONE]\n\n")
	f("data-keepalive", "data: : keepalive\n\ndata: {")
	f("error-null", `data: {"error":null,"id":"chatcmpl-`, `data: {"error":null,"id":"chatcmpl-`)
	f("comments", ": simulated heartbeat\n\ndata: {", ": simulated heartbeat\n\ndata: [DONE]")
	f("split-runes", `"content":"Симуляция: "`, `"content":"世界 "`, `"content":"🌍 "`)
	f("duplicate-tool-index", `{"index":0,"id":"call_simulated000001_1"`, `{"index":0,"id":"call_simulated000001_2"`, `\"call\":2}"`)
	f("int-ids", `data: {"id":7,`, `data: {"id":7,`)
	f("error-mid-stream", `"content":"Hi"`, `data: {"error":{"message":"Our servers are currently overloaded. Please try again later.","type":"server_error","param":null,"code":"server_is_overloaded"}}`)
	f("429-mid-stream", `data: {"error":{"message":"Rate limit reached for gpt-5.5 in organization org-simulated on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.`)
}

// TestStepsThatAreMade proves the steps that a test writes itself.
func TestStepsThatAreMade(t *testing.T) {
	f := func(step simulator.Step, name, want string) {
		t.Helper()
		bothWays(t, func(t *testing.T, c client) {
			c.Push("a", step)
			resp, body, err := c.ask(t, streamBody)
			got := ending(err)
			if resp != nil {
				got = resp.Status + " " + resp.Header.Get("Content-Type") + " " + resp.Header.Get("X-Own") + " " + string(body) + " " + got
			}
			if got != want {
				t.Errorf("the client saw %q, want %q", got, want)
			}
			if c.Calls("a")[0].Step != name {
				t.Errorf("the call's step is %q, want %q", c.Calls("a")[0].Step, name)
			}
		}, accountA)
	}

	f(simulator.Status(429, `{"x":1}`, map[string][]string{"X-Own": {"1"}}), "status 429", `429 Too Many Requests application/json 1 {"x":1} end`)
	f(simulator.Status(502, "<html>", nil), "status 502", "502 Bad Gateway text/html; charset=UTF-8  <html> end")
	f(simulator.Status(503, "busy", map[string][]string{"Content-Type": {"text/plain"}}), "status 503", "503 Service Unavailable text/plain  busy end")
	f(simulator.Stream("data: 1\n\n", "data: [DO", "NE]\n\n"), "stream", "200 OK text/event-stream; charset=utf-8  data: 1\n\ndata: [DONE]\n\n end")
	f(simulator.Stream(), "stream", "200 OK text/event-stream; charset=utf-8   end")
	f(simulator.Raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), "raw", "200 OK   abc unexpected EOF")
	f(simulator.Raw(""), "raw", "EOF")
}
