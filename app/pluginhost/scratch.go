package pluginhost

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

const (
	scratchPrefix = "stage-"
	// socketTail is what go-plugin adds to a folder for its socket, and what we add
	// for the call; a socket's path has at most 107 bytes.
	socketTail = len("/stage-4294967295") + len("/plugin-dir4294967295") + len("/plugin4294967295")
	socketPath = 107
)

// scratchRoot is where calls get their folders. Leftovers of a host that was
// killed go after a day.
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
	left, _ := filepath.Glob(filepath.Join(dir, scratchPrefix+"*"))
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && time.Since(info.ModTime()) > 24*time.Hour {
			removeAll(path)
		}
	}
	return dir, nil
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
