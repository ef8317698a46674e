package redact

import (
	"strings"
	"testing"
)

// What is held back is the word that is not whole, and what promised a secret before it.
func TestHold(t *testing.T) {
	r := New(nil)
	f := func(text, held string) {
		t.Helper()
		if got := text[len(text)-r.Hold(text):]; got != held {
			t.Errorf("of %q waits %q, want %q", text, got, held)
		}
	}
	f("", "")
	f("the end. ", "")
	f("the sk-abc", "sk-abc")
	f("jane.d", "jane.d")
	f("Authorization: Bearer abc", "Authorization: Bearer abc")
	f("say Bearer ", "Bearer ")
	f("API_KEY = \"ab", "KEY = \"ab")
	f("password: ", "password: ")
	f("Go on:\n", "")
	f(string(make([]byte, 600)), "")
}

// A Chinese answer came to its observers in one piece, at its end: without blanks it is one word.
func TestHoldWithoutBlanks(t *testing.T) {
	r := New(nil)
	f := func(text, held string) {
		t.Helper()
		if got := text[len(text)-r.Hold(text):]; got != held {
			t.Errorf("of %q waits %q, want %q", text, got, held)
		}
	}
	f("今天天气很好", "")
	f("用token计算，然后：", "")
	f("钥匙是sk-abc", "sk-abc")
	f("写信给jane.d", "jane.d")
	f("пароль", "")
	f("password=пароль1", "password=пароль1")
	f("https://юзер:парол", "https://юзер:парол")
	f("https://例子/路径", "")
	f("Bearer 密", "Bearer 密")
}

// J28: a private key that came in pieces was kept line by line, for each line is an ordinary word.
func TestHoldPrivateKey(t *testing.T) {
	r := New(nil)
	f := func(text, held string) {
		t.Helper()
		if got := text[len(text)-r.Hold(text):]; got != held {
			t.Errorf("of %q waits %q, want %q", text, got, held)
		}
	}
	const begun = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
	f("It is -----BEGIN ", "-----BEGIN ")
	f("It is -----BEGIN RSA PRIVATE ", "-----BEGIN RSA PRIVATE ")
	f("It is -----BEGIN RSA PRIVATE KEY---", "-----BEGIN RSA PRIVATE KEY---")
	f("It is "+begun, begun)
	f("It is "+begun+"-----END RSA PRIV", begun+"-----END RSA PRIV")
	f("It is "+begun+"-----END RSA PRIVATE KEY-----", begun+"-----END RSA PRIVATE KEY-----")
	f("It is "+begun+"-----END RSA PRIVATE KEY-----\n", "")
	f("It is "+begun+"-----END RSA PRIVATE KEY-----\nand", "and")
	f("-----BEGIN CERTIFICATE-----\nMIIE\n", "")
	f("-----BEGIN at nine\n", "")
	f(begun+strings.Repeat("MIIE\n", 2000), "")
}
