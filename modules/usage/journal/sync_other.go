//go:build !linux

package journal

import "os"

func datasync(file *os.File) error { return file.Sync() }
