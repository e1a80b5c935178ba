package confine

import (
	"errors"
	"net"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt tries what a plugin has no use for.
func attempt(do, arg string) (string, error) {
	if change, ok := fileChanges(arg)[do]; ok {
		return "changed", change()
	}
	number, _ := strconv.Atoi(arg)
	switch do {
	case "dial":
		connection, err := net.Dial("tcp", arg)
		if err != nil {
			return "", err
		}
		return "through", connection.Close()
	case "truncate":
		return "emptied", os.Truncate(arg, 0)
	case "open", "open3": // reading, and neither reading nor writing
		mode := os.O_TRUNC
		if do == "open3" {
			mode |= unix.O_ACCMODE
		}
		fd, err := unix.Open(arg, mode, 0)
		_ = unix.Close(fd)
		return "emptied", err
	case "openat2":
		fd, err := unix.Openat2(unix.AT_FDCWD, arg, &unix.OpenHow{Flags: unix.O_TRUNC})
		_ = unix.Close(fd)
		return "emptied", err
	case "ftruncate": // of its own
		file, err := os.CreateTemp("", "")
		if err != nil {
			return "", err
		}
		defer file.Close()
		return "emptied", file.Truncate(5)
	case "listen": // without a bind, at a port of the kernel's choice
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return "", err
		}
		return "listens", unix.Listen(fd, 1)
	case "kill":
		return "sent", unix.Kill(number, 0)
	case "tgkill":
		return "sent", unix.Tgkill(number, number, 0)
	case "pidfd":
		fd, err := unix.PidfdOpen(number, 0)
		_ = unix.Close(fd)
		return "opened", err
	case "limit":
		return "limited", unix.Prlimit(number, unix.RLIMIT_CORE, nil, &unix.Rlimit{})
	case "clone": // a sibling: a child of the host
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return bornSibling(pid, errno)
	case "clone3":
		args := [8]uint64{0: unix.CLONE_PARENT} // its exit signal is this process's own
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		return bornSibling(pid, errno)
	}
	return "", errors.New("unknown attempt")
}

// bornSibling ends the new process at once.
func bornSibling(pid uintptr, errno unix.Errno) (string, error) {
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return "born", nil
}

// fileChanges are ways to change what a file is; those of an open file need no more
// than to read it.
func fileChanges(path string) map[string]func() error {
	name, _ := unix.BytePtrFromString(path)
	attribute, _ := unix.BytePtrFromString("user.plugin")
	at, here := unsafe.Pointer(name), ^uintptr(99) // AT_FDCWD is -100
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			args = append(args, make([]uintptr, 6-len(args))...)
			if _, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	open := func(change func(fd int) error) func() error {
		return func() error {
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			return change(int(file.Fd()))
		}
	}
	old := []unix.Timespec{{Sec: 1}, {Sec: 1}}
	return map[string]func() error{
		"chmod":     func() error { return os.Chmod(path, 0o777) },
		"fchmodat2": call(unix.SYS_FCHMODAT2, here, uintptr(at), 0o777, 0),
		"fchmod":    open(func(fd int) error { return unix.Fchmod(fd, 0o777) }),
		"chown":     func() error { return os.Chown(path, os.Getuid(), os.Getgid()) },
		"lchown":    func() error { return os.Lchown(path, os.Getuid(), os.Getgid()) },
		"fchown":    open(func(fd int) error { return unix.Fchown(fd, os.Getuid(), os.Getgid()) }),
		"chtimes":   func() error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) },
		"utimes":    func() error { return unix.Utimes(path, make([]unix.Timeval, 2)) },
		"futimens": open(func(fd int) error {
			return call(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&old[0])), 0)()
		}),
		"setxattr":      func() error { return unix.Setxattr(path, "user.plugin", []byte("x"), 0) },
		"lsetxattr":     func() error { return unix.Lsetxattr(path, "user.plugin", []byte("x"), 0) },
		"fsetxattr":     open(func(fd int) error { return unix.Fsetxattr(fd, "user.plugin", []byte("x"), 0) }),
		"setxattrat":    call(unix.SYS_SETXATTRAT, here, uintptr(at), 0, uintptr(unsafe.Pointer(attribute)), 0, 0),
		"removexattr":   func() error { return unix.Removexattr(path, "user.plugin") },
		"lremovexattr":  func() error { return unix.Lremovexattr(path, "user.plugin") },
		"removexattrat": call(unix.SYS_REMOVEXATTRAT, here, uintptr(at), 0, uintptr(unsafe.Pointer(attribute))),
		"file_setattr":  call(unix.SYS_FILE_SETATTR, here, uintptr(at), 0, 0, 0),
		"setflags": open(func(fd int) error {
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0)
		}),
	}
}
