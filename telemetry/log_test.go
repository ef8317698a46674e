package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// canary stands in every secret of TestCanary; no log line may hold it.
const canary = "CANARYcanary0123456789"

type holder struct {
	Name   string            `json:"name"`
	APIKey string            `json:"api_key"`
	Extra  map[string]string `json:"extra"`
}

type nilStringer struct{ s string }

func (n *nilStringer) String() string { return n.s }

// F06: whatever way a secret takes into a log line, it does not come out.
func TestCanary(t *testing.T) {
	location, err := url.Parse("redis://hub:" + canary + "@10.0.0.1:6379/0")
	if err != nil {
		t.Fatal(err)
	}
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJ" + canary + "." + canary
	secrets := []any{
		slog.String("authorization", canary),
		slog.String("Proxy-Authorization", canary),
		slog.String("api_key", canary),
		slog.String("x-api-key", canary),
		slog.String("apiKey", canary),
		slog.String("token", canary),
		slog.String("refresh_token", canary),
		slog.String("client.secret", canary),
		slog.String("Set-Cookie", canary),
		slog.String("password", canary),
		slog.Any("token", []byte(canary)),
		slog.Group("credentials", slog.String("value", canary)),
		slog.Any("header", http.Header{"X-Api-Key": {canary}, "Accept": {"Bearer " + canary}}),
		slog.Any("struct", holder{Name: "a", APIKey: canary, Extra: map[string]string{"k": "sk-" + canary}}),
		slog.Any("pointer", &holder{APIKey: canary}),
		slog.Any("list", []string{"sk-" + canary}),
		slog.Any("bytes", []byte("AIza"+canary)),
		slog.Any("channel", struct{ C chan int }{}),
		slog.Any("url", location),
		slog.Any("err", fmt.Errorf("call upstream: %w", &url.Error{Op: "Post", URL: "https://x/v1?key=" + canary, Err: errors.New("refused")})),
		slog.Any("exchange", Exchange{Err: "upstream said: key sk-proj-" + canary + " is wrong"}),
		slog.String("text", "Authorization: Bearer "+canary),
		slog.String("text", "authorization: basic "+canary),
		slog.String("text", "use sk-ant-api03-"+canary),
		slog.String("text", "use AIza"+canary),
		slog.String("text", jwt),
		slog.String("text", "Cookie: a=b; session="+canary),
		slog.String("text", `{"api_key": "`+canary+`"}`),
		slog.String("text", "GET /admin/v1/events?ticket="+canary),
		slog.String("text", "password="+canary),
	}
	for _, format := range []string{"text", "json"} {
		for _, secret := range secrets {
			var out bytes.Buffer
			log := newTestLogger(t, &out, format)
			log.Info("plain", secret)
			log.With(secret).WithGroup("g").Info("with", "n", 1)
			log.WithGroup("outer").Error("grouped", secret)
			if line := out.String(); strings.Contains(line, canary) {
				t.Errorf("%s, %v: the secret came out:\n%s", format, secret, line)
			} else if strings.Count(line, "\n") != 3 {
				t.Errorf("%s, %v: want three lines:\n%s", format, secret, line)
			}
		}
		var out bytes.Buffer
		newTestLogger(t, &out, format).Info("start with sk-" + canary)
		if strings.Contains(out.String(), canary) {
			t.Errorf("%s: the secret came out of the message:\n%s", format, out.String())
		}
	}
}

// Redaction that eats what an operator needs would be switched off: these come out as they went in.
func TestRedactKeepsTheRest(t *testing.T) {
	f := func(in slog.Attr, want string) {
		t.Helper()
		var out bytes.Buffer
		newTestLogger(t, &out, "json").Info("m", in)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%v: want %s in:\n%s", in, want, out.String())
		}
	}
	f(slog.Int("input_tokens", 7), `"input_tokens":7`)
	f(slog.Duration("token", time.Second), `"token":1000000000`)
	f(slog.String("token", ""), `"token":""`)
	f(slog.Any("token", nil), `"token":null`)
	f(slog.String("path", "/v1/chat/completions"), `"path":"/v1/chat/completions"`)
	f(slog.String("profile", "ask-me-something-hard"), `"profile":"ask-me-something-hard"`)
	f(slog.String("proxy_addr", "127.0.0.1:7400"), `"proxy_addr":"127.0.0.1:7400"`)
	f(slog.String("tried", "codex:quota_exhausted,claude:ok"), `"tried":"codex:quota_exhausted,claude:ok"`)
	f(slog.String("url", "https://api.x.ai/v1"), `"url":"https://api.x.ai/v1"`)
	f(slog.Any("err", errors.New("max_tokens is too large: 5")), `"err":"max_tokens is too large: 5"`)
	f(slog.Any("list", []int{1, 2}), `"list":[1,2]`)
	f(slog.Any("nil", (*nilStringer)(nil)), `"nil":"!panic in *telemetry.nilStringer"`)
	f(slog.String("name", "Тариф"), `"name":"Тариф"`)
}

// Reference row 37: what a client sends cannot forge a line or drive the reader's terminal.
func TestLogInjection(t *testing.T) {
	evil := "gpt\r\nlevel=ERROR msg=forged\x1b[2J\u009b31m\u202eabc\x7f"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		x := Exchange{Model: evil, Err: evil}
		x.Log(t.Context(), newTestLogger(t, &out, format))
		line := out.String()
		if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\r\x1b\u009b\u202e\x7f") {
			t.Errorf("%s: control characters came through: %q", format, line)
		}
	}
}

func TestNewLogger(t *testing.T) {
	f := func(level, format, want string) {
		t.Helper()
		var out bytes.Buffer
		log, err := NewLogger(&out, level, format)
		if err != nil {
			if err.Error() != want {
				t.Errorf("%s, %s: got error %q, want %q", level, format, err, want)
			}
			return
		}
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		log.Error("e")
		if got := fmt.Sprint(strings.Count(out.String(), "\n")); got != want {
			t.Errorf("%s, %s: got %s lines, want %s", level, format, got, want)
		}
	}
	f("debug", "text", "4")
	f("info", "json", "3")
	f("WARN", "Text", "2")
	f("error", "json", "1")
	f("loud", "json", `log level "loud": use debug, info, warn or error`)
	f("info", "auto", `log format "auto": use text or json`)
}

func newTestLogger(t *testing.T, out *bytes.Buffer, format string) *slog.Logger {
	t.Helper()
	log, err := NewLogger(out, "info", format)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func FuzzRedactText(f *testing.F) {
	f.Add("Bearer abc")
	f.Add("://\xff@")
	f.Add(`"token": "x`)
	f.Fuzz(func(t *testing.T, s string) {
		once := redactText(s + " sk-" + canary)
		if strings.Contains(once, canary) {
			t.Errorf("%q: the secret came out: %q", s, once)
		}
	})
}

func BenchmarkLog(b *testing.B) {
	log, err := NewLogger(discard{}, "info", "json")
	if err != nil {
		b.Fatal(err)
	}
	x := failedOver()
	b.ReportAllocs()
	for b.Loop() {
		x.Log(b.Context(), log)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
