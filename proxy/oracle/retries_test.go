package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// The retry rules that were measured with a server that always answers the same: how often each client came, and how long
// it slept. Jitter shortens or lengthens the backoff; a Retry-After is kept to the second.
func TestRetries(t *testing.T) {
	f := func(status int, body, want string, header ...string) {
		t.Helper()
		var got []string
		for _, c := range Clients() {
			tries, wait := Retries(c, status, headers(header), []byte(body))
			told := fmt.Sprint(tries)
			if wait > 0 {
				told += "/" + wait.String()
			}
			got = append(got, told)
		}
		if line := strings.Join(got, " "); line != want {
			t.Errorf("%d %s %v\n got %s\nwant %s", status, body, header, line, want)
		}
	}
	const none = `{"error":{"message":"no","code":"x"}}`
	// python node-6 node-7 go anthropic ai langchain codex claude-code
	f(400, none, "1 1 1 1 1 1 1 1 1")
	f(200, none, "1 1 1 1 1 1 1 1 1")
	f(402, none, "1 1 1 1 1 1 1 1 1")
	f(408, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/6s 7/1m3s 1 11/2m39.5s")
	f(409, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/6s 1 1 11/2m39.5s")
	f(413, none, "1 1 1 1 1 1 1 1 1")
	f(422, none, "1 1 1 1 1 1 7/1m3s 1 1")
	f(425, none, "1 1 1 1 1 1 7/1m3s 1 1")
	f(429, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/6s 1 1 11/2m39.5s")
	f(429, none, "1 1 1 1 1 3/6s 1 1 11/2m39.5s", "X-Should-Retry", "false")
	f(429, none, "3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 7/3m2s 1 11/5m0s", "Retry-After", "30")
	f(429, none, "3/3m20s 3/3m20s 3/1.5s 3/3m20s 3/3m20s 3/6s 1 1 1", "Retry-After", "100")
	f(429, none, "1 3/2h0m0s 3/1.5s 1 3/2h0m0s 3/6s 1 1 1", "Retry-After", "3600")
	f(429, none, "1 1 1 1 1 3/6s 1 1 1", "Retry-After", "3600", "X-Should-Retry", "false")
	f(429, none, "3/1s 3/1s 3/1s 3/1s 3/1s 3/1s 7/1m3s 1 11/5s", "Retry-After-Ms", "500", "Retry-After", "9")
	f(429, `{"error":{"message":"billing","code":"x"}}`, "3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 1 1 11/5m0s", "Retry-After", "30")
	f(429, `{"error":{"message":"no","code":"insufficient_quota"}}`, "3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 3/1m0s 1 1 11/5m0s", "Retry-After", "30")
	f(503, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/6s 7/1m3s 5/3s 11/2m39.5s")
	f(503, none, "1 3/20m0s 3/1.5s 1 3/20m0s 3/6s 7/1m3s 5/3s 1", "Retry-After", "600")
	f(529, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/6s 7/1m3s 5/3s 11/2m39.5s")
	f(400, none, "3/1.5s 3/1.5s 3/1.5s 3/1.5s 3/1.5s 1 1 1 1", "X-Should-Retry", "true")
}

func TestReadable(t *testing.T) {
	f := func(contentType, body, want string) {
		t.Helper()
		err := Readable(headers([]string{"Content-Type", contentType}), []byte(body))
		if got := fmt.Sprint(err); !strings.Contains(got, want) || want == "" {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
	f("application/json", `{"error":{"message":"a","type":"b","param":null,"code":"c"}}`, "<nil>")
	f("application/problem+json", `{}`, "content type")
	f("application/json", `<html>`, "read error body")
	f("application/json", `{"error":"a"}`, "read error body")
	f("application/json", `{"error":{"message":"","type":"b","code":"c"}}`, "no message")
	f("application/json", `{"error":{"message":"a","code":"c"}}`, "no type")
	f("application/json", `{"error":{"message":"a","type":"b","code":400}}`, "no string")
	f("application/json", `{"error":{"message":"a","type":"b","code":null}}`, "no string")
}
