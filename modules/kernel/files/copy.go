package files

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"
)

// untouched is the time of change of a copied file until it is written again.
var untouched = time.Unix(0, 0)

// Copy is a folder with copies of files that are stored elsewhere, for one program. When
// the program has ended, the copy says what the program changed. It is not safe for
// concurrent use.
type Copy struct {
	folder *Folder
	// given has the sizes of the copied files.
	given map[string]int64
}

// NewCopy creates the folder, without files.
func NewCopy(dir string, limits Limits) (*Copy, error) {
	folder, err := Open(dir, limits, false)
	if err != nil {
		return nil, err
	}
	return &Copy{folder: folder, given: map[string]int64{}}, nil
}

// Close releases the folder. It does not delete it.
func (c *Copy) Close() error { return c.folder.Close() }

// Give copies a file into the folder. The limits do not apply: the file is stored
// already. It fails if the folder has the file, which may be under a name that this
// file system does not distinguish.
func (c *Copy) Give(name string, data []byte) error {
	if err := CheckPath(name); err != nil {
		return err
	}
	at := path.Join(filesName, name)
	if err := c.folder.root.MkdirAll(path.Dir(at), 0o700); err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	file, err := c.folder.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	if err := c.folder.root.Chtimes(at, untouched, untouched); err != nil {
		return fmt.Errorf("copy a file: %w", err)
	}
	c.given[name] = int64(len(data))
	return nil
}

// Changes returns the files that were written since they were copied, and the copied
// ones that are gone. It leaves out names that CheckPath refuses and all that is not a
// regular file: the program's own functions make neither.
func (c *Copy) Changes() (written []File, removed []string, err error) {
	left := maps.Clone(c.given)
	err = c.folder.walk(func(name string, info fs.FileInfo) {
		if !info.Mode().IsRegular() || CheckPath(name) != nil {
			return
		}
		size, given := left[name]
		delete(left, name)
		if !given || size != info.Size() || !info.ModTime().Equal(untouched) {
			written = append(written, File{Path: name, Size: info.Size()})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return written, slices.Sorted(maps.Keys(left)), nil
}

// Read returns the content of a file.
func (c *Copy) Read(name string) (string, error) { return c.folder.Read(name) }
