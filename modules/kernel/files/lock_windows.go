package files

import (
	"os"

	"golang.org/x/sys/windows"
)

// hold locks the open file; closing it, or the end of the process, lets go.
func hold(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
}
