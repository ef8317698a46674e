package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

// TestOrderOfBlocksIsFree: in whatever order the blocks stand, the configuration is the same.
func TestOrderOfBlocksIsFree(t *testing.T) {
	blocks := topBlocks(everyKey)
	if len(blocks) != 9 {
		t.Fatalf("%d blocks", len(blocks))
	}
	want := parse(t, everyKey, everyKeyEnv)
	rapid.Check(t, func(rt *rapid.T) {
		file := strings.Join(rapid.Permutation(blocks).Draw(rt, "blocks"), "")
		got, err := Parse("router_profiles.yaml", []byte(file), func(name string) string { return everyKeyEnv[name] })
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(string(want.Effective()), string(got.Effective())); diff != "" {
			rt.Fatalf("(-as written +permuted)\n%s", diff)
		}
		if diff := cmp.Diff(messages(want.Findings()), messages(got.Findings())); diff != "" {
			rt.Fatalf("findings (-as written +permuted)\n%s", diff)
		}
	})
}

// topBlocks cuts a file before each key of the top level.
func topBlocks(file string) []string {
	var blocks []string
	for line := range strings.Lines(strings.TrimLeft(file, "\n")) {
		if line[0] != ' ' {
			blocks = append(blocks, "")
		}
		blocks[len(blocks)-1] += line
	}
	return blocks
}

func messages(ps Problems) []string {
	var list []string
	for _, p := range ps {
		list = append(list, p.Message)
	}
	slices.Sort(list)
	return list
}

// TestAllErrorsAreCollected: one broken file shows all that is wrong with it, up to a bound that is stated.
func TestAllErrorsAreCollected(t *testing.T) {
	var file strings.Builder
	file.WriteString("roles: {orchestrator: {}}\nprofiles:\n")
	for i := range 300 {
		fmt.Fprintf(&file, "  p%d: {provider: openai, max_concurrency: 0}\n", i)
	}
	_, err := Parse("f", []byte(file.String()), noEnv)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems || !strings.HasPrefix(lines[0], "f:3:43: error: profiles.p0.") {
		t.Errorf("%d lines, first %s", len(lines), lines[0])
	}
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, "error: … and 201 more; mend these first") {
		t.Errorf("last line %s", last)
	}
}

// TestBrokenLine: the line named is the one that breaks the YAML, not the one where the construct around it began.
func TestBrokenLine(t *testing.T) {
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "  p%d:\n    provider: openai\n    capabilities: [\n      coding,\n      reasoning,\n    ]\n", i)
	}
	f := func(file string, want int) {
		t.Helper()
		_, err := Parse("f", []byte(file), noEnv)
		if want := fmt.Sprintf("f:%d:", want); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "broken YAML") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	f("profiles:\n"+long.String()+"  q: [\n", 2402)
	f("profiles:\n"+long.String()+" q: x\n"+long.String(), 2402)
	f("profiles:\n  x: \"\n"+long.String(), 2)
	f("profiles:\n  x: }\n"+long.String(), 2)
	f("a: *b", 1)
}

func TestDidYouMean(t *testing.T) {
	known := []string{"listen", "admin_listen", "cold_spare", "key", "ü"}
	for word, want := range map[string]string{
		"lisen": "listen", "lsiten": "listen", "listn": "listen", "cold": "cold_spare", "kye": "key", "Listen": "listen",
		"colour": "", "x": "", "": "", "entirely_else": "", strings.Repeat("l", 5000): "",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := didYouMean(word, known); got != want {
			t.Errorf("%.20s: %q, want %q", word, got, want)
		}
	}
}

// lineBreak is what ends a line to YAML.
var lineBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// FuzzParse: no file makes the parser panic or point outside the file, and what is accepted survives being printed.
func FuzzParse(f *testing.F) {
	// Small seeds: the fuzzer shrinks whatever finds a new path, which takes minutes from a whole file.
	f.Add(readTestdata(f, "minimal.yaml"))
	f.Add(canaryFile)
	for _, block := range topBlocks(everyKey) {
		f.Add(block)
	}
	for _, name := range []string{"bad_yaml.txtar", "bad_server.txtar", "bad_router.txtar", "bad_roles.txtar", "bad_profiles.txtar", "bad_later.txtar"} {
		_, files := readArchive(readTestdata(f, name))
		for _, bad := range files {
			f.Add(bad.data)
		}
	}
	f.Fuzz(func(t *testing.T, file string) {
		c, err := Parse("f", []byte(file), func(string) string { return "" })
		found, _ := err.(Problems)
		if err == nil {
			found = c.Findings()
			if _, err := Parse("effective", c.Effective(), noEnv); err != nil && !strings.Contains(string(c.Effective()), "[redacted]") {
				t.Errorf("the effective configuration is refused: %v\n%s", err, c.Effective())
			}
		}
		for _, p := range found {
			if p.Line < 1 || p.Line > 1+len(lineBreak.FindAllString(file, -1)) || p.Column < 1 || p.Column > 1+len(file) || strings.Contains(p.Message, "\n") {
				t.Errorf("a problem outside the file or on several lines: %q", p.String())
			}
		}
		if err != nil && len(found) == 0 {
			t.Errorf("refused without a word")
		}
	})
}
