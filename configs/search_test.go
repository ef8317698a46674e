package configs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSearch: the places of the contract in their order; a file that somebody named is never replaced by another.
func TestSearch(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"flag.yaml", "hub.yaml", "router.yaml", "xdg/hermes-hub/router_profiles.yaml", "home/.config/hermes-hub/router_profiles.yaml", "hermes/config/router_profiles.yaml", "home2/.hermes/config/router_profiles.yaml"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	f := func(flag string, env map[string]string, want string, wantTried ...string) {
		t.Helper()
		inside := func(path string) string { return strings.ReplaceAll(path, "@", root) }
		path, tried, err := Search(inside(flag), func(name string) string { return inside(env[name]) })
		for i := range wantTried {
			wantTried[i] = inside(wantTried[i])
		}
		if path != inside(want) || !slices.Equal(tried, wantTried) {
			t.Errorf("found %q after %q, want %q after %q", path, tried, inside(want), wantTried)
		}
		missing, isMissing := errors.AsType[*NotFoundError](err)
		if (want == "") != isMissing {
			t.Fatalf("error %v", err)
		}
		if !isMissing {
			return
		}
		for _, place := range wantTried {
			if !strings.Contains(missing.Error(), place) || !strings.Contains(missing.Error(), "hermes-hub serve --init") {
				t.Errorf("%q names not %s or not the way out", missing, place)
			}
		}
	}
	all := map[string]string{
		"HERMES_HUB_CONFIG": "@/hub.yaml", "HERMES_ROUTER_CONFIG": "@/router.yaml", "XDG_CONFIG_HOME": "@/xdg", "HERMES_HOME": "@/hermes", "HOME": "@/home",
	}
	without := func(names ...string) map[string]string {
		left := map[string]string{}
		for name, value := range all {
			if !slices.Contains(names, name) {
				left[name] = value
			}
		}
		return left
	}
	f("@/flag.yaml", all, "@/flag.yaml", "@/flag.yaml")
	f("@/none.yaml", all, "", "@/none.yaml")
	f("", all, "@/hub.yaml", "@/hub.yaml")
	f("", without("HERMES_HUB_CONFIG"), "@/router.yaml", "@/router.yaml")
	xdg := without("HERMES_HUB_CONFIG", "HERMES_ROUTER_CONFIG")
	f("", xdg, "@/xdg/hermes-hub/router_profiles.yaml", "@/xdg/hermes-hub/router_profiles.yaml")
	home := without("HERMES_HUB_CONFIG", "HERMES_ROUTER_CONFIG", "XDG_CONFIG_HOME")
	f("", home, "@/home/.config/hermes-hub/router_profiles.yaml", "@/home/.config/hermes-hub/router_profiles.yaml")
	home["HOME"] = "@/home2"
	f("", home, "@/hermes/config/router_profiles.yaml", "@/home2/.config/hermes-hub/router_profiles.yaml", "@/hermes/config/router_profiles.yaml")
	delete(home, "HERMES_HOME")
	f("", home, "@/home2/.hermes/config/router_profiles.yaml", "@/home2/.config/hermes-hub/router_profiles.yaml", "@/home2/.hermes/config/router_profiles.yaml")
	f("", map[string]string{"HOME": "@/home", "HERMES_ROUTER_CONFIG": "~/../router.yaml"}, "@/router.yaml", "@/router.yaml")
	f("", map[string]string{"HOME": "@/home", "HERMES_HUB_CONFIG": "@/none.yaml"}, "", "@/none.yaml")
	f("", map[string]string{"HOME": "@/nobody"}, "", "@/nobody/.config/hermes-hub/router_profiles.yaml", "@/nobody/.hermes/config/router_profiles.yaml")
	f("", map[string]string{"XDG_CONFIG_HOME": "relative"}, "")
}

// TestDataDir: the file's own, else the place that the XDG specification gives.
func TestDataDir(t *testing.T) {
	f := func(dir string, env map[string]string, want string) {
		t.Helper()
		file := "server: {data_dir: \"" + dir + "\"}\n" + readTestdata(t, "minimal.yaml")
		c, err := Parse("/etc/hub/f.yaml", []byte(file), func(name string) string { return env[name] })
		if err != nil || c.Server.DataDir != want {
			t.Errorf("%q %v: %v %v, want %s", dir, env, c, err, want)
		}
	}
	f("", map[string]string{"HOME": "/home/u", "XDG_DATA_HOME": "/data"}, "/data/hermes-hub")
	f("", map[string]string{"HOME": "/home/u"}, "/home/u/.local/share/hermes-hub")
	f("", nil, "")
	f("/var/lib/hub", nil, "/var/lib/hub")
	f("state", nil, "/etc/hub/state")
	f("~/state", map[string]string{"HOME": "/home/u"}, "/home/u/state")
}

func TestLoadCannotRead(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "none.yaml: error: cannot read " + filepath.Join(dir, "none.yaml") + ": no such file or directory",
		dir:                             ": error: cannot read " + dir + ": it is a folder",
	} {
		_, err := Load(path, noEnv)
		if _, ok := errors.AsType[Problems](err); !ok || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
