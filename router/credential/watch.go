package credential

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch tells when something has happened to one of the files. It watches their folders, because a file that is replaced
// takes its own watch with it: owners write another file and rename it, and Kubernetes turns a symbolic link (..data) in
// the folder over to another one.
type watch struct {
	fs    *fsnotify.Watcher // nil: this machine allows no watch
	log   *slog.Logger
	names map[string]bool // paths whose events matter
	blind map[string]bool // folders that cannot be watched, and the log knows
}

// newWatch begins to watch nothing. A machine that allows no watch is no reason not to serve.
func newWatch(log *slog.Logger) *watch {
	w := &watch{log: log, names: map[string]bool{}, blind: map[string]bool{}}
	var err error
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		log.Warn("credential files are not watched: changes are seen within half a minute", "error", err)
		w.fs = nil
	}
	return w
}

// stirs receives whenever something has happened.
func (w *watch) stirs() <-chan fsnotify.Event {
	if w.fs == nil {
		return nil
	}
	return w.fs.Events
}

// losses receives when something may have happened that stirs does not tell.
func (w *watch) losses() <-chan error {
	if w.fs == nil {
		return nil
	}
	return w.fs.Errors
}

// concerns reports whether an event's path is a file's, or a link's on the way to one.
func (w *watch) concerns(path string) bool { return w.names[path] }

// follow watches the folders that lead to these files now, and no others.
func (w *watch) follow(files []string) {
	if w.fs == nil {
		return
	}
	w.names = map[string]bool{}
	folders := map[string]bool{}
	for _, file := range files {
		w.lead(file, folders)
	}
	for _, old := range w.fs.WatchList() {
		if !folders[old] {
			_ = w.fs.Remove(old) // it may be gone itself
		}
	}
	for folder := range folders {
		err := w.fs.Add(folder)
		if err != nil && !w.blind[folder] && !errors.Is(err, fs.ErrNotExist) { // that files are missing is told for them
			w.log.Info("a credential file's folder is not watched: changes are seen within half a minute", "folder", folder, "error", err)
		}
		w.blind[folder] = err != nil
	}
}

// lead takes note of a file, of what it is a link to, and of the folders of both.
func (w *watch) lead(file string, folders map[string]bool) {
	for _, path := range []string{file, filepath.Join(filepath.Dir(file), "..data")} {
		w.names[path] = true
	}
	folders[filepath.Dir(file)] = true
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		w.names[real] = true
		folders[filepath.Dir(real)] = true
	}
}

// close ends the watch.
func (w *watch) close() {
	if w.fs != nil {
		_ = w.fs.Close() // there is nothing to save
	}
}
