package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// J28: keys, tokens, authorization values and e-mail addresses go; everything else stays.
func TestText(t *testing.T) {
	r := New([]string{"hub-client-key-1", "short"})
	f := func(in, want string) {
		t.Helper()
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	f("use sk-proj-abcdefghijklmnop1234 now", "use [redacted] now")
	f("sk-ant-api03-AAAAAAAAAAAAAAAAAAAA", "[redacted]")
	f("ghp_0123456789abcdefghijABCDEFGHIJ0123", "[redacted]")
	f("id AKIAIOSFODNN7EXAMPLE.", "id [redacted].")
	f("AIza"+strings.Repeat("x", 35), "[redacted]")
	f("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_x", "[redacted]")
	f("Authorization: Bearer abcdefgh12345678", "Authorization: [redacted]")
	f("Proxy-Authorization=0123456789abcdefghi", "Proxy-Authorization=[redacted]")
	f("Bearer abcdefgh12345678 it is", "Bearer [redacted] it is")
	f("authorization: Basic dXNlcjpwYXNz", "authorization: [redacted]")
	f("OPENAI_API_KEY=abcdef123456", "OPENAI_API_KEY=[redacted]")
	f(`password = "hunter22"`, `password = "[redacted]"`)
	f("curl 'https://x/?access_token=abc123def&n=1'", "curl 'https://x/?access_token=[redacted]&n=1'")
	f("postgres://app:s3cr3t@db.local/x", "postgres://[redacted]@db.local/x")
	f("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", "[redacted]\nrest")
	f("mail jane.doe+x@example.co.uk please", "mail [email] please")
	f("it is hub-client-key-1!", "it is [redacted]!")

	for _, same := range []string{
		"", "short", "sk-short", "the token is spent", "max_tokens: 4096 and tokens=many", "a key: value pair", "npm i left-pad@1.3.0", "@scope/pkg@next",
		"/home/jane/work/@scope/pkg", "commit 3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000", "password: ", "Basic understanding of things",
		"bearer of news", "if token == nil {", "secret: ${HUB_KEY}", "key=short", "token: string", "const token = getToken(req)", "password: required", "token = [redacted]", "authorization: the user must allow it",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==", "ssh://git.example/x",
	} {
		f(same, same)
	}
}

// J28, and workspace paths stay: only strings change, in place.
func TestJSON(t *testing.T) {
	r := New([]string{`we"ird-secret`})
	f := func(in, want string) {
		t.Helper()
		if got := string(r.JSON([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	f(`{"delta":"hi", "n":1.0,"big":9007199254740993}`, `{"delta":"hi", "n":1.0,"big":9007199254740993}`)
	f(`{"args":{"api_key":"x","n":[1, "sk-abcdefghijklmnop1234"]},"z":1.50}`, `{"args":{"api_key":"[redacted]","n":[1, "[redacted]"]},"z":1.50}`)
	f(`{"Authorization" : "anything", "headers":["Bearer abcdefgh12345"]}`, `{"Authorization" : "[redacted]", "headers":["Bearer [redacted]"]}`)
	f(`{"text":"line\nmail me@example.org"}`, `{"text":"line\nmail [email]"}`)
	f(`{"workspace":"/home/me@example.org/p","to":"me@example.org"}`, `{"workspace":"/home/me@example.org/p","to":"[email]"}`)
	f(`{"a":"say we\"ird-secret"}`, `{"a":"say [redacted]"}`)
	f(`[{"password":"x"},"plain words"]`, `[{"password":"[redacted]"},"plain words"]`)
	f(`{"password":"","secret":null,"max_tokens":"4096"}`, `{"password":"","secret":null,"max_tokens":"4096"}`)
	f(`{"password":["one","two"]}`, `{"password":["[redacted]","[redacted]"]}`)
	f(`"broken sk-abcdefghijklmnop1234`, `"broken [redacted]`)
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"api_key":"x","a":["me@example.org",{"b":"\u0073k-abcdefghijklmnop1234"}]}`))
	f.Add([]byte(`{"a":"\ud800","password":"\\\""}`))
	r := New([]string{"known-secret"})
	f.Fuzz(func(t *testing.T, b []byte) {
		out := r.JSON(b)
		if json.Valid(b) && !json.Valid(out) {
			t.Fatalf("%q became %q, which is no JSON", b, out)
		}
		if strings.Contains(string(out), "known-secret") && json.Valid(b) && !strings.Contains(string(out), `known-secret":`) {
			t.Fatalf("%q kept a known secret: %q", b, out)
		}
	})
}

func BenchmarkDelta(b *testing.B) {
	r := New([]string{"zq-client-key-1", "xj-secret-of-mine"})
	for _, c := range []struct{ name, payload string }{
		{"token", `{"message_id":"msg_1","delta":" word"}`},
		{"line", `{"message_id":"msg_1","delta":"and then the function returns what it was given, unless it is told otherwise. "}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.JSON([]byte(c.payload))
			}
		})
	}
}
