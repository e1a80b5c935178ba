//go:build !linux

package power

import "os"

// Sync writes a file's content to the disk, with its metadata.
func Sync(file *os.File) error { return file.Sync() }
