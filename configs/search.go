package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// fileName is what the file is called wherever it is searched for.
const fileName = "router_profiles.yaml"

// NotFoundError says that there is no configuration file.
type NotFoundError struct{ Tried []string }

// Error lists the places and how to get a file.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no configuration file; looked at %s; %s", strings.Join(e.Tried, ", "), writeOne)
}

// Search finds the configuration file: the flag --config, $HERMES_HUB_CONFIG, $HERMES_ROUTER_CONFIG, then
// $XDG_CONFIG_HOME/hermes-hub and $HERMES_HOME/config, with ~/.config and ~/.hermes in their absence. A file that the
// flag or a variable names is the answer even when it is missing: another account's file must not stand in for it.
// tried lists what was looked at, in order; the error is a *NotFoundError.
func Search(flag string, getenv func(string) string) (path string, tried []string, err error) {
	for _, named := range []string{flag, getenv("HERMES_HUB_CONFIG"), getenv("HERMES_ROUTER_CONFIG")} {
		if named = strings.TrimSpace(named); named == "" {
			continue
		}
		named = home(named, getenv)
		if !exists(named) {
			return "", []string{named}, &NotFoundError{Tried: []string{named}}
		}
		return named, []string{named}, nil
	}
	for _, place := range []string{DefaultPath(getenv), pythonHubPath(getenv)} {
		if place == "" {
			continue
		}
		tried = append(tried, place)
		if exists(place) {
			return place, tried, nil
		}
	}
	return "", tried, &NotFoundError{Tried: tried}
}

// DefaultPath is where `serve --init` writes unless it is told a file: $XDG_CONFIG_HOME/hermes-hub/router_profiles.yaml,
// with ~/.config in its absence; "" when there is no home folder either.
func DefaultPath(getenv func(string) string) string {
	return under(xdg("XDG_CONFIG_HOME", ".config", getenv), "hermes-hub", fileName)
}

func pythonHubPath(getenv func(string) string) string {
	if at := getenv("HERMES_HOME"); at != "" {
		return filepath.Join(home(at, getenv), "config", fileName)
	}
	return under(getenv("HOME"), ".hermes", "config", fileName)
}

// defaultDataDir is the data dir of a file that names none; "" when there is no home folder.
func defaultDataDir(getenv func(string) string) string {
	return under(xdg("XDG_DATA_HOME", ".local/share", getenv), "hermes-hub")
}

// xdg is one of the base folders of the XDG specification, which says to ignore a relative one.
func xdg(variable, def string, getenv func(string) string) string {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return under(getenv("HOME"), def)
}

func under(dir string, elements ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// home replaces a leading ~/ by the home folder.
func home(path string, getenv func(string) string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if h := getenv("HOME"); ok && h != "" {
		return filepath.Join(h, rest)
	}
	return path
}

// exists is true as well for a file that cannot be looked at: Load then says why.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
