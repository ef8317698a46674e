package simulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestMalformed proves of every protocol that exactly one event is no JSON, and where.
func TestMalformed(t *testing.T) {
	protocols := map[simulator.Protocol]spoken{simulator.Chat: {path: "/v1/chat/completions", streamPath: "/v1/chat/completions", header: bearerHeader, plain: `{"model":"m","messages":[{"role":"user","content":"hello"}]}`, stream: `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`}}
	maps.Copy(protocols, otherProtocols)
	for protocol, p := range protocols {
		c := inMemory(p.streamPath, p.header, simulator.Account{Name: "a", Key: "sk-a"})
		c.Push("a", simulator.Malformed(2), simulator.Malformed(0))
		_, got := c.say(t, p.stream)
		broken, good := 0, 0
		for _, data := range dataLines([]byte(got)) {
			switch {
			case json.Valid(data) && broken == 0 && strings.Contains(string(data), "simulated"):
				good++
			case !json.Valid(data) && string(data) != "[DONE]":
				broken++
			}
		}
		if broken != 1 || good == 0 {
			t.Errorf("%s: %d events are no JSON, after %d: %s", protocol, broken, good, got)
		}
		c.path = p.path
		if _, got := c.say(t, p.plain); json.Valid([]byte(got)) || got == "" {
			t.Errorf("%s: the whole answer is %s", protocol, got)
		}
		if call := c.Calls("a")[0]; call.Step != "malformed 2" {
			t.Errorf("the step is %q", call.Step)
		}
	}
}

// TestQuotaOfOpenCode proves that OpenCode Go names the period of its plan, in both protocols it speaks.
func TestQuotaOfOpenCode(t *testing.T) {
	f := func(window time.Duration, want string) {
		t.Helper()
		for _, protocol := range []simulator.Protocol{simulator.Chat, simulator.Messages} {
			synctest.Test(t, func(t *testing.T) {
				p := spoken{path: "/v1/chat/completions", header: bearerHeader, plain: strings.Replace(plainBody, "gpt-5.5", "m", 1)}
				if protocol == simulator.Messages {
					p = otherProtocols[protocol]
				}
				c := inMemory(p.path, p.header, simulator.Account{Name: "a", Key: "sk-a", Quota: simulator.Quota{Calls: 1, Window: window, Style: simulator.QuotaOpenCode}})
				var resp *http.Response
				var got string
				for range 2 {
					resp, got = c.say(t, p.plain)
				}
				if got := resp.Status[:3] + " " + resp.Header.Get("Retry-After") + " " + got; got != want {
					t.Errorf("%s: got  %s\nwant %s", protocol, got, want)
				}
			})
		}
	}
	f(5*time.Hour, `429 18000 {"error":{"message":"5-hour usage limit reached. Resets in 5hr 0min.","type":"GoUsageLimitError"},"metadata":{"limitName":"5 hour","workspace":"wrk_simulated"},"type":"error"}`)
	f(7*24*time.Hour, `429 604800 {"error":{"message":"Weekly usage limit reached. Resets in 7 days.","type":"GoUsageLimitError"},"metadata":{"limitName":"weekly","workspace":"wrk_simulated"},"type":"error"}`)
	f(30*24*time.Hour, `429 2592000 {"error":{"message":"Monthly usage limit reached. Resets in 30 days.","type":"GoUsageLimitError"},"metadata":{"limitName":"monthly","workspace":"wrk_simulated"},"type":"error"}`)
	f(0, `429  {"error":{"message":"5-hour usage limit reached.","type":"GoUsageLimitError"},"metadata":{"limitName":"5 hour","workspace":"wrk_simulated"},"type":"error"}`)
}
