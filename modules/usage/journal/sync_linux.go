package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// datasync writes the file's content to the disk, and of its metadata what that needs.
func datasync(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
