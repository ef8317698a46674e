package credential

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// renewed is the file's content with what the token endpoint granted in place of what was there: every other byte stays.
func (f *format) renewed(content []byte, g grant, now time.Time) ([]byte, error) {
	doc := gjson.ParseBytes(content)
	root := f.root(doc)
	at := within(doc, root)
	edits := append(f.expiry(at, g, now),
		edit{present(at, f.names.access), g.access.Reveal()},
		edit{present(at, f.names.refresh), g.refresh.Reveal()},
	)
	for i := range edits {
		edits[i].path = join(root, edits[i].path)
	}
	idAt := root
	if text(at, f.names.id) == "" && text(doc, f.names.id) != "" {
		idAt = "" // Antigravity has it beside the tokens
	}
	edits = append(edits, edit{join(idAt, f.names.id[0]), g.id.Reveal()})
	var err error
	for _, e := range edits {
		if e.value != "" && err == nil {
			content, err = sjson.SetBytes(content, e.path, e.value)
		}
	}
	if f.stamp != "" && err == nil {
		content, err = sjson.SetBytes(content, f.stamp, now.UTC().Format(time.RFC3339Nano))
	}
	if err != nil {
		return nil, errors.New("put the new tokens into the file's content") // the cause could quote it
	}
	return content, nil
}

// edit is a new value; "" leaves the old one.
type edit struct {
	path  string
	value any
}

// expiry brings every expiry the file has up to date, each in the unit it is in. A file that has none gets the usual one,
// unless the token tells it itself.
func (f *format) expiry(at gjson.Result, g grant, now time.Time) []edit {
	until := g.expires(now)
	if until.IsZero() {
		return nil
	}
	var edits []edit
	for _, name := range f.names.expires {
		switch v := at.Get(name); {
		case v.Type == gjson.String:
			edits = append(edits, edit{name, until.Format(time.RFC3339Nano)})
		case v.Type == gjson.Number && inMillis(v):
			edits = append(edits, edit{name, until.UnixMilli()})
		case v.Type == gjson.Number:
			edits = append(edits, edit{name, until.Unix()})
		}
	}
	if edits == nil && claimsOf(g.access).expires().IsZero() {
		usual := edit{f.names.expires[0], until.Unix()}
		if f.millis {
			usual.value = until.UnixMilli()
		}
		edits = []edit{usual}
	}
	return edits
}

// present is the first of the names that the object has, else the usual one.
func present(at gjson.Result, names []string) string {
	for _, name := range names {
		if at.Get(name).Exists() {
			return name
		}
	}
	return names[0]
}

func join(root, name string) string {
	if root == "" {
		return name
	}
	return root + "." + name
}

// replaceFile puts content in the place of a file that exists: a crash at any point leaves the old one or the new one,
// whole, with the mode and as far as possible the owner of the old one. path is no symbolic link. The caller holds the
// file's lock.
func replaceFile(path string, content []byte) error {
	old, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, cause(err))
	}
	temp := tempName(path) // always the same: what a crash leaves behind is overwritten by the next write
	if err := writeSynced(temp, content, old); err != nil {
		_ = os.Remove(temp) // it holds tokens, and it is of no use
		return fmt.Errorf("write beside %s: %w", path, cause(err))
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

func writeSynced(path string, content []byte, like os.FileInfo) error {
	_ = os.Remove(path) // a leftover may have another owner, or be a link to elsewhere
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	giveTo(file, like) // before the mode: a change of owner takes bits away
	return errors.Join(err, file.Chmod(like.Mode().Perm()), file.Sync(), file.Close())
}

// syncFolder makes a rename in it durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, cause(err))
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}

// tempName and lockName are hidden siblings that bear the hub's name: the names that owners use for theirs (auth.json.lock,
// .oauth_refresh.lock) are folders for some of them, and a file in that place would keep the owner from signing in.
func tempName(path string) string { return sibling(path, ".hermes-hub.tmp") }
func lockName(path string) string { return sibling(path, ".hermes-hub.lock") }

func sibling(path, end string) string {
	folder, name := filepath.Split(path)
	return filepath.Join(folder, "."+name+end)
}
