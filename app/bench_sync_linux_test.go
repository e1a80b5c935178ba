package app_test

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData waits until what was written is on disk. The file keeps its size.
func syncData(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
