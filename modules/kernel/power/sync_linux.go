package power

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Sync writes a file's content to the disk, and of its metadata what that needs.
func Sync(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
