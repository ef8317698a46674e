package configs

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExampleLoads (F01): the file that serve --init writes loads on a machine where nothing is set up, says what is
// missing, and starts as soon as a key is there.
func TestExampleLoads(t *testing.T) {
	bare := parse(t, string(Example()), nil)
	want := "router_profiles.yaml:74:3: warning: profile openai-main has no credential: set its auth_config.api_key\n" +
		"router_profiles.yaml:108:3: warning: profile openrouter-backup has no credential: set its auth_config.api_key"
	if diff := cmp.Diff(want, bare.Findings().Error()); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	ready := parse(t, string(Example()), map[string]string{"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2"})
	if len(ready.Findings()) > 0 {
		t.Errorf("findings with both keys set:\n%v", ready.Findings())
	}
}

// TestExampleDefaults: a line of the example that says "default" changes nothing when it is taken out, and one that is
// commented out changes nothing when it is put in.
func TestExampleDefaults(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^(\s*)# (\s*[a-z_]+:( .*)?)$`)
	says := regexp.MustCompile(`# .*\bdefault\b`)
	var without, with []string
	for line := range strings.Lines(string(Example())) {
		isDefault := says.MatchString(line) && strings.Contains(line, ": ") && !strings.HasPrefix(line, "# A line")
		if !isDefault || commented.MatchString(line) {
			without = append(without, line)
		}
		if commented.MatchString(line) && (isDefault || strings.Contains("# runs:\n#   runtimes:\n# journal:\n", line)) {
			line = commented.ReplaceAllString(line, "$1$2")
		}
		with = append(with, line)
	}
	if n := strings.Count(string(Example()), "\n") - len(without); n < 40 {
		t.Fatalf("only %d lines say default", n)
	}
	want := parse(t, string(Example()), nil)
	f := func(what string, lines []string) {
		t.Helper()
		got := parse(t, strings.Join(lines, ""), nil)
		if diff := cmp.Diff(string(want.Effective()), string(got.Effective())); diff != "" {
			t.Errorf("%s (-example +got)\n%s", what, diff)
		}
	}
	f("without the default lines", without)
	f("with the commented lines", with)
}

// TestExampleHasEveryKey: what may stand in the file stands in the example, so nothing is to be learnt from the source.
func TestExampleHasEveryKey(t *testing.T) {
	full := parse(t, string(Example()), nil)
	for line := range strings.Lines(string(full.Effective())) {
		key, _, _ := strings.Cut(strings.TrimLeft(line, " -"), ":")
		if !regexp.MustCompile(`(?m)[\s{]` + regexp.QuoteMeta(strings.Trim(key, "'\n")) + `\b`).Match(Example()) {
			t.Errorf("the example does not mention %s", key)
		}
	}
}

func TestInit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "router_profiles.yaml")
	if err := Init(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	load(t, path, nil)

	// A second run must leave what the user made of it alone.
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*ExistsError](Init(path)); !ok {
		t.Error("an existing file was not refused")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "mine" {
		t.Errorf("the existing file was changed: %q, %v", data, err)
	}
	if err := Init(filepath.Join(path, "below")); err == nil {
		t.Error("a path below a file was accepted")
	}
}
