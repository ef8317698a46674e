package credential

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockPatience = 15 * time.Second // for a lock that another holds
	lockRetry    = 100 * time.Millisecond
	lockStale    = time.Minute     // a folder untouched for so long is nobody's any more: Claude Code's own measure
	lockTouch    = 5 * time.Second // likewise
)

// errBusy means that another program holds the lock.
var errBusy = errors.New("another program holds its lock")

// lockFile keeps everybody who heeds one of these locks from refreshing the file until unlock: other hubs by an advisory
// lock on a file that stays where it is, since removing it would let two in; the owner by the folders it makes itself.
func lockFile(ctx context.Context, path string, folders []string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	hubs := flock.New(lockName(path), flock.SetPermissions(0o600))
	if _, err := hubs.TryLockContext(ctx, lockRetry); err != nil {
		if ctx.Err() != nil {
			err = errBusy
		}
		return nil, fmt.Errorf("lock %s: %w", path, cause(err))
	}
	release := func() { _ = hubs.Unlock() } // the system gives it back with the descriptor
	owner, err := lockFolders(ctx, folders)
	if err != nil {
		release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { owner(); release() }, nil
}

// lockFolders makes the folders in order and keeps them fresh until unlock, which removes them. One that the hub may not
// make beside the first is left out: it is there for older versions of the owner.
func lockFolders(ctx context.Context, folders []string) (unlock func(), err error) {
	var held []string
	giveBack := func() {
		for _, folder := range held {
			_ = os.Remove(folder) // empty, and ours
		}
	}
	for _, folder := range folders {
		switch err := lockFolder(ctx, folder); {
		case err == nil:
			held = append(held, folder)
		case errors.Is(err, fs.ErrPermission) && len(held) > 0:
		default:
			giveBack()
			return nil, err
		}
	}
	stop := keepFresh(held)
	return func() { stop(); giveBack() }, nil
}

// lockFolder makes the folder, and waits for one who has it.
func lockFolder(ctx context.Context, folder string) error {
	for {
		err := os.Mkdir(folder, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := os.Stat(folder); err == nil && info.IsDir() && isStale(info.ModTime(), time.Now()) {
			_ = os.Remove(folder)
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w %s", errBusy, filepath.Base(folder))
		case <-time.After(lockRetry):
		}
	}
}

// isStale reports whether a lock's holder has gone. A touch in the future is a clock that was set back since.
func isStale(touched, now time.Time) bool { return now.Sub(touched).Abs() > lockStale }

// keepFresh touches the folders as long as they are held.
func keepFresh(folders []string) (stop func()) {
	if len(folders) == 0 {
		return func() {}
	}
	var touching sync.WaitGroup
	done := make(chan struct{})
	touching.Go(func() {
		for {
			select {
			case <-done:
				return
			case now := <-time.After(lockTouch):
				for _, folder := range folders {
					_ = os.Chtimes(folder, now, now) // if it has gone, somebody took it for stale
				}
			}
		}
	})
	return func() { close(done); touching.Wait() }
}
