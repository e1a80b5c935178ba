package host

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	scratchPrefix = "stage-"
	mediaPrefix   = "media-"
	filesPrefix   = "files-"
	// workFolder of a call is what its stage may write; the call's own folder has
	// the sockets too.
	workFolder = "work"
	// mark is the file by which a host knows a folder as one of a host's.
	mark = ".scrollery"
	// socketTail is what go-plugin adds to a folder for its socket, and what we add
	// for the call; a socket's path has at most 107 bytes.
	socketTail = len("/stage-4294967295") + len("/plugin-dir4294967295") + len("/plugin4294967295")
	socketPath = 107
	// leftover is how old a folder must be to be taken for a dead host's on a system
	// without locks.
	leftover = 24 * time.Hour
)

// scratch is one folder of the host, held as long as the host lives: another host
// in the same place learns from the lock whether it may delete it.
type scratch struct {
	path string
	lock *os.File
}

// newScratch makes a folder in root.
func newScratch(root, prefix string) (*scratch, error) {
	path, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return nil, err
	}
	made := &scratch{path: path}
	// The mark comes last: a folder with a mark is held, or its host is dead.
	if made.lock, err = Hold(path); err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = os.WriteFile(filepath.Join(path, mark), nil, 0o600)
	}
	if err != nil {
		made.remove()
		return nil, err
	}
	return made, nil
}

// Scratch is an empty folder for a caller of the host. Nothing of it outlives Remove; if
// the host is killed, the next one deletes it.
type Scratch struct {
	held *scratch
	path string // below held's: programs that may write it must not reach the mark
	all  *Processes
}

// ScratchFolder makes one.
func (all *Processes) ScratchFolder() (*Scratch, error) {
	made, err := newScratch(all.scratch, filesPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a scratch folder: %w", err)
	}
	path := filepath.Join(made.path, workFolder)
	if err := os.Mkdir(path, 0o700); err != nil {
		made.remove()
		return nil, fmt.Errorf("make a scratch folder: %w", err)
	}
	all.mu.Lock()
	all.borrowed++
	all.mu.Unlock()
	return &Scratch{made, path, all}, nil
}

// Path is the path of the folder.
func (s *Scratch) Path() string { return s.path }

// Remove deletes the folder and all that is in it. It is called once.
func (s *Scratch) Remove() {
	s.held.remove()
	s.all.mu.Lock()
	s.all.borrowed--
	s.all.mu.Unlock()
}

func (s *scratch) remove() {
	removeAll(s.path)
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// scratchRoot is where calls get their folders. Those of a host that was killed
// are deleted.
func scratchRoot(dir string, log *slog.Logger) (string, error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if len(abs)+socketTail > socketPath {
			log.Warn("the scratch folder's path is too long for a socket; using the system's", "dir", abs)
			dir = ""
		} else {
			dir = abs
		}
	}
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("scratch folder: %w", err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("scratch folder: %w", err)
	}
	for _, prefix := range []string{scratchPrefix, mediaPrefix, filesPrefix} {
		left, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
		for _, path := range left {
			if ourName(filepath.Base(path), prefix) {
				sweep(path)
			}
		}
	}
	return dir, nil
}

// ourName reports whether newScratch makes such names. Other programs may, too: the name
// alone proves nothing.
func ourName(name, prefix string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(name, prefix), 10, 32)
	return err == nil
}

// sweep deletes a folder that has a host's mark and that no host holds any more.
func sweep(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || !ours(info) {
		return
	}
	if seal, err := os.Lstat(filepath.Join(path, mark)); err != nil || !seal.Mode().IsRegular() {
		return
	}
	lock, err := Hold(path)
	if err == nil || errors.Is(err, errors.ErrUnsupported) && time.Since(info.ModTime()) > leftover {
		(&scratch{path, lock}).remove()
	}
}

// removeAll deletes a folder, even where a stage took the rights to it away.
func removeAll(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(path)
}
