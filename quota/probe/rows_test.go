package probe

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rowCase is one entry of testdata/*.txt: an account, "> " what is to be asked, "< " what is answered, and behind "= "
// what is known then. The bodies are recorded ones, or made after the providers' documentation.
type rowCase struct {
	at      string // file and line
	target  Target
	with    keys
	asked   []string
	answers []string
	want    string
}

func rowCases(t *testing.T, file string) []rowCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []rowCase
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		last := len(cases) - 1
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "> "):
			cases[last].asked = append(cases[last].asked, line[2:])
		case strings.HasPrefix(line, "< "):
			cases[last].answers = append(cases[last].answers, line[2:])
		case strings.HasPrefix(line, "= "):
			cases[last].want = line[2:]
		case strings.HasPrefix(line, "  "):
			cases[last].want += "\n" + line
		default:
			cases = append(cases, rowOfText(t, fmt.Sprintf("%s:%d", filepath.Base(file), n), line))
		}
	}
	if err := lines.Err(); err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(cases), err)
	}
	return cases
}

// rowOfText reads "provider key|oauth|none [name=value …]".
func rowOfText(t *testing.T, at, line string) rowCase {
	t.Helper()
	words := strings.Fields(line)
	c := rowCase{at: at, target: Target{Profile: "p", Provider: words[0], Name: words[0]}}
	switch words[1] {
	case "key":
		c.with = key
	case "oauth":
		c.with = oauth
	case "none":
	default:
		t.Fatalf("%s: credential %q", at, words[1])
	}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "service":
			c.target.ServiceURL = value
		case "base":
			c.target.BaseURL = value
		case "project":
			c.target.Project = value
		case "knows":
			c.with.Project = value
		default:
			t.Fatalf("%s: %q", at, word)
		}
	}
	return c
}

// TestRows plays every provider's row: what is asked, in what order, and what comes of the answers.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rows: %v", err)
	}
	for _, file := range files {
		for _, c := range rowCases(t, file) {
			var asked []string
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, sent(t, r))
				if len(asked) > len(c.answers) {
					return nil, fmt.Errorf("there is no answer number %d", len(asked))
				}
				status, body, _ := strings.Cut(c.answers[len(asked)-1], " ")
				code, err := strconv.Atoi(status)
				if err != nil {
					return nil, err
				}
				return answer(code, body), nil
			})
			p := prober(t, transport, c.with, nil, c.target)
			p.now = func() time.Time { return noon }
			got := tell(refresh(t, p, "p", false))
			if all := strings.Join(asked, "\n"); all != strings.Join(c.asked, "\n") {
				t.Errorf("%s: asked\n%s\nwant\n%s", c.at, all, strings.Join(c.asked, "\n"))
			}
			if got != c.want {
				t.Errorf("%s: got\n%s\nwant\n%s", c.at, got, c.want)
			}
		}
	}
}

// TestRowsAreWhole: every step of the table can be asked, and none spends or names another program.
func TestRowsAreWhole(t *testing.T) {
	taken := map[string]bool{}
	for _, r := range append(table, lists) {
		for name := range strings.FieldsSeq(r.names) {
			if taken[name] {
				t.Errorf("%s has two rows", name)
			}
			taken[name] = true
		}
		for _, s := range r.steps {
			text := strings.ToLower(fmt.Sprintf("%s %s %s %v", s.name, s.base, s.path, s.header))
			for _, word := range []string{"consume", "onboard", "claude-code", "claude-cli", "codex_cli", "agy", "antigravity/"} {
				if strings.Contains(text, word) {
					t.Errorf("%s: step %s has %q", r.names, s.name, word)
				}
			}
			if s.name == "" || s.read == nil || s.path == "" || s.path[0] != '/' || s.base != "" && !strings.HasPrefix(s.base, "https://") {
				t.Errorf("%s: step %q is not whole", r.names, s.name)
			}
		}
	}
}
