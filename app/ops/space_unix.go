//go:build linux || darwin

package ops

import "golang.org/x/sys/unix"

// freeBytes is what an ordinary user can still write on the disk of a folder.
func freeBytes(folder string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}
