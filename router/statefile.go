package router

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// FileStore is a StateStore in one file, readable by its owner only.
type FileStore struct {
	Path string           // in a directory that exists
	Now  func() time.Time // nil = time.Now; names the file a corrupt state is set aside as
}

// CorruptStateError means that the file held no state this program can read. It was moved to Aside.
type CorruptStateError struct {
	Path, Aside string
	Err         error
}

func (e *CorruptStateError) Error() string {
	return fmt.Sprintf("%s is unreadable and was set aside as %s: %v", e.Path, e.Aside, e.Err)
}

// Unwrap is what was wrong with the file.
func (e *CorruptStateError) Unwrap() error { return e.Err }

// LoadState reads the file; nil when there is none. A file that is no state is set aside for a human to look at, so that
// the next save does not destroy it, and reported as a CorruptStateError.
func (f FileStore) LoadState(context.Context) ([]byte, error) {
	data, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state file: %w", err)
	}
	if _, err := decodeState(data); err != nil {
		return nil, f.setAside(err)
	}
	return data, nil
}

func (f FileStore) setAside(cause error) error {
	now := f.Now
	if now == nil {
		now = time.Now
	}
	aside := fmt.Sprintf("%s.corrupt-%d", f.Path, now().Unix())
	if err := os.Rename(f.Path, aside); err != nil {
		return fmt.Errorf("set state file aside: %w", err)
	}
	return &CorruptStateError{f.Path, aside, cause}
}

// SaveState replaces the file: a crash at any point leaves the old one or the new one, whole.
func (f FileStore) SaveState(ctx context.Context, state []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	temp := f.Path + ".tmp" // always the same name: what a crash leaves behind is overwritten by the next save
	if err := writeSynced(temp, state); err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	if err := os.Rename(temp, f.Path); err != nil {
		return fmt.Errorf("replace state file: %w", err)
	}
	return syncDir(filepath.Dir(f.Path))
}

func writeSynced(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync state directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync state directory: %w", err)
	}
	return nil
}
