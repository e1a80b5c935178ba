//go:build unix

package archive

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// own gives a file the owner of another one, if that is there: a server that could read the
// one can read the other.
func own(path, other string) error {
	info, err := os.Stat(other)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return os.Chown(path, int(stat.Uid), int(stat.Gid))
	}
	return nil
}

// syncFolder puts the names of a folder onto the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
