package admin

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes-hub/router"
)

// secretFile is the generated secret's name in the data dir.
const secretFile = "admin.secret"

// ExposedSecretError comes with a secret that works: others on this machine can read its file.
type ExposedSecretError struct {
	Path string
	Mode fs.FileMode
}

func (e *ExposedSecretError) Error() string {
	return fmt.Sprintf("%s can be read by others (mode %04o): chmod 600 it", e.Path, e.Mode)
}

// Secret returns the admin secret that is kept in dataDir, and makes it first where there is none: the secret of a hub
// on loopback whose configuration names no key. Of several processes that start at once all get the same one. With an
// *ExposedSecretError the secret is returned all the same.
func Secret(dataDir string) (secret router.Secret, created bool, err error) {
	path := filepath.Join(dataDir, secretFile)
	secret, err = readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, false, err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return router.Secret{}, false, fmt.Errorf("create data dir: %w", err)
	}
	err = createSecret(path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return router.Secret{}, false, fmt.Errorf("create admin secret: %w", err)
	}
	created = err == nil
	secret, err = readSecret(path) // the winner's, whoever won
	return secret, created, err
}

func readSecret(path string) (router.Secret, error) {
	data, err := readAtMost(path, maxToken)
	if err != nil {
		return router.Secret{}, fmt.Errorf("read admin secret: %w", err)
	}
	secret := router.NewSecret(strings.TrimSpace(string(data)))
	if err := CheckSecret(secret); err != nil {
		return router.Secret{}, fmt.Errorf("admin secret in %s %w, or delete the file to have one made", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return router.Secret{}, fmt.Errorf("read admin secret: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return secret, &ExposedSecretError{Path: path, Mode: mode}
	}
	return secret, nil
}

// createSecret writes a new secret to path, or fails with fs.ErrExist. It is written whole and durable under another
// name and appears at path by a link, which only one process gets: nobody ever reads half a secret, and after a crash
// there is a whole one or none.
func createSecret(path string) error {
	random := make([]byte, minSecret)
	rand.Read(random) // never fails: crypto/rand ends the process instead
	draft := path + "." + rand.Text()
	if err := writeDurably(draft, []byte(hex.EncodeToString(random)+"\n")); err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := os.Link(draft, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeDurably(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// syncDir makes the directory's entries durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
