//go:build unix && !solaris && !aix

package files

import (
	"errors"
	"os"
	"syscall"
)

// hold locks the open file until it is closed or the process ends.
func hold(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
