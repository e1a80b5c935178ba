// Package files stores one account's files in one folder, within limits. For stores of
// another kind it has the same limits as an Index, and a Copy for one program.
//
// Two processes use a folder at the same time: the server, for a caller who sends a
// file, and a program that the account runs. The limits are therefore checked under a
// lock of the operating system, and nothing is cached between calls:
//
//	<folder>/lock     locked while a file is written
//	<folder>/new      the file being written
//	<folder>/files/   the account's files
//
// os.Root keeps every path inside the folder. The package never follows a link and
// opens only regular files.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// The names in a folder.
// Content is the folder of an account's files, in the folder that [Open] takes.
const Content = "files"

const (
	lockName  = "lock"
	newName   = "new"
	filesName = Content
)

// Limits bound a folder.
type Limits struct {
	// File is the most bytes of one file.
	File int64 `yaml:"file"`
	// Total is the most bytes of all files together.
	Total int64 `yaml:"total"`
	// Entries is the most files and folders: empty files take space too.
	Entries int `yaml:"entries"`
}

// Defaults are 1 MiB a file, 64 MiB and 4,096 entries in all.
func Defaults() Limits { return Limits{File: 1 << 20, Total: 64 << 20, Entries: 4096} }

// Validate reports a limit that refuses every file.
func (l Limits) Validate() error {
	if l.File < 1 || l.Total < l.File || l.Entries < 1 {
		return errors.New("files: want at least 1 byte a file, space for one file, and 1 entry")
	}
	return nil
}

// The fields of a request that an Error can name.
const (
	PathField = "path"
	DataField = "data"
)

// Error is a refusal with a message for the caller.
type Error struct {
	// Field is PathField or DataField.
	Field   string
	Message string
}

func (e *Error) Error() string { return e.Message }

func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Message: fmt.Sprintf(format, args...)}
}

// Folder is the folder of one account. It is safe for concurrent use, also by several
// processes.
type Folder struct {
	dir    string
	root   *os.Root
	limits Limits
	// lasting: writes survive a power cut.
	lasting bool
}

// Open opens the folder and creates it if it is missing. With lasting, every write is
// on disk before it returns.
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

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Read returns the content of a file.
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

// look walks down to name without following links. info is nil if nothing is there.
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
			return nil, refuse(PathField, "%q is not a folder", name[:at])
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

// walk visits the entries of the files folder in the order of their names. It skips
// entries that are deleted meanwhile.
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
