package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var errLocked = errors.New("another process holds the lock")

// lockFile waits for the lock until ctx ends.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	for {
		lock, err := tryLockFile(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process holds %s", path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
