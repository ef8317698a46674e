// Package configs turns the file router_profiles.yaml into values: one strict parse, one immutable Config, or every
// error of the file with its line and column.
//
// Each block of the file is read by the file of the same name: server.go, client_keys.go, admin_block.go,
// router_block.go, roles.go, profiles.go, pricing.go, runs.go, journal.go. They read through two cursors, node and
// block, which report what is wrong and go on; what a block's reader asks for is what the block may hold. Before that,
// source.go turns bytes into a tree and flatten.go takes aliases and merge keys out of it. After it, warnings.go looks
// for what is allowed and still a mistake.
//
// A file of the Python hub is read as it is. Where that hub would quietly fall back to built-in accounts (a broken or
// empty file, no roles, no profiles) this package refuses the file.
package configs

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"hermes-hub/admin"
	"hermes-hub/proxy"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// Config is one configuration file made into values, every default filled in. It is not changed once main has laid its
// flags over it (Override). It prints, logs and encodes without its secrets.
type Config struct {
	Path     string // as given to Load or Parse
	Server   Server
	Proxy    proxy.Config
	Admin    admin.Config
	Router   router.Settings
	Profiles []router.Profile  // in file order
	Accounts []Account         // what is read of each profile beyond router.Profile; same order
	Roles    []router.Role     // in file order, with every alias that applies
	Prices   []telemetry.Price // in file order
	Runs     Runs
	Journal  Journal
	Warnings Problems // in file order
	NotYet   []NotYet // keys of the file that nothing acts on yet, in file order

	table  *router.Table
	places map[string]place
}

// Load reads the file at path. getenv is asked for the variables that the file's secrets name. The error is a Problems.
func Load(path string, getenv func(string) string) (*Config, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, getenv)
}

// Read is the bytes of the file at path, for Parse: they tell whether the file has changed. The error is a Problems.
func Read(path string) ([]byte, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, Problems{{File: path, Severity: Error, Message: cannotRead(path, err).Error()}}
	}
	return data, nil
}

var errFolder = errors.New("it is a folder")

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errFolder
	}
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// Parse reads data as the file called name, whose folder is where relative paths in it begin. The error is a Problems
// that holds every error of the file, not only the first.
func Parse(name string, data []byte, getenv func(string) string) (*Config, error) {
	c, r := readConfig(name, data, getenv)
	if len(r.errors) > 0 {
		return nil, r.errors.capped()
	}
	r.warnAbout(c)
	c.Warnings = r.warnings
	c.Warnings.sort()
	c.NotYet = r.notYet
	sortNotYet(c.NotYet)
	return c, nil
}

// readConfig reads data as far as it can be read; the reader holds what is wrong with it.
func readConfig(name string, data []byte, getenv func(string) string) (*Config, *reader) {
	r := &reader{
		file: name, dir: filepath.Dir(name), getenv: getenv,
		places: map[string]place{}, rows: map[string]bool{}, profiles: map[string]bool{}, roles: map[string]string{},
	}
	c := &Config{Path: name, places: r.places}
	if root := r.document(data); root != nil {
		r.config(node{r: r, value: root, at: place{1, 1}}.block(), c)
	}
	if len(r.errors) == 0 {
		r.buildTable(c)
	}
	return c, r
}

// config reads the blocks. Profiles come first, then roles: the other blocks name them.
func (r *reader) config(top *block, c *Config) {
	defer top.done()
	c.Profiles, c.Accounts = r.readProfiles(top.get("profiles"))
	c.Roles = r.readRoles(top.get("roles"))
	r.readServer(top.get("server").block(), c)
	c.Proxy.Keys = r.readClientKeys(top.get("client_keys"))
	r.readAdmin(top.get("admin").block(), &c.Admin)
	r.readRouter(top.get("router").block(), top, c)
	c.Prices = readPricing(top.get("pricing").block())
	c.Runs = readRuns(top.get("runs").block())
	c.Journal = readJournal(top.get("journal").block())
	c.Proxy.Record = c.Journal.depth()
}

// buildTable cross-checks once more, by the router itself. What it refuses should have been reported above with a line.
func (r *reader) buildTable(c *Config) {
	table, err := router.NewTable(c.Profiles, c.Roles, c.Router)
	if err != nil {
		r.fail(place{1, 1}, "%v", err)
		return
	}
	c.table = table
}

// Table is the accounts and roles of the file, cross-checked, for the router.
func (c *Config) Table() *router.Table { return c.table }
