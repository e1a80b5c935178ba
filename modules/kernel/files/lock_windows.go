package files

import (
	"os"

	"golang.org/x/sys/windows"
)

// hold locks the open file until it is closed or the process ends.
func hold(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
}
