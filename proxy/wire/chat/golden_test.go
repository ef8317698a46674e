package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// archives calls f with each of the archives of a folder of testdata, as files by name.
func archives(t *testing.T, folder string, f func(t *testing.T, files map[string]string)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in testdata/%s: %v", folder, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for piece := range strings.SplitSeq("\n"+string(text), "\n-- ") {
				if file, content, ok := strings.Cut(piece, " --\n"); ok {
					files[file] = strings.TrimSpace(content) + "\n"
				}
			}
			f(t, files)
		})
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\ngot whole:\n%s", what, diff, got)
	}
}

// What clients send, and what is understood of it.
func TestDecodeGolden(t *testing.T) {
	archives(t, "decode", func(t *testing.T, files map[string]string) {
		r, err := Decode([]byte(files["body.json"]))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "request", dump(r), files["request"])
	})
}
