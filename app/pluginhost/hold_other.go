//go:build !unix

package pluginhost

import (
	"errors"
	"io/fs"
	"os"
)

// hold cannot tell here whether somebody else holds the folder.
func hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func ours(fs.FileInfo) bool { return true }
