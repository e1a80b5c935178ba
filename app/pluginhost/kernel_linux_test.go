package pluginhost_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelAttempt tries what a stage has no use for.
func kernelAttempt(do, arg string) (string, error) {
	if change, ok := changes(arg)[do]; ok {
		return "changed", change()
	}
	switch do {
	case "clone": // a child of whoever started this process
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return bornSibling(pid, errno)
	case "clone3":
		args := [8]uint64{0: unix.CLONE_PARENT} // its exit signal is this process's own
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		return bornSibling(pid, errno)
	}
	return "", errors.New("unknown attempt")
}

// bornSibling ends the child at once.
func bornSibling(pid uintptr, errno unix.Errno) (string, error) {
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return "born", nil
}

// changes are ways to change what a file is; those of an open file need no more
// than to read it.
func changes(path string) map[string]func() error {
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

// TestNoFileIsChanged: Landlock has no say in these.
func TestNoFileIsChanged(t *testing.T) {
	t.Parallel()
	landlock(t, 1)
	o := newOutside(t)
	b := o.setup(t)
	if err := os.Chmod(o.secret, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(o.secret)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var terms []string
	for _, do := range slices.Sorted(maps.Keys(changes(""))) {
		path := o.secret
		if strings.HasPrefix(do, "f") && do != "fchmodat2" && do != "file_setattr" || do == "setflags" {
			path = own // which it may read
		}
		terms = append(terms, do+":"+path)
	}
	for i, got := range b.attempts(t, "outward", terms...) {
		if !strings.Contains(got, "operation not permitted") {
			t.Errorf("%s: %q", terms[i], got)
		}
	}
	after, err := os.Stat(o.secret)
	if err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v, %v: was %v, %v (%v)", after.Mode(), after.ModTime(), before.Mode(), before.ModTime(), err)
	}
	if size, err := unix.Listxattr(o.secret, nil); err == nil && size > 0 {
		t.Error("it has an attribute now")
	}
	if uid := after.Sys().(*syscall.Stat_t).Uid; int(uid) != os.Getuid() {
		t.Error("it belongs to", uid)
	}
}

// TestNobodyIsMadeTheHostsChild: the host would not know of it, and never reap it.
func TestNobodyIsMadeTheHostsChild(t *testing.T) {
	t.Parallel()
	landlock(t, 1)
	b := newOutside(t).setup(t)
	got := b.attempts(t, "outward", "clone:", "clone3:")
	if want := []string{"operation not permitted", "function not implemented"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
