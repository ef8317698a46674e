package configs

import (
	"fmt"
	"strings"
	"testing"
)

// What operators have switched wins over the file until the file's own word changes.
func TestSwitched(t *testing.T) {
	parse := func(accounts string) *Config {
		t.Helper()
		var file strings.Builder
		file.WriteString("roles: {r: {preferred_chain: [b]}}\nprofiles:\n")
		for line := range strings.SplitSeq(accounts, ", ") {
			id, keys, _ := strings.Cut(line, " ")
			file.WriteString(fmt.Sprintf("  %s: {provider: openai-compatible, custom_base_url: \"http://127.0.0.1:1\", auth_config: {api_key: k}, %s}\n", id, keys))
		}
		c, err := Parse("f.yaml", []byte(file.String()), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	told := func(c *Config) string {
		var all []string
		for i, p := range c.Table().Profiles {
			if p.Enabled != c.Profiles[i].Enabled || p.Main != c.Profiles[i].Main {
				t.Errorf("%s: the table is another's", p.ID)
			}
			all = append(all, fmt.Sprintf("%s %v %v", p.ID, p.Enabled, p.Main))
		}
		return strings.Join(all, ", ")
	}
	var s Switches
	f := func(file, want string) {
		t.Helper()
		c := parse(file)
		next, left, err := c.Switched(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := told(next); got != want {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
		if was := told(c); (next == c) != (was == want) {
			t.Errorf("the file itself became %s", was)
		}
		s = left
	}
	const file = "a main: true, b enabled: false, c main: false"
	f(file, "a true true, b false false, c true false")

	s = Switches{Enabled: map[string]bool{"a": false, "b": true, "c": true, "gone": false}, Main: parse(file).MainOf("c")}
	f(file, "a false false, b true false, c true true")
	if len(s.Enabled) != 2 {
		t.Errorf("what says nothing new is kept: %v", s.Enabled)
	}
	f("a main: true, b enabled: true, c main: false", "a false false, b true false, c true true") // the file has come to say so
	f("a main: true, b enabled: false, c main: false", "a false false, b false false, c true true")
	f("a main: false, b enabled: false, c main: false", "a false false, b false false, c true false") // another word on the main account
	f("b enabled: true, a main: false", "b true false, a false false")
	f("b main: true", "b true true")
	f(file, "a true true, b false false, c true false")
	s.Main = parse(file).MainOf("nobody")
	f(file, "a true true, b false false, c true false")
}
