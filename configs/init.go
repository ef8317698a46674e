package configs

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed example.yaml
var example []byte

// Example is the commented file that `serve --init` writes. It loads without an error on any machine.
func Example() []byte { return append([]byte(nil), example...) }

// ExistsError says that Init found a file and left it alone.
type ExistsError struct{ Path string }

// Error names the file and the way out.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists and was not changed; name another file, or move it away first", e.Path)
}

// Init writes Example to path, mode 0600, with the folders above it. An existing file is an *ExistsError.
func Init(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create configuration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{Path: path}
	}
	if err != nil {
		return fmt.Errorf("create configuration: %w", err)
	}
	_, err = f.Write(example)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		// Half a file would be taken for the user's at the next start.
		return fmt.Errorf("write configuration: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}
