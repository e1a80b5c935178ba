//go:build unix

package host

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Hold locks a folder for as long as the file is open, which is at most until the
// process ends. It does not wait.
func Hold(path string) (*os.File, error) {
	folder, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = folder.Close()
		return nil, err
	}
	return folder, nil
}

// identity tells a file from another one that takes its place.
func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(stat.Dev, ":", stat.Ino)
}

// ours reports whether the folder is this user's: in a shared place another user may
// have made one of the same name.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
