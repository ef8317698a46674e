package main

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArchFolders(t *testing.T) {
	law := rule{"the top level has the agreed folders alone", "the listing of the root is the first page of the design; a helper lives under the package that needs it"}
	agreed := strings.Fields("admin benchmarks configs proxy quota router runs telemetry")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// Folders whose names begin with a dot are there because a tool demands them.
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(agreed, e.Name()) {
			law.broken(t, e.Name(), "is none of %s", strings.Join(agreed, ", "))
		}
	}
}

func TestArchModules(t *testing.T) {
	law := rule{
		"go.mod and tools.mod ask for no newer Go than 1.26.8, and replace nothing",
		"a newer line shuts out machines whose toolchain is fixed; a replaced module is not the one whose name is written",
	}
	for _, name := range []string{"go.mod", "tools.mod"} {
		text, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", name).Output()
		if err != nil {
			t.Fatalf("go mod edit -json %s: %v", name, err)
		}
		var mod struct {
			Go      string
			Replace []struct{ Old struct{ Path string } }
		}
		if err := json.Unmarshal(text, &mod); err != nil {
			t.Fatal(err)
		}
		if newer(mod.Go, "1.26.8") {
			law.broken(t, name, "go %s", mod.Go)
		}
		for _, r := range mod.Replace {
			law.broken(t, name, "replaces %s", r.Old.Path)
		}
	}
}

// newer compares two versions of Go as numbers: 1.26.10 is newer than 1.26.8.
func newer(a, b string) bool {
	numbers := func(v string) []string {
		parts := strings.Split(v, ".")
		for i, p := range parts {
			parts[i] = strings.Repeat("0", max(0, 6-len(p))) + p
		}
		return parts
	}
	return slices.Compare(numbers(a), numbers(b)) > 0
}

func TestArchNewer(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		if newer(a, b) != want {
			t.Errorf("newer(%s, %s) is not %v", a, b, want)
		}
	}
	f("1.26.8", "1.26.8", false)
	f("1.26.0", "1.26.8", false)
	f("1.26", "1.26.8", false)
	f("1.26.10", "1.26.8", true)
	f("1.27.0", "1.26.8", true)
}

// The image cannot be built where there is no engine; what it promises can be read.
func TestArchDockerfile(t *testing.T) {
	law := rule{"the image is static, small, and not root's", "what it has not got cannot be attacked, and orchestrators refuse images whose user they cannot tell from root"}
	lines := instructions(t, "Dockerfile")
	stages := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "FROM ") })
	if want := []string{"FROM golang:1.26 AS build", "FROM scratch"}; !slices.Equal(stages, want) {
		law.broken(t, "Dockerfile", "stages are %q, want %q", stages, want)
	}
	last := lines[slices.Index(lines, "FROM scratch")+1:]
	for _, want := range []string{
		"USER 65532:65532",
		"VOLUME /var/lib/hermes-hub",
		"STOPSIGNAL SIGTERM",
		`ENTRYPOINT ["/hermes-hub"]`,
		`CMD ["serve", "--listen", "0.0.0.0:7400"]`,
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt",
		"COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /var/lib/hermes-hub",
		"COPY --from=build /out/hermes-hub /hermes-hub",
	} {
		if !slices.Contains(last, want) {
			law.broken(t, "Dockerfile", "the last stage lacks %q", want)
		}
	}
	has := func(stage []string, prefix string, parts ...string) {
		t.Helper()
		if !slices.ContainsFunc(stage, func(l string) bool {
			return strings.HasPrefix(l, prefix) && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(l, p) })
		}) {
			law.broken(t, "Dockerfile", "no %s with %q", prefix, parts)
		}
	}
	has(lines, "RUN CGO_ENABLED=0 go build", "-trimpath", "-X main.version=")
	has(last, "HEALTHCHECK", `CMD ["/hermes-hub", "healthcheck"]`)
	has(last, "LABEL", "org.opencontainers.image.title=", "org.opencontainers.image.licenses=", "org.opencontainers.image.version=")
	has(last, "ENV", "HERMES_HUB_CONFIG=", "XDG_DATA_HOME=/var/lib")
	for _, l := range last {
		if strings.HasPrefix(l, "RUN ") || strings.HasPrefix(l, "SHELL ") {
			law.broken(t, "Dockerfile", "scratch has no shell for %q", l)
		}
	}
}

// The image has no C library and no loader: a binary that asks for one fails there with "no such file or directory".
func TestArchStaticBinary(t *testing.T) {
	law := rule{"the binary is static", "it runs in an empty image, and on every Linux of its architecture"}
	name := filepath.Join(t.TempDir(), "hermes-hub")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	binary, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			law.broken(t, "hermes-hub", "has a %s segment", p.Type)
		}
	}
}

// instructions are a Dockerfile's instructions, one a line, without comments.
func instructions(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var whole []string
	continued := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.Join(strings.Fields(strings.TrimSuffix(line, "\\")), " ")
		if continued {
			whole[len(whole)-1] += " " + part
		} else {
			whole = append(whole, part)
		}
		continued = strings.HasSuffix(line, "\\")
	}
	return whole
}
