package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes-hub/router"
)

// maxSecretBytes is the longest secret file that is read.
const maxSecretBytes = 64 << 10

// secret reads a value that may be written as it is, as ${NAME} or ${NAME:-default} (also inside longer text; $${ stands
// for ${ itself), or as file:PATH. A value that cannot be had is reported with severity s, as are its messages: none of
// them holds any part of the value.
func (n node) secret(s Severity) router.Secret {
	text, ok := n.scalar("text, ${NAME} or file:PATH")
	if !ok || text == "" {
		return router.Secret{}
	}
	value, err := n.expand(text)
	if err == nil && strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		err = errors.New("the value holds a line break or another control character")
	}
	if err != nil {
		n.report(s, ": %v", err)
		return router.Secret{}
	}
	return router.NewSecret(value)
}

// expand is what the text of a secret stands for. It works on one value after parsing, so that nothing in a secret can
// change the structure of the file.
func (n node) expand(text string) (string, error) {
	path, isFile, err := n.filePath(text)
	if !isFile {
		return expandEnv(text, n.r.getenv)
	}
	if err != nil {
		return "", err
	}
	value, perm, err := readSecret(path)
	if err == nil && perm&^0o640 != 0 {
		n.warn(": others may use %s (mode %04o); chmod 600 it", path, perm)
	}
	return value, err
}

// filePath is the file that a secret written as file:PATH stands in.
func (n node) filePath(text string) (path string, isFile bool, err error) {
	path, isFile = strings.CutPrefix(text, "file:")
	if !isFile {
		return "", false, nil
	}
	if path, err = expandEnv(path, n.r.getenv); err != nil {
		return "", true, err
	}
	return n.r.resolve(path), true, nil
}

// secretFile is where a secret's file is, "" for a secret that stands in none or cannot be had.
func (n node) secretFile() string {
	if n.blank() {
		return ""
	}
	path, _, _ := n.filePath(n.value.Value) // secret has reported the error
	return path
}

// expandEnv replaces every ${NAME} and ${NAME:-default} of text. An empty variable counts as missing.
func expandEnv(text string, getenv func(string) string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			out.WriteString(text)
			return out.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(before + "{")
			text = rest
			continue
		}
		reference, after, closed := strings.Cut(rest, "}")
		name, def, hasDefault := strings.Cut(reference, ":-")
		if !closed || !isVariable(name) {
			return "", errors.New("${ begins a reference and wants ${NAME} or ${NAME:-default}; write $${ for the characters themselves")
		}
		value := getenv(name)
		if value == "" && !hasDefault {
			return "", fmt.Errorf("the environment variable %s is not set; set it, or give a default as in ${%s:-}", name, name)
		}
		if value == "" {
			value = def
		}
		out.WriteString(before + value)
		text = after
	}
}

func isVariable(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// readSecret is the content of a secret's file without the line break at its end, and the file's permissions.
func readSecret(path string) (string, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, cannotRead(path, err)
	}
	if !info.Mode().IsRegular() { // a pipe or a device could hold us for ever
		return "", 0, fmt.Errorf("cannot read %s: it is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, cannotRead(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	if err != nil {
		return "", 0, cannotRead(path, err)
	}
	value := strings.TrimRight(string(data), "\r\n")
	if value == "" || len(data) > maxSecretBytes {
		return "", 0, fmt.Errorf("cannot use %s: want 1 to %d bytes, it has %d", path, maxSecretBytes, len(data))
	}
	return value, info.Mode().Perm(), nil
}

// cannotRead words a file error once: the path and the reason.
func cannotRead(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}

// resolve is the file that a path in the configuration names: ~/ is the home folder, and a relative path begins at the
// folder of the configuration file.
func (r *reader) resolve(path string) string {
	path = home(path, r.getenv)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}
