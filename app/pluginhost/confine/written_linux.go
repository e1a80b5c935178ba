package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// written is the size of the folders of the host that a process writes, on their disk, with
// files that have no name any more and are open; one that is only mapped, or on its way
// through a socket, is not seen. It is more than may be where it cannot be read, or there are
// too many files.
func (u *usage) written(processes []string) (size int64) {
	p := u.p
	type file struct{ device, number uint64 }
	seen, count, beyond := map[file]bool{}, 0, p.Written+1
	add := func(info fs.FileInfo) {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return
		}
		if one := (file{uint64(stat.Dev), stat.Ino}); !seen[one] { // it may have several names
			seen[one] = true
			size += stat.Blocks * 512
		}
	}
	devices := map[uint64]bool{}
	for _, folder := range p.Writes {
		if info, err := os.Stat(folder); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				devices[uint64(stat.Dev)] = true
			}
		}
		_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil {
				var info fs.FileInfo
				if info, err = entry.Info(); err == nil {
					add(info)
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
				size = beyond // hidden, or a name that is too long
			}
			if count++; count > p.WrittenFiles {
				size = beyond
			}
			if size > p.Written {
				return fs.SkipAll
			}
			return nil // what is gone meanwhile is gone
		})
	}
	for _, process := range processes {
		folder := "/proc/" + process + "/fd/"
		names, err := os.ReadDir(folder)
		if len(names) == 0 && u.hides(process, err) {
			return beyond
		}
		for _, name := range names {
			info, err := os.Stat(folder + name.Name())
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 0 && devices[uint64(stat.Dev)] {
				add(info)
			}
		}
	}
	return size
}
