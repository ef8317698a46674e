package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestReadQuotaLines: one line out for each line in, in order, in the contract's fields; unknown is null and a bad line
// says what is wrong with it.
func TestReadQuotaLines(t *testing.T) {
	gzipped := "H4sIAAAAAAAC/6tWKi5JLElVslIyMTGpBQC2X7FvDwAAAA=="
	in := strings.Join([]string{
		`{"id":"a","provider":"openai","status":429,"headers":{"retry-after-ms":"494","x-ratelimit-limit-tokens":"40","x-ratelimit-remaining-tokens":"0","x-ratelimit-reset-tokens":"1m"},"body":"{\"error\":{\"code\":\"rate_limit_exceeded\"}}","at":"2026-07-25T14:00:00+02:00"}`,
		``,
		`{"provider":"no-such-provider","status":200,"headers":{},"body":"{\"choices\":[]}","at":"2026-07-25T12:00:00Z","expect":{}}`,
		`{"status":`,
		`{"id":"d","provider":"x","status":503,"headers":{"content-encoding":"gzip"},"body":"` + gzipped + `","body_encoding":"base64","at":"2026-07-25T12:00:00Z"}`,
		`{"provider":"x","status":503,"body":"!","body_encoding":"base64","at":"2026-07-25T12:00:00Z"}`,
		`{"provider":"x","status":503,"body":"","body_encoding":"hex","at":"2026-07-25T12:00:00Z"}`,
		`{"provider":"x","status":0,"at":"2026-07-25T12:00:00Z"}`,
		`{"provider":"x","status":500}`,
		`{"provider":"x","status":"500","at":"2026-07-25T12:00:00Z"}`,
		`[]`,
		`HTTP/1.1 429 Too Many Requests`,
	}, "\n")
	want := []string{
		`{"id":"a","class":"rate_limited","scope":"model","failover":true,"retry_same_after_ms":494,"reset_at":"2026-07-25T12:00:00.494Z","buckets":[{"id":"openai.tokens","used_percent":100,"remaining_percent":0,"limit":40,"remaining":0,"reset_at":"2026-07-25T12:01:00Z"}],"source":"runtime_event","reason":"code:rate_limit_exceeded"}`,
		`{"id":null,"class":"ok","scope":"request","failover":false,"retry_same_after_ms":null,"reset_at":null,"buckets":[],"source":null,"reason":null}`,
		`{"error":"line 4: unexpected end of JSON input"}`,
		`{"id":"d","class":"overloaded","scope":"provider","failover":true,"retry_same_after_ms":null,"reset_at":null,"buckets":[],"source":"runtime_event","reason":"status:503 body:broken_json"}`,
		`{"error":"line 6: body: illegal base64 data at input byte 0"}`,
		`{"error":"line 7: body_encoding \"hex\" is not known; leave it out or use \"base64\""}`,
		`{"error":"line 8: status 0 is not an HTTP status"}`,
		`{"error":"line 9: at is missing: times cannot be told without the instant of the response (RFC 3339)"}`,
		`{"error":"line 10: status cannot be a JSON string"}`,
		`{"error":"line 11: a line is a JSON object; wrap what was received: {\"provider\":\"openai\",\"status\":429,\"headers\":{},\"body\":{…},\"at\":\"2026-07-25T12:00:00Z\"}"}`,
		`{"error":"line 12: a line is a JSON object; wrap what was received: {\"provider\":\"openai\",\"status\":429,\"headers\":{},\"body\":{…},\"at\":\"2026-07-25T12:00:00Z\"}"}`,
	}
	var out strings.Builder
	bad, err := readQuotaLines(strings.NewReader(in), &out, false)
	if err != nil || bad != 8 {
		t.Errorf("%d bad lines, error %v; want 8 and none", bad, err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of %d:\n%s\nwant line of %d:\n%s", i+1, len(got), got[min(i, len(got)-1)], len(want), want[min(i, len(want)-1)])
		}
	}
}

// TestReadQuotaLinesTooLong: a line above the limit ends the reading with an error, after the lines before it.
func TestReadQuotaLinesTooLong(t *testing.T) {
	in := `{"provider":"x","status":500,"at":"2026-07-25T12:00:00Z"}` + "\n" + strings.Repeat("x", quotaLineLimit+1)
	var out strings.Builder
	if _, err := readQuotaLines(strings.NewReader(in), &out, false); err == nil || !strings.Contains(out.String(), "server_error") {
		t.Errorf("error %v after %q", err, out.String())
	}
}

// TestPrettyQuota: the verdict for people.
func TestPrettyQuota(t *testing.T) {
	body := base64.StdEncoding.EncodeToString([]byte(`{"error":{"message":"Weekly usage limit reached. Resets in 2 days."}}`))
	in := fmt.Sprintf(`{"id":"w","provider":"opencode-go","status":429,"headers":{"x-ratelimit-limit":"8","x-ratelimit-remaining":"2"},"body":%q,"body_encoding":"base64","at":"2026-07-25T12:00:00Z"}`, body) +
		"\n" + `{"provider":"openai","status":204,"at":"2026-07-25T12:00:00Z"}` + `
{
  "provider": "claude",
  "status": 429,
  "headers": {"anthropic-ratelimit-unified-7d_oi-status": ["rejected"], "retry-after": 120},
  "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "your limit"}},
  "at": "2026-07-25T12:00:00Z"
}
{"provider":"codex","status":400,"headers":{},"body":"{\"error\":{\"code\":\"websocket_connection_limit_reached\"}}","at":"2026-07-25T12:00:00Z"}
{"provider":"openai",
{"error":{"message":"x"}}
`
	want := `w: opencode-go 429 means quota_exhausted of the account (phrase:weekly usage limit); another account may help
  the same account is invited back in 48h0m0s
  usable again at 2026-07-27T12:00:00Z
  opencode.ratelimit: 25% left (2 of 8)
  opencode.7d: 0% left, resets at 2026-07-27T12:00:00Z
openai 204 means ok
claude 429 means quota_exhausted of the model family fable (header:anthropic-ratelimit-unified); another account may help
  the same account is invited back in 2m0s
  usable again at 2026-07-25T12:02:00Z
  claude.weekly.fable: 0% left
codex 400 means server_error of the request (code:websocket_connection_limit_reached); another account would not help
  the same account is invited back at once
{"error":"line 11: unexpected end of JSON input"}
{"error":"line 12: a body alone does not say whose it is; wrap it: {\"provider\":\"openai\",\"status\":429,\"headers\":{},\"body\":{…},\"at\":\"2026-07-25T12:00:00Z\"}"}
`
	var out strings.Builder
	if bad, err := readQuotaLines(strings.NewReader(in), &out, true); bad != 2 || err != nil || out.String() != want {
		t.Errorf("%d bad, error %v:\n%s\nwant:\n%s", bad, err, out.String(), want)
	}
}
