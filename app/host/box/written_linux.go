package box

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var errFull = errors.New("more than the policy allows")

// fits reports whether the folders of the host that a process writes have no more files,
// nor more bytes on their disk, than they may, together with files that have no name any
// more and are open. What cannot be read is too much.
func fits(p Policy, processes []string) bool {
	files, size, disks := 0, int64(0), map[uint64]bool{}
	for _, folder := range p.Writes {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			var stat unix.Stat_t
			if err == nil {
				err = unix.Lstat(path, &stat)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone meanwhile
			}
			disks[stat.Dev] = true
			if files, size = files+1, size+stat.Blocks*512; files > p.WrittenFiles || size > p.Written {
				return errFull
			}
			return err
		})
		if err != nil {
			return false
		}
	}
	for _, process := range processes {
		open, _ := filepath.Glob("/proc/" + process + "/fd/*")
		for _, path := range open {
			var stat unix.Stat_t
			if unix.Stat(path, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFREG && stat.Nlink == 0 && disks[stat.Dev] {
				size += stat.Blocks * 512
			}
		}
	}
	return size <= p.Written
}
