package feed

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/formats"
)

// folder gives the feed files of the run with this number, in order of name.
// If there are sub-folders 1, 2, …, run n reads the highest up to n, so the
// last goes on for ever; else all files of the feed folder belong to every run.
func folder(files fs.FS, number int) ([]string, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	root, best, lowest := ".", 0, 0
	for _, entry := range entries {
		n, err := strconv.Atoi(entry.Name())
		if err != nil || n < 1 || strconv.Itoa(n) != entry.Name() || !isDir(files, entry) {
			continue
		}
		if n <= max(number, 1) && n > best {
			best = n
		}
		if lowest == 0 || n < lowest {
			lowest = n
		}
	}
	if best == 0 {
		best = lowest
	}
	if best > 0 {
		root = strconv.Itoa(best)
	}
	var names []string
	err = fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != root && strings.HasPrefix(path.Base(name), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && formats.Known(name) && isFile(files, name):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// isDir follows links: mounted folders often consist of them.
func isDir(files fs.FS, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := fs.Stat(files, entry.Name())
	return err == nil && info.IsDir()
}

// isFile leaves out pipes and devices, which could keep a reader waiting. A file
// that cannot be looked at is kept, so that its reading reports why.
func isFile(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return (err != nil && !errors.Is(err, fs.ErrNotExist)) || (err == nil && info.Mode().IsRegular())
}
