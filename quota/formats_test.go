package quota

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// formatCase is one entry of testdata/formats/*.txt: an answer as HTTP writes it, and behind "= " what it means. All came
// at noon. The entries are made after the providers' documentation and issue reports, to hold the rules to the formats.
type formatCase struct {
	at       string // file and line
	response Response
	want     string
}

// formatCases reads a file.
func formatCases(t testing.TB, file string) []formatCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []formatCase
	var c formatCase
	var body []string
	part := "start" // then "head", "body", "want"
	finish := func() {
		if part == "want" {
			c.response.Body = []byte(strings.Join(body, "\n"))
			cases = append(cases, c)
		}
		c, body, part = formatCase{}, nil, "start"
	}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case part == "start" && (line == "" || line[0] == '#'):
		case part == "start":
			provider, status, _ := strings.Cut(line, " ")
			code, err := strconv.Atoi(status)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, n, err)
			}
			c = formatCase{
				at:       fmt.Sprintf("%s:%d", filepath.Base(file), n),
				response: Response{Provider: provider, Status: code, Header: make(http.Header), At: noon},
			}
			part = "head"
		case part == "head" && line == "":
			part = "body"
		case part == "head":
			name, value, _ := strings.Cut(line, ": ")
			c.response.Header.Set(name, value)
		case part == "body" && strings.HasPrefix(line, "= "):
			c.want, part = line[2:], "want"
		case part == "body":
			body = append(body, line)
		case strings.HasPrefix(line, "  "):
			c.want += "\n" + line
		default:
			finish()
		}
	}
	finish()
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestFormats holds the rules of every provider to the formats that it documents or was seen to send, beyond the recorded
// cases: the same shapes with other words, numbers and windows.
func TestFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no formats: %v", err)
	}
	for _, file := range files {
		for _, c := range formatCases(t, file) {
			r := Read(c.response)
			if got := tellReading(r); got != c.want {
				t.Errorf("%s: (%s)\n%s\nwant\n%s", c.at, r.Reason, got, c.want)
			}
		}
	}
}

// tellReading writes a reading as text: "class scope [stay] [after ms] [until instant]" and a line for each bucket.
func tellReading(r Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Class, r.Scope)
	if !r.Failover && r.Class != OK {
		b.WriteString(" stay")
	}
	if r.RetryAfter > 0 || r.RetryNow {
		fmt.Fprintf(&b, " after %d", r.RetryAfter.Milliseconds())
	}
	if !r.ResetAt.IsZero() {
		b.WriteString(" until " + tellInstant(r.ResetAt))
	}
	if len(r.Buckets) > 0 {
		b.WriteString("\n  " + strings.ReplaceAll(tell(r.Buckets), "; ", "\n  "))
	}
	return b.String()
}
