//go:build !unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// fileLock is held by one process at a time. Here it is a file that stays when the
// process is killed, and is then removed by hand.
type fileLock struct{ path string }

// lockFile waits for the lock until ctx ends.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return &fileLock{path}, file.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process holds %s; if none runs, remove it", path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (l *fileLock) release() error { return os.Remove(l.path) }
