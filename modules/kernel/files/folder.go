// Package folder keeps one account's files in one folder, within bounds.
//
// Two sides use it at the same time: the service, for a caller who sends a file,
// and the process of a program that the account runs. So the bounds are kept
// under a lock of the operating system, and nothing is remembered between calls:
//
//	<folder>/lock     held while a file is written
//	<folder>/new      the file in the making
//	<folder>/files/   what the account sees
//
// No path leads out of the folder: os.Root sees to that, whatever else lies in
// there. Links are not followed at all, and only regular files are opened.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// The names beside each other in a folder.
const (
	lockName  = "lock"
	newName   = "new"
	filesName = "files"
)

// Limits bound a folder.
type Limits struct {
	// File is the most bytes of one file.
	File int64 `yaml:"file"`
	// Total is the most bytes of all files together.
	Total int64 `yaml:"total"`
	// Entries is the most files and folders: empty files cost room too.
	Entries int `yaml:"entries"`
}

// Defaults are 1 MiB a file, 64 MiB and 4,096 entries in all.
func Defaults() Limits { return Limits{File: 1 << 20, Total: 64 << 20, Entries: 4096} }

// Validate reports a bound that lets nothing in.
func (l Limits) Validate() error {
	if l.File < 1 || l.Total < l.File || l.Entries < 1 {
		return errors.New("files: want 1 byte a file, room for one file and 1 entry at least")
	}
	return nil
}

// The parts of a request that an Error blames.
const (
	PathField = "path"
	DataField = "data"
)

// Error is a refusal that whoever asked may read.
type Error struct {
	// Field is PathField or DataField.
	Field   string
	Message string
}

func (e *Error) Error() string { return e.Message }

func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Message: fmt.Sprintf(format, args...)}
}

// Folder is one account's. It is safe for concurrent use, by processes too.
type Folder struct {
	dir    string
	root   *os.Root
	limits Limits
	// lasting writes survive a power cut.
	lasting bool
}

// Open makes the folder where it is missing. lasting has every write reach the
// disk before it is answered.
func Open(dir string, limits Limits, lasting bool) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	f := &Folder{dir: dir, root: root, limits: limits, lasting: lasting}
	if err := root.MkdirAll(filesName, 0o700); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	return f, nil
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Read returns a file's content.
func (f *Folder) Read(name string) (string, error) {
	if err := CheckPath(name); err != nil {
		return "", err
	}
	info, err := f.look(name)
	if err != nil {
		return "", err
	}
	if info == nil || !info.Mode().IsRegular() {
		return "", refuse(PathField, "there is no such file")
	}
	if info.Size() > f.limits.File {
		return "", refuse(PathField, "the file is longer than %d bytes", f.limits.File)
	}
	content, err := f.root.ReadFile(path.Join(filesName, name))
	if err != nil {
		return "", fmt.Errorf("read a file: %w", err)
	}
	return string(content), nil
}

// look walks down to name without following a link. info is nil where nothing
// is there.
func (f *Folder) look(name string) (info fs.FileInfo, err error) {
	for at := 0; at <= len(name); at++ {
		if at < len(name) && name[at] != '/' {
			continue
		}
		info, err = f.root.Lstat(path.Join(filesName, name[:at]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("look for a file: %w", err)
		case at < len(name) && !info.IsDir():
			return nil, refuse(PathField, "%q is no folder", name[:at])
		}
	}
	return info, nil
}

// File is one entry of a list.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// List returns the regular files by path.
func (f *Folder) List() ([]File, error) {
	files := []File{}
	err := f.walk(func(name string, info fs.FileInfo) {
		if info.Mode().IsRegular() {
			files = append(files, File{Path: name, Size: info.Size()})
		}
	})
	return files, err
}

// walk visits all that lies in the files folder, in the order of names. What
// somebody deletes meanwhile is left out.
func (f *Folder) walk(visit func(name string, info fs.FileInfo)) error {
	err := fs.WalkDir(f.root.FS(), filesName, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && at != filesName {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				visit(at[len(filesName)+1:], info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	return nil
}
