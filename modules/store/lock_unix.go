//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockWait bounds the wait for a process that is on its way out.
const lockWait = 5 * time.Second

// dirLock is held by the one process that runs the jobs of a data directory. The
// kernel frees it with the process, however that ends.
type dirLock struct{ file *os.File }

func lockDir(ctx context.Context, dir string) (*dirLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "scrollery.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data dir: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return &dirLock{file}, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock data dir: %w", err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("another process works on the data directory %s", dir), file.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (l *dirLock) release() error { return l.file.Close() }
