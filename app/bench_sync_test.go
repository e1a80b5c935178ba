//go:build !linux

package app_test

import "os"

// syncData waits until what was written is on disk.
func syncData(file *os.File) error { return file.Sync() }
