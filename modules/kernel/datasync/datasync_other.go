//go:build !linux

package datasync

import "os"

// File writes a file's content to the disk, with its metadata.
func File(file *os.File) error { return file.Sync() }
