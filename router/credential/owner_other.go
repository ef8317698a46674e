//go:build !unix

package credential

import "os"

// giveTo does nothing: a new file inherits its folder's owner here.
func giveTo(*os.File, os.FileInfo) {}
