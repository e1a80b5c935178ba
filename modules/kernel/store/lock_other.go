//go:build !unix

package store

import (
	"errors"
	"fmt"
	"os"
)

// fileLock is held by one process at a time. Here it is a file that stays when the
// process is killed, and is then removed by hand.
type fileLock struct{ path string }

// tryLockFile returns errLocked when another process, or another lock of this one,
// holds the file.
func tryLockFile(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return &fileLock{path}, file.Close()
}

func (l *fileLock) release() error { return os.Remove(l.path) }
