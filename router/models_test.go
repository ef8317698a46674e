package router

import (
	"strings"
	"testing"
)

// modelsTable has an account of each kind that matters to what a client may ask for.
func modelsTable(t *testing.T) *Table {
	t.Helper()
	big, small, off, unknown := account("big", "gpt-5.5", "m"), account("small", "m"), account("off", "tiny"), account("unknown", "m")
	unused := account("unused", "m", "nowhere")
	big.ContextLength, small.ContextLength, off.ContextLength, unused.ContextLength = 400_000, 128_000, 4_000, 1_000
	big.FallbackModels = []string{"gpt-5.5", "gpt-4o"}
	big.ModelMap = map[string]string{"fast": "gpt-5.5-mini", "coder": "gpt-5.5-codex", "default": "gpt-4o"}
	off.Enabled = false
	coder := role("coder", "big", "off/tiny", "unknown/fixed")
	coder.DefaultModel = "house"
	return table(t, []Profile{big, small, off, unknown, unused},
		coder, role("all", "big", "small", "off"), role("fixed-role", "small/fixed"), role("none", "unknown"))
}

func TestTableModels(t *testing.T) {
	tab := modelsTable(t)
	if got, want := strings.Join(tab.Models(), " "), "gpt-5.5 m gpt-4o gpt-5.5-codex fast gpt-5.5-mini fixed house"; got != want {
		t.Errorf("all: got %s, want %s", got, want)
	}
	for id, want := range map[string]string{
		"all": "gpt-5.5 m gpt-4o gpt-5.5-codex fast gpt-5.5-mini", "fixed-role": "fixed", "none": "m",
	} {
		if got := strings.Join(tab.RoleModels([]*Role{mustRole(t, tab, id)}), " "); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}

func TestTableWindows(t *testing.T) {
	tab := modelsTable(t)
	for id, want := range map[string]int{"coder": 400_000, "all": 128_000, "none": 0} {
		if got := tab.RoleWindow(mustRole(t, tab, id)); got != want {
			t.Errorf("window of role %s: got %d, want %d", id, got, want)
		}
	}
	for model, want := range map[string]int{
		"gpt-5.5": 400_000, "fast": 400_000, "m": 128_000, "fixed": 128_000, "tiny": 0, "nowhere": 0, "nobody's": 0,
	} {
		if got := tab.ModelWindow(model); got != want {
			t.Errorf("window of model %s: got %d, want %d", model, got, want)
		}
	}
}
