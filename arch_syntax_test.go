package main

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// clocks are the files outside main that may ask what time it is, wait, or draw lots, and what for. Everything else gets
// `now` and randomness handed in.
var clocks = map[string]string{
	"router/router.go":        "stamps: the field now, and the instance's random name",
	"router/statefile.go":     "stamps the name of a corrupt state file",
	"router/keeper.go":        "a loop: saves once a burst of changes is over",
	"router/wait.go":          "a timer: how long a request queues for a slot",
	"quota/probe/probe.go":    "stamps: the field now; draws the jitter",
	"quota/probe/schedule.go": "a timer: when the next look is due",
	"proxy/proxy.go":          "stamps when the list of models was made",
	"proxy/exchange.go":       "stamps the start and end of a request; draws its id",
	"proxy/attempt.go":        "stamps one attempt",
	"proxy/wait.go":           "how long a request waited; a timer: how long it lets another go first",
	"proxy/clock.go":          "the watchdog of one attempt",
	"proxy/oracle/agent.go":   "a client in a test: its waits, its patience, the moment of a failure",
	"proxy/relay.go":          "time to first token",
	"proxy/downstream.go":     "write deadlines and heartbeats",
	"proxy/body.go":           "read deadlines",
	"proxy/scribe.go":         "a timer: how long news of calls wait for other news",
	"runs/id.go":              "draws run ids",
	"runs/journal.go":         "stamps: the field now",
	"runs/commit.go":          "timers: how long a commit waits for company, and after a failure",
	"runs/subscription.go":    "timers: when to look unasked, how long to wait for the closing row",
	"runs/watch.go":           "a timer: when to look unasked",
	"runs/httpapi/httpapi.go": "stamps: the field now, for deadlines",
	"telemetry/window.go":     "stamps: the field now, for what is too old",
	"telemetry/keep.go":       "a loop: saves the minutes that changed",
	"admin/token.go":          "draws token ids",
	"admin/rim.go":            "draws request ids",
	"admin/secret.go":         "draws the generated secret",
	"admin/admin.go":          "stamps: the field now",
	"admin/tickets.go":        "draws tickets",
	"admin/hub/store.go":      "stamps: the field now",
	"admin/hub/watch.go":      "timers: when to look unasked, how long to leave others alone",
	"admin/hub/scheduler.go":  "a timer: whose turn a refresh is",

	"runs/sqlitestore/sqlitestore.go":       "stamps: the field now, for the name of a damaged file",
	"runs/runtime/fakehermes/events.go":     "a Hermes says that it is there when it has nothing to say",
	"runs/runtime/fakehermes/fakehermes.go": "stamps what it tells, by a clock that tests may replace",
	"runs/runtime/fakehermes/routes.go":     "names runs",
	"runs/redisstore/ask.go":                "names questions, and answers none that is too old",
	"runs/storetest/kill.go":                "a test: draws when a child is killed",

	"telemetry/host/sampler.go": "stamps each reading; a timer: when the next is due",

	"runs/runtime/hermes.go":        "stamps: the field now",
	"runs/runtime/hermes_follow.go": "a timer: when a run's status is asked for again",
	"runs/runtime/hermes_stream.go": "a timer: how long an event stream may be silent",

	"runs/runtime/executor.go":          "stamps: the field now; timers: signs of life, sweeps, pauses, the wait at the end",
	"runs/runtime/executor_recover.go":  "a timer: how long somebody waits for a run of the last start",
	"runs/runtime/executor_external.go": "draws writer tokens",
	"runs/runtime/completion.go":        "stamps: the field now, for how long a call took",

	"router/redisshare/redisshare.go": "stamps: the field now; draws the hub's name in Redis",
	"router/redisshare/loop.go":       "a loop: looks each second, and lets what happens at once be told together",
	"router/redisshare/slots.go":      "a timer: how long a call waits to be permitted",

	"router/credential/keyring.go": "stamps: the field now",
	"router/credential/run.go":     "a loop: looks at the files again; a file that is being written is given time",
	"router/credential/lock.go":    "how long another's lock has been untouched; keeps ours fresh",
}

// clockNames are what package time offers besides values and arithmetic.
var clockNames = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func TestArchClock(t *testing.T) {
	law := rule{
		"only the files of the table ask for the time, wait, or draw lots",
		"a decision that takes now as an argument can be tested at any instant, and explained afterwards",
	}
	needed := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.dir == "." || f.dir == "proxy/simulator" || strings.HasPrefix(f.dir, "benchmarks") {
			continue
		}
		breach := func(at, name string) {
			t.Helper()
			needed[f.path] = true
			if clocks[f.path] == "" {
				law.broken(t, at, "uses %s", name)
			}
		}
		for _, p := range []string{"math/rand", "math/rand/v2", "crypto/rand"} {
			if slices.Contains(f.imports, p) {
				breach(f.path, p)
			}
		}
		f.eachSelector("time", clockNames, breach)
	}
	for name := range clocks {
		if !needed[name] {
			law.broken(t, name, "is an exception that is no longer needed")
		}
	}
}

// calls are functions that only some places may call.
var calls = []struct {
	imported string
	names    string
	files    string // patterns of files that may, apart by blanks
	rule
}{
	{
		"os", "Getenv LookupEnv Environ ExpandEnv", "*.go",
		rule{"only main reads the environment", "a package that reads it has an argument that no signature shows and no parallel test can set"},
	},
	{
		"context", "Background TODO", "*.go benchmarks/load/load.go",
		rule{"only a program's main makes a context out of nothing", "work without its caller's context goes on when the caller has gone"},
	},
	{
		"fmt", "Print Printf Println", "",
		rule{"nobody prints to the process's stdout", "commands write to the writer they were given; everything else logs"},
	},
	{
		"net/http", "Get Head Post PostForm", "",
		rule{"nobody uses http's own shortcuts", "they have no context and no time limit"},
	},
}

func TestArchCalls(t *testing.T) {
	for _, f := range sources(t) {
		for _, c := range calls {
			if !f.test && !matches(c.files, f.path) {
				f.eachSelector(c.imported, strings.Fields(c.names), func(at, name string) { c.broken(t, at, "uses %s", name) })
			}
		}
	}
}

// eachSelector calls back for every use of one of the package's names.
func (f source) eachSelector(imported string, names []string, found func(at, name string)) {
	if !slices.Contains(f.imports, imported) {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) && f.uses(s.X, imported) {
			found(f.at(s), path.Base(imported)+"."+s.Sel.Name)
		}
		return true
	})
}

// revealers are the files that may see a secret in the clear, and what for.
var revealers = map[string]string{
	"router/secret.go":       "compares and fingerprints",
	"proxy/upstream.go":      "sends the account's credential to its provider",
	"proxy/identify.go":      "compares a client's key",
	"proxy/passon.go":        "looks for the account's credential in what would be passed on",
	"admin/keys.go":          "signs and verifies tokens, compares the metrics token",
	"books.go":               "connects to Redis, hands a runtime the key that it is called with",
	"secrets.go":             "tells the journal's redactor what to take out",
	"accounts.go":            "hands a credential to the prober, which sends it",
	"doctor_places.go":       "connects to Redis",
	"doctor_credentials.go":  "reads when a token says it expires",
	"configs/admin_block.go": "refuses a weak signing secret",
	"configs/auth_config.go": "tells a key from a token",
	"configs/profiles.go":    "checks a proxy's URL; extra headers",
	"configs/server.go":      "checks Redis's URL",

	"router/credential/claims.go":  "reads what a token says of itself",
	"router/credential/refresh.go": "sends a refresh token to its token endpoint",
	"router/credential/replace.go": "writes refreshed tokens back into their file",
}

func TestArchReveal(t *testing.T) {
	law := rule{"only the files of the table call Reveal", "every place that sees a secret in the clear is a place that could print it"}
	needed := map[string]bool{}
	for _, f := range sources(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Reveal" && !f.test {
				needed[f.path] = true
				if revealers[f.path] == "" {
					law.broken(t, f.at(s), "calls it")
				}
			}
			return true
		})
	}
	for name := range revealers {
		if !needed[name] {
			law.broken(t, name, "is an exception that is no longer needed")
		}
	}
}

func TestArchInit(t *testing.T) {
	law := rule{"no function is called init", "what happens by importing is seen nowhere, and its order is nobody's decision"}
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				law.broken(t, f.at(fn), "is one")
			}
		}
	}
}

// variables are the package variables that change, and why each must.
var variables = map[string]string{
	"proxy.buffers": "a sync.Pool is of use only when all requests share it; it holds nothing that one of them could see of another",
}

func TestArchVariables(t *testing.T) {
	law := rule{
		"package variables are errors, regexps, embedded files and tables: nothing writes to them",
		"state has one owner, with a lifetime and a lock; a variable of a package has neither, and two tests share it",
	}
	declared := map[string]map[string]bool{} // by folder: its package variables
	needed := map[string]bool{}
	breach := func(f source, n ast.Node, name, how string) {
		t.Helper()
		id := strings.TrimPrefix(f.dir+".", "..") + name
		needed[id] = true
		if variables[id] == "" {
			law.broken(t, f.at(n), "%s %s", name, how)
		}
	}
	for _, f := range sources(t) {
		for name, spec := range f.packageVariables() {
			if declared[f.dir] == nil {
				declared[f.dir] = map[string]bool{}
			}
			declared[f.dir][name] = true
			if how := f.mutable(spec); how != "" {
				breach(f, spec, name, how)
			}
		}
	}
	for _, f := range sources(t) {
		f.eachWrite(func(id *ast.Ident) {
			if declared[f.dir][id.Name] && f.isGlobal(id) {
				breach(f, id, id.Name, "is written to")
			}
		})
	}
	for id := range variables {
		if !needed[id] {
			law.broken(t, id, "is an exception that is no longer needed")
		}
	}
}

// packageVariables are the variables that a file declares for its package, tests left out.
func (f source) packageVariables() map[string]*ast.ValueSpec {
	found := map[string]*ast.ValueSpec{}
	for _, d := range f.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR || f.test {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.ValueSpec) // the grammar of a var declaration has nothing else
			for _, name := range spec.Names {
				if name.Name != "_" {
					found[name.Name] = spec
				}
			}
		}
	}
	return found
}

// mutable says what in a declaration shows that the variable is there to be changed, "" when nothing does.
func (f source) mutable(spec *ast.ValueSpec) (how string) {
	ast.Inspect(spec, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // what a function of a table does when called is its own
		case *ast.SelectorExpr:
			if f.uses(n.X, "sync") || f.uses(n.X, "sync/atomic") {
				how = "holds a " + n.Sel.Name
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "make" || id.Name == "new") {
				how = "is made empty"
			}
		case *ast.ChanType:
			how = "is a channel"
		}
		return true
	})
	return how
}

// eachWrite calls back with the variable at the root of everything that is assigned to, incremented, deleted from,
// cleared or handed out by its address.
func (f source) eachWrite(found func(*ast.Ident)) {
	root := func(x ast.Expr) {
		for {
			switch y := x.(type) {
			case *ast.Ident:
				found(y)
				return
			case *ast.IndexExpr:
				x = y.X
			case *ast.SelectorExpr:
				x = y.X
			case *ast.StarExpr:
				x = y.X
			case *ast.ParenExpr:
				x = y.X
			default:
				return
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				root(left)
			}
		case *ast.IncDecStmt:
			root(n.X)
		case *ast.RangeStmt:
			root(n.Key)
			root(n.Value)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") && len(n.Args) > 0 {
				root(n.Args[0])
			}
		}
		return true
	})
}

// isGlobal reports whether the identifier means a variable of the package: the parser found no declaration nearer by.
func (f source) isGlobal(id *ast.Ident) bool {
	if id.Obj == nil {
		return true // declared in another file of the package
	}
	spec, ok := id.Obj.Decl.(*ast.ValueSpec)
	return ok && f.packageVariables()[id.Name] == spec
}
