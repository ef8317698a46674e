//go:build unix

package credential

import (
	"os"
	"syscall"
)

// giveTo makes the file its predecessor's owner's. Only root may, and needs to: others write files that are theirs.
func giveTo(file *os.File, like os.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}
