// Package flock locks files between processes.
package flock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLocked is the error of a lock that another process holds, or another lock of this
// one.
var ErrLocked = errors.New("another process holds the lock")

// Wait takes the lock of a file, and waits for it until ctx ends.
func Wait(ctx context.Context, path string) (*Lock, error) {
	for {
		lock, err := Try(path)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process holds %s", path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
