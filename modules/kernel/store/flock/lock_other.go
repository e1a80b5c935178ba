//go:build !unix

package flock

import (
	"errors"
	"fmt"
	"os"
)

// Lock is held by one process at a time. Here it is a file that stays when the
// process is killed, and is then removed by hand.
type Lock struct{ path string }

// Try takes the lock of a file, which is made where it is missing. It returns ErrLocked
// at once where it is held.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return &Lock{path}, file.Close()
}

// Release gives the lock back. Call it once.
func (l *Lock) Release() error { return os.Remove(l.path) }
