package datasync

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// File writes a file's content to the disk, and of its metadata what that needs.
func File(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
