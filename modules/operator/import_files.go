package operator

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/formats"
)

// importFile is one file of an import.
type importFile struct {
	// dir is the folder that was named, or the file's own; nil for the input.
	dir fs.FS
	// name is relative to dir; shown is the path as it was given.
	name, shown string
	// found says that the folder was named, and not the file.
	found bool
	size  int64
	// modified in Unix milliseconds; 0 for the input.
	modified int64
	// passed counts the files of the folder that are of no kind that is read. Only the
	// first file of a folder has it.
	passed      int
	firstPassed string
}

// findFiles lists the files of some paths: a file as it is, of a folder all that
// may hold videos, in the order of their names. Hidden ones are left out there.
func findFiles(paths []string) (files []importFile, err error) {
	for _, path := range paths {
		if path == "-" {
			files = append(files, importFile{shown: "-", size: -1})
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			dir, name := filepath.Split(path)
			if dir == "" {
				dir = "."
			}
			files = append(files, importFile{dir: os.DirFS(dir), name: name, shown: path, size: info.Size(), modified: info.ModTime().UnixMilli()})
			continue
		}
		found, err := inFolder(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no .jsonl, .ndjson, .json, .csv, .tsv, .xlsx or .zip file in it, packed by gzip or not", path)
		}
		files = append(files, found...)
	}
	return files, nil
}

func inFolder(root string) (files []importFile, err error) {
	dir, passed, first := os.DirFS(root), 0, ""
	err = fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() || strings.HasSuffix(name, ".map.json"):
			return nil
		case !formats.Known(name):
			if passed++; passed == 1 {
				first = name
			}
			return nil
		}
		info, err := fs.Stat(dir, name) // follows links
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		files = append(files, importFile{dir: dir, name: name, found: true, shown: filepath.Join(root, filepath.FromSlash(name)), size: info.Size(), modified: info.ModTime().UnixMilli()})
		return nil
	})
	if len(files) > 0 {
		files[0].passed, files[0].firstPassed = passed, first
	}
	return files, err
}

// isStream reports whether the input is among the files, which may last.
func isStream(files []importFile) bool {
	return slices.ContainsFunc(files, func(file importFile) bool { return file.dir == nil })
}

// sizeOf is the number of bytes to read; -1 where it is unknown.
func sizeOf(files []importFile) (sum int64) {
	for _, file := range files {
		if file.size < 0 {
			return -1
		}
		sum += file.size
	}
	return sum
}
