package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the .want files of testdata/bad_*.txtar")

// TestBadFiles (F02): each file of testdata/bad_*.txtar is refused with exactly the lines beside it: every error of the
// file, each with its line and column, and none of them with a secret.
func TestBadFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/bad_*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, path := range archives {
		comment, files := readArchive(readTestdata(t, filepath.Base(path)))
		for i, f := range files {
			got := refusal(t, f)
			if diff := cmp.Diff(f.want, got); diff != "" && !*update {
				t.Errorf("%s: %s (-want +got)\n%s", path, f.name, diff)
			}
			files[i].want = got
		}
		if *update {
			if err := os.WriteFile(path, []byte(writeArchive(comment, files)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// refusal is the error of a file, with a line break at its end.
func refusal(t *testing.T, f badFile) string {
	t.Helper()
	whole := completed(t, f.data)
	c, err := Parse(f.name, []byte(whole), noEnv)
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		t.Errorf("%s: was accepted: %v", f.name, c)
		return ""
	}
	for _, p := range problems {
		if p.Severity != Error || p.Line < 1 || p.Line > 1+strings.Count(whole, "\n") || p.Column < 1 {
			t.Errorf("%s: a problem of the wrong kind or place: %v", f.name, p)
		}
	}
	if strings.Contains(err.Error(), "4242") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: the error gives a secret away:\n%v", f.name, err)
	}
	return err.Error() + "\n"
}

// completed adds the blocks that every file needs at its end, where they move no line. A file that begins with # alone
// stays as it is, and so does one without any block.
func completed(t *testing.T, data string) string {
	t.Helper()
	if strings.HasPrefix(data, "# alone") || !strings.Contains(data, ":") {
		return data
	}
	minimal := readTestdata(t, "minimal.yaml")
	roles, profiles, _ := strings.Cut(minimal, "profiles:\n")
	if !strings.Contains("\n"+data, "\nroles:") {
		data += roles
	}
	if !strings.Contains("\n"+data, "\nprofiles:") {
		data += "profiles:\n" + profiles
	}
	return data
}

func readTestdata(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func noEnv(string) string { return "" }

// badFile is one file of an archive and the lines it must be refused with.
type badFile struct{ name, data, want string }

var archiveMark = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// readArchive splits a txtar archive whose files come in pairs, X.yaml and X.want.
func readArchive(text string) (comment string, files []badFile) {
	marks := archiveMark.FindAllStringSubmatchIndex(text, -1)
	comment = text[:marks[0][0]]
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name, data := text[m[2]:m[3]], text[m[1]:end]
		if strings.HasSuffix(name, ".want") {
			files[len(files)-1].want = data
			continue
		}
		files = append(files, badFile{name: name, data: data})
	}
	return comment, files
}

func writeArchive(comment string, files []badFile) string {
	for _, f := range files {
		comment += "-- " + f.name + " --\n" + f.data + "-- " + strings.TrimSuffix(f.name, ".yaml") + ".want --\n" + f.want
	}
	return comment
}
