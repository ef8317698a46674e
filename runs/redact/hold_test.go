package redact

import "testing"

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
