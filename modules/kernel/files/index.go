package files

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Index has the sizes of one account's files, for a store without folders. It applies
// the limits as a Folder does: a folder exists while a file is below it, and counts as
// an entry. It is not safe for concurrent use.
type Index struct {
	sizes map[string]int64
	// folders has the number of files below each folder.
	folders map[string]int
	used    int64
}

// NewIndex returns the index of no files.
func NewIndex() *Index { return &Index{sizes: map[string]int64{}, folders: map[string]int{}} }

// Add adds a file that is stored already, or replaces its size.
func (x *Index) Add(name string, size int64) {
	x.Remove(name)
	x.sizes[name] = size
	x.used += size
	for folder := range parents(name) {
		x.folders[folder]++
	}
}

// Remove removes a file, and the folders that become empty. It reports whether there
// was such a file.
func (x *Index) Remove(name string) bool {
	size, found := x.sizes[name]
	if !found {
		return false
	}
	delete(x.sizes, name)
	x.used -= size
	for folder := range parents(name) {
		if x.folders[folder]--; x.folders[folder] == 0 {
			delete(x.folders, folder)
		}
	}
	return true
}

// Write adds a file, or replaces its size, or refuses it with an Error.
func (x *Index) Write(limits Limits, name string, size int64) error {
	if err := CheckPath(name); err != nil {
		return err
	}
	if size > limits.File {
		return tooLong(limits, size)
	}
	entries := 0
	for folder := range parents(name) {
		if _, file := x.sizes[folder]; file {
			return refuse(PathField, "%q is not a folder", folder)
		}
		if x.folders[folder] == 0 {
			entries++
		}
	}
	if x.folders[name] > 0 {
		return refuse(PathField, "the path belongs to something that is not a file")
	}
	before, replaced := x.sizes[name]
	if !replaced {
		entries++
	}
	now := count{used: x.used, entries: len(x.sizes) + len(x.folders)}
	if _, err := limits.fits(now, size-before, entries); err != nil {
		return err
	}
	x.Add(name, size)
	return nil
}

// Size returns the size of a file in bytes, or 0 if there is none.
func (x *Index) Size(name string) int64 { return x.sizes[name] }

// List returns the files in the order of a Folder's list.
func (x *Index) List() []File {
	list := make([]File, 0, len(x.sizes))
	for name, size := range x.sizes {
		list = append(list, File{Path: name, Size: size})
	}
	slices.SortFunc(list, func(a, b File) int { return compareParts(a.Path, b.Path) })
	return list
}

// compareParts orders paths part by part: a/b is before a.txt.
func compareParts(a, b string) int {
	return cmp.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

// parents returns the folders on the way to a file, the nearest first.
func parents(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
			if !yield(name[:at]) {
				return
			}
		}
	}
}
