package main

import (
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// folderWatch tells when something has happened in the folders through which a file is reached. Folders, because a file
// that is replaced takes its own watch with it: editors write another file and rename it, and Kubernetes turns a symbolic
// link (..data) in the folder over to another one.
type folderWatch struct {
	path  string
	fs    *fsnotify.Watcher // nil: this machine allows no watch
	log   *slog.Logger
	blind bool // a folder cannot be watched, and the log knows
}

// newFolderWatch begins to watch. A machine that allows no watch is no reason not to serve: the log says what is left.
func newFolderWatch(path string, log *slog.Logger) *folderWatch {
	w := &folderWatch{path: path, log: log}
	var err error
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		log.Warn("the configuration file is not watched: SIGHUP reloads it", "error", err)
		return w
	}
	w.follow()
	return w
}

// stirs receives whenever something has happened.
func (w *folderWatch) stirs() <-chan fsnotify.Event {
	if w.fs == nil {
		return nil
	}
	return w.fs.Events
}

// losses receives when something may have happened that stirs does not tell.
func (w *folderWatch) losses() <-chan error {
	if w.fs == nil {
		return nil
	}
	return w.fs.Errors
}

// follow watches the folders that lead to the file now, and no others. false: one of them cannot be watched, which may be
// different later.
func (w *folderWatch) follow() bool {
	if w.fs == nil {
		return true
	}
	folders := []string{filepath.Dir(w.path)}
	if real, err := filepath.EvalSymlinks(w.path); err == nil {
		folders = append(folders, filepath.Dir(real))
	}
	for _, old := range w.fs.WatchList() {
		if !slices.Contains(folders, old) {
			_ = w.fs.Remove(old) // it may be gone itself
		}
	}
	var failed error
	for _, folder := range folders {
		if err := w.fs.Add(folder); err != nil {
			failed = err
		}
	}
	if failed != nil && !w.blind {
		w.log.Warn("the configuration file's folder is not watched: SIGHUP reloads it", "error", failed)
	}
	w.blind = failed != nil
	return !w.blind
}

// close ends the watch.
func (w *folderWatch) close() {
	if w.fs != nil {
		_ = w.fs.Close() // there is nothing to save
	}
}
