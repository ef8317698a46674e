package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floor is one row of the table of floors: what a package may import besides the standard library.
type floor struct {
	ours  string // packages of this module, apart by blanks
	third string // third-party import paths and what lies below them
	tests string // what its tests may import on top of both
}

// floors is the table of ARCHITECTURE.md. Imports go down only, never sideways.
var floors = map[string]floor{
	".": {
		ours:  "admin admin/hub configs proxy proxy/hostname proxy/simulator quota quota/probe router router/credential runs runs/httpapi runs/memstore runs/redact runs/redisstore runs/runtime runs/runtime/fakehermes runs/sqlitestore telemetry telemetry/host",
		third: "github.com/fsnotify/fsnotify github.com/redis/go-redis/v9 github.com/spf13/cobra github.com/prometheus/client_golang github.com/tidwall/gjson",
		tests: "github.com/alicebob/miniredis/v2 github.com/google/go-cmp github.com/rogpeppe/go-internal github.com/golang-jwt/jwt/v5 github.com/santhosh-tekuri/jsonschema/v6",
	},
	"configs": {
		ours:  "admin proxy proxy/hostname quota quota/probe router router/credential telemetry",
		third: "go.yaml.in/yaml/v3",
		tests: "github.com/google/go-cmp github.com/rogpeppe/go-internal pgregory.net/rapid",
	},
	"proxy": {
		ours:  "proxy/hostname proxy/wire proxy/wire/chat proxy/wire/gemini proxy/wire/messages proxy/wire/neutral proxy/wire/responses quota router telemetry",
		third: "github.com/gin-gonic/gin github.com/tidwall/gjson golang.org/x/text",
		tests: "proxy/simulator proxy/oracle github.com/google/go-cmp pgregory.net/rapid",
	},
	"admin": {
		ours:  "admin/hub proxy/hostname quota router telemetry telemetry/host", // the Host check is one rule for both planes
		third: "github.com/gin-gonic/gin github.com/golang-jwt/jwt/v5 github.com/MicahParks/keyfunc/v3 github.com/prometheus/client_golang",
		tests: "github.com/google/go-cmp",
	},
	"admin/hub": {ours: "quota router telemetry telemetry/host", third: "github.com/tidwall/gjson", tests: "github.com/google/go-cmp github.com/santhosh-tekuri/jsonschema/v6 pgregory.net/rapid"},
	"router":    {ours: "quota", tests: "github.com/google/go-cmp pgregory.net/rapid"},
	// Error bodies come in brotli and zstd, labelled or not, and the standard library undoes neither.
	"quota":                   {third: "github.com/tidwall/gjson github.com/andybalholm/brotli github.com/klauspost/compress/zstd", tests: "github.com/google/go-cmp github.com/rogpeppe/go-internal pgregory.net/rapid"},
	"runs":                    {third: "github.com/tidwall/gjson github.com/tidwall/sjson", tests: "runs/memstore runs/redact runs/storetest github.com/google/go-cmp pgregory.net/rapid"},
	"runs/memstore":           {ours: "runs", tests: "runs/storetest"},
	"runs/storetest":          {ours: "runs", third: "pgregory.net/rapid"},
	"runs/sqlitestore":        {ours: "runs", third: "modernc.org/sqlite github.com/gofrs/flock", tests: "runs/storetest github.com/google/go-cmp pgregory.net/rapid"},
	"runs/redisstore":         {ours: "runs", third: "github.com/redis/go-redis/v9", tests: "runs/storetest github.com/alicebob/miniredis/v2 github.com/google/go-cmp pgregory.net/rapid"},
	"runs/runtime":            {ours: "runs", third: "github.com/tidwall/gjson github.com/tidwall/sjson", tests: "runs/memstore runs/runtime/fakehermes github.com/google/go-cmp"},
	"runs/runtime/fakehermes": {third: "github.com/tidwall/gjson"}, // a Hermes API server for tests
	"runs/redact":             {},
	"runs/httpapi":            {ours: "runs runs/runtime", third: "github.com/tidwall/gjson github.com/tidwall/sjson", tests: "runs/memstore runs/runtime/fakehermes github.com/google/go-cmp"},
	"telemetry":               {third: "github.com/prometheus/client_golang", tests: "github.com/google/go-cmp pgregory.net/rapid"},
	"telemetry/host":          {third: "github.com/shirou/gopsutil/v3", tests: "github.com/google/go-cmp"},
	"proxy/wire":              {third: "github.com/tidwall/gjson", tests: "github.com/google/go-cmp pgregory.net/rapid"},
	"proxy/hostname":          {}, // under proxy, which asks it first; the planes may not import each other
	"proxy/simulator":         {},
	"proxy/oracle":            {},
	// The neutral form of a conversation, and what each protocol makes of it.
	"proxy/wire/neutral":   {ours: "proxy/wire", tests: "github.com/google/go-cmp"},
	"proxy/wire/members":   {ours: "proxy/wire proxy/wire/neutral"},
	"proxy/wire/chat":      {ours: "proxy/wire proxy/wire/members proxy/wire/neutral", third: "github.com/tidwall/gjson", tests: "proxy/oracle github.com/google/go-cmp github.com/rogpeppe/go-internal"},
	"proxy/wire/messages":  {ours: "proxy/wire proxy/wire/neutral", third: "github.com/tidwall/gjson", tests: "proxy/wire/chat github.com/google/go-cmp github.com/rogpeppe/go-internal"},
	"proxy/wire/responses": {ours: "proxy/wire proxy/wire/members proxy/wire/neutral", third: "github.com/tidwall/gjson", tests: "proxy/wire/chat github.com/google/go-cmp github.com/rogpeppe/go-internal"},
	"proxy/wire/gemini":    {ours: "proxy/wire proxy/wire/neutral", third: "github.com/tidwall/gjson", tests: "proxy/wire/chat github.com/google/go-cmp github.com/rogpeppe/go-internal"},
	"router/redisshare":    {ours: "router quota", third: "github.com/redis/go-redis/v9", tests: "github.com/alicebob/miniredis/v2 github.com/google/go-cmp pgregory.net/rapid"},
	"router/credential":    {ours: "router", third: "github.com/golang-jwt/jwt/v5 github.com/fsnotify/fsnotify github.com/gofrs/flock github.com/tidwall/gjson github.com/tidwall/sjson golang.org/x/sync", tests: "github.com/google/go-cmp"},
	"quota/probe":          {ours: "quota", third: "github.com/tidwall/gjson golang.org/x/sync", tests: "github.com/google/go-cmp"},
	"benchmarks":           {ours: "proxy proxy/simulator proxy/wire quota router telemetry"},
	"benchmarks/load":      {tests: "configs"}, // it knows the built hub by its file and its addresses alone
}

func TestArchFloors(t *testing.T) {
	law := rule{
		"imports go down the table of floors, and every third-party import is agreed on",
		"a package that knows only what lies below it can be read, tested and changed alone; add to the table what belongs there, with the floor in mind",
	}
	for _, f := range sources(t) {
		row, known := floors[f.dir]
		if !known {
			law.broken(t, f.path, "package %s has no row in the table", f.dir)
			continue
		}
		allowed := strings.Fields(row.ours + " " + row.third)
		if f.test {
			// A test may also import its own package, from outside.
			allowed = append(append(allowed, strings.Fields(row.tests)...), f.dir)
		}
		for _, imported := range f.imports {
			if p := ours(imported); !isStandard(imported) && !slices.ContainsFunc(allowed, func(a string) bool { return p == a || isBelow(imported, a) }) {
				law.broken(t, f.path, "imports %s", imported)
			}
		}
	}
}

// isBelow reports whether the import path is the third-party one or lies below it.
func isBelow(imported, allowed string) bool {
	return strings.Contains(allowed, ".") && (imported == allowed || strings.HasPrefix(imported, allowed+"/"))
}

// rims are imports that only some files may have, and why these.
var rims = []struct {
	imported string
	files    string // patterns, apart by blanks
	why      string
}{
	{"github.com/gin-gonic/gin", "proxy/proxy.go proxy/models.go admin/admin.go admin/explain.go", "the web framework stays at the rim: what decides and relays must be callable without it"},
	{"hermes-hub/proxy/oracle", "", "what judges as a client would belongs to tests"},
	{"hermes-hub/runs/runtime/fakehermes", "demo*.go cmd_demo.go", "a simulated agent belongs to tests and the demo"},
	{"hermes-hub/proxy/simulator", "demo*.go cmd_demo.go benchmarks/*.go benchmarks/load/*.go", "what simulates belongs to tests, benchmarks and the demo, and never answers a user's call"},
}

func TestArchRims(t *testing.T) {
	for _, f := range sources(t) {
		for _, rim := range rims {
			if !f.test && slices.Contains(f.imports, rim.imported) && !matches(rim.files, f.path) {
				rule{fmt.Sprintf("of files that are no tests only %q may import %s", rim.files, rim.imported), rim.why}.broken(t, f.path, "imports it")
			}
		}
	}
}

func TestArchPackageComments(t *testing.T) {
	law := rule{
		"a package has one package comment, in the file named after it (main.go for main)",
		"it is the first thing a reader looks for; two of them are printed one after the other in an order nobody chose",
	}
	comments := map[string][]string{} // by directory
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		home := path.Join(f.dir, path.Base(f.dir)+".go")
		if f.dir == "." {
			home = "main.go"
		}
		comments[f.dir] = append(comments[f.dir], "") // the package exists
		if f.ast.Doc == nil {
			continue
		}
		comments[f.dir] = append(comments[f.dir], f.path)
		if f.path != home {
			law.broken(t, f.path, "belongs into %s", home)
		}
	}
	for dir, places := range comments {
		if found := slices.DeleteFunc(places, func(p string) bool { return p == "" }); len(found) != 1 {
			law.broken(t, dir, "has %d", len(found))
		}
	}
}

// rule is one law of the project and the reason for it.
type rule struct{ says, why string }

// broken reports a breach of the rule.
func (r rule) broken(t *testing.T, at, format string, args ...any) {
	t.Helper()
	t.Errorf("%s: "+format+"\n\trule: %s\n\twhy: %s", append(append([]any{at}, args...), r.says, r.why)...)
}

// source is one Go file of this module.
type source struct {
	path    string // from the project's root, with slashes
	dir     string // "." for the root
	test    bool
	lines   int
	imports []string
	ast     *ast.File
	fset    *token.FileSet
}

// at is a place in the file, for a message.
func (f source) at(n ast.Node) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// uses reports whether the expression is the name of the package imported by that path: time in time.Now.
func (f source) uses(x ast.Expr, imported string) bool {
	id, ok := x.(*ast.Ident)
	if !ok || id.Obj != nil { // a variable of that name hides the package
		return false
	}
	for _, spec := range f.ast.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == imported {
			return spec.Name == nil && id.Name == path.Base(imported) || spec.Name != nil && id.Name == spec.Name.Name
		}
	}
	return false
}

// sources parses every Go file of this module. Nested modules, testdata and folders that the go command does not look
// into are left out.
func sources(t *testing.T) []source {
	t.Helper()
	var files []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata" || isFile(filepath.Join(name, "go.mod"))) {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f := source{path: filepath.ToSlash(name), dir: path.Dir(filepath.ToSlash(name)), test: strings.HasSuffix(name, "_test.go"), ast: parsed, fset: fset}
		f.lines = fset.File(parsed.Pos()).LineCount()
		for _, spec := range parsed.Imports {
			p, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
			f.imports = append(f.imports, p)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("found only %d files: the rules were not checked", len(files))
	}
	return files
}

// ours is the folder of a package of this module, "" for another's.
func ours(imported string) string {
	folder, ok := strings.CutPrefix(imported, "hermes-hub/")
	if !ok {
		return ""
	}
	return folder
}

func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && first != "hermes-hub"
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// matches reports whether one of the patterns, apart by blanks, matches the path.
func matches(patterns, name string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
