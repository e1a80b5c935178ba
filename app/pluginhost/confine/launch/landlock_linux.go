package launch

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// landlockFile are the rights that a file can have.
	landlockFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlocked repeats what the box says, for the case that it has a hole, and is most of
// what there is without a box. An older kernel enforces the part that it knows. It binds
// this thread and what it starts: the library's own way needs /proc, for all threads.
func landlocked(o Order, script bool) error {
	version, err := landlock(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION, 0)
	if err != nil {
		return nil // a kernel without
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM}
	for least, right := range map[int]uint64{2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV} {
		if version >= least {
			rules.Handled_access_fs |= right
		}
	}
	if version >= 4 {
		rules.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		rules.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	ruleset, err := landlock(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	paths := map[string]uint64{"/": landlockRead}
	if !o.Boxed {
		paths = map[string]uint64{o.Path: landlockRead}
		for _, path := range visible(o.Policy, script) {
			paths[path] = landlockRead
		}
	}
	for _, path := range devices {
		paths[path] = landlockFile & rules.Handled_access_fs
	}
	for _, path := range append(o.Writes, o.Scratch) {
		paths[path] = rules.Handled_access_fs &^ (unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	}
	for path, rights := range paths {
		if err := beneath(ruleset, path, rights); err != nil {
			return err
		}
	}
	if rules.Handled_access_net != 0 && o.Proxy != 0 {
		port := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(o.Proxy)}
		if _, err := landlock(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), netPort, uintptr(unsafe.Pointer(&port)), 0); err != nil {
			return err
		}
	}
	_, err = landlock(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0, 0)
	return err
}

// netPort is LANDLOCK_RULE_NET_PORT.
const netPort = 2

// landlock is one of its system calls. The library for them waits for more of the
// program's initialisers than a launcher should.
func landlock(call, first, second, third, fourth uintptr) (int, error) {
	result, _, errno := unix.Syscall6(call, first, second, third, fourth, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(result), nil
}

// beneath allows rights at a path and below. A missing one is ignored.
func beneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landlockFile
	}
	rule := unix.LandlockPathBeneathAttr{Parent_fd: int32(fd), Allowed_access: rights}
	_, err = landlock(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0)
	return err
}
