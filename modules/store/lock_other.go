//go:build !unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// dirLock is held by the one process that runs the jobs of a data directory. Here
// it is a file that stays when the process is killed, and is then removed by hand.
type dirLock struct{ path string }

func lockDir(_ context.Context, dir string) (*dirLock, error) {
	path := filepath.Join(dir, "scrollery.lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("another process works on the data directory; if not, remove %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock data dir: %w", err)
	}
	return &dirLock{path}, file.Close()
}

func (l *dirLock) release() error { return os.Remove(l.path) }
