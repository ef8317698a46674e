package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// P26: a credential prints nowhere, however it is printed and wherever it is inside of.
func TestSecretNeverPrints(t *testing.T) {
	const canary = "sk-canary-0001"
	p := account("a")
	p.Credential = NewSecret(canary)
	hidden := struct{ inner struct{ secret Secret } }{}
	hidden.inner.secret = p.Credential
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%f", "%10s", "%T", "%p"} {
		for _, v := range []any{p.Credential, &p.Credential, p, &p, []Secret{p.Credential}, hidden, map[string]Secret{"k": p.Credential}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(h).Info("m", "secret", p.Credential, "profile", p, "hidden", hidden)
	}
	if err := json.NewEncoder(&out).Encode([]any{p.Credential, p}); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary)} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%q is in the output", form)
		}
	}
	if !strings.Contains(out.String(), redacted) {
		t.Error("nothing says redacted")
	}
}

func TestSecret(t *testing.T) {
	s, empty := NewSecret("v"), NewSecret("")
	if s.Reveal() != "v" || s.Empty() || len(s.Fingerprint()) != 12 {
		t.Errorf("%q %v %q", s.Reveal(), s.Empty(), s.Fingerprint())
	}
	if empty.Reveal() != "" || !empty.Empty() || empty.Fingerprint() != "" || fmt.Sprint(empty) != "" {
		t.Errorf("empty: %q %v %q %v", empty.Reveal(), empty.Empty(), empty.Fingerprint(), empty)
	}
	if !s.Equal(NewSecret("v")) || s.Equal(NewSecret("w")) || s.Equal(empty) || !empty.Equal(Secret{}) {
		t.Error("equality")
	}
	if s.Fingerprint() != NewSecret("v").Fingerprint() || s.Fingerprint() == NewSecret("w").Fingerprint() {
		t.Error("fingerprints")
	}
}
