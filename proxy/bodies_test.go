package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/quota"
)

// errorBodies are what stands in for an error, in the shapes that providers, proxies and load balancers send.
var errorBodies = []struct{ name, text string }{
	{"JSON object", `{"error":{"message":"Something is not right here, says the provider","type":"x","param":null,"code":"y"}}`},
	{"JSON string", `"Something is not right here, says the provider"`},
	{"HTML", `<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Error</h1><hr>nginx</body></html>`},
	{"empty", ``},
	{"10 MB", `{"error":{"message":"` + strings.Repeat("x", 10<<20) + `","type":"x","code":"y"}}`},
	{"10 MB of HTML", `<html>` + strings.Repeat("<p>", 10<<20/3)},
	{"null", `null`},
	{"array", `[{"error":{"message":"Something is not right here","code":"y"}}]`},
	{"error is a string", `{"error":"Something is not right here, says the provider"}`},
	{"error is null", `{"error":null,"message":"Something is not right here, says the provider"}`},
	{"error is empty", `{"error":{}}`},
	{"code is a number", `{"error":{"message":"Something is not right here, says the provider","type":"x","code":400}}`},
	{"code is null", `{"error":{"message":"Something is not right here, says the provider","type":"x","code":null}}`},
	{"no type", `{"error":{"message":"Something is not right here, says the provider","code":"y"}}`},
	{"message is an object", `{"error":{"message":{"text":"Something is not right here"},"type":"x","code":"y"}}`},
	{"detail", `{"detail":"Something is not right here, says the provider"}`},
	{"not UTF-8", "{\"error\":{\"message\":\"\xff\xfe says the provider, and so on and on\",\"code\":\"y\"}}"},
	{"cut", `{"error":{"message":"Someth`},
}

// readError reads an error that may be the provider's own: libraries want an object with a message, and no number for a code.
func readError(got reply) error {
	var told struct {
		Error struct {
			Message string
			Code    *string
		}
	}
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		return err
	}
	if told.Error.Message == "" || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		return errors.New("no message, or not called JSON")
	}
	return nil
}

// P23: whatever stands in for an error, at whatever status, plain or streamed: it has a class, the next account answers or
// the client reads an error that it can read, and nothing panics. The same body on the last account is told by the hub, or
// by the provider's words in a shape that every library reads: an object whose code is a string.
func TestErrorBodies(t *testing.T) {
	classes := []quota.Class{
		quota.QuotaExhausted, quota.RateLimited, quota.Billing, quota.AuthInvalid, quota.Forbidden, quota.Overloaded, quota.ServerError, quota.Timeout,
		quota.InvalidRequest, quota.ContentPolicy, quota.ContextTooLong, quota.RequestTooLarge, quota.ModelNotFound,
	}
	for _, status := range []int{200, 400, 401, 402, 403, 404, 408, 413, 418, 422, 429, 500, 502, 503, 529} {
		for _, body := range errorBodies {
			if len(body.text) > 1<<20 && !slices.Contains([]int{200, 400, 429, 500}, status) {
				continue // it is the size that matters, and takes time
			}
			for _, call := range []string{ask, askStream} {
				var answers []reply
				var class quota.Class
				bubble(t, setup{}, func(_ *testing.T, r *rig) {
					r.sim.Push("a", simulator.Status(status, body.text, nil))
					answers = append(answers, r.chat(call))
					class = quota.Class(r.told.last().Attempts[0].Outcome)
					r.settle()
				})
				bubble(t, setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}}}}, func(_ *testing.T, r *rig) {
					r.sim.Push("a", simulator.Status(status, body.text, nil))
					answers = append(answers, r.chat(call))
					r.settle()
				})
				name := fmt.Sprintf("%d %s, stream %v", status, body.name, call == askStream)
				if !slices.Contains(classes, class) {
					t.Errorf("%s: class %q", name, class)
				}
				for i, got := range answers {
					switch err := readError(got); {
					case got.status == 200 && got.err == nil && i == 0 && strings.Contains(got.body, "chatcmpl-simulated"):
					case got.status < 400 || got.err != nil || err != nil:
						t.Errorf("%s, %d accounts behind it: %d %.300s, %v", name, 2-2*i, got.status, got.body, err)
					case got.status == 401 || got.status == 403 || got.status == 429 && class == quota.InvalidRequest:
						t.Errorf("%s: one account's %d went to the client: %.300s", name, got.status, got.body)
					}
				}
			}
		}
	}
}
