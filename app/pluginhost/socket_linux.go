package pluginhost

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// openSocket opens a socket of a folder without connecting to it. The path that it
// returns leads to this very socket until it is closed; no link of the folder is followed.
func openSocket(folder, name string) (io.Closer, string, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, "", err
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	file := os.NewFile(uintptr(fd), name)
	if info, err := file.Stat(); err != nil || info.Mode().Type() != os.ModeSocket {
		_ = file.Close()
		return nil, "", errAddress
	}
	return file, fmt.Sprintf("/proc/self/fd/%d", fd), nil
}
