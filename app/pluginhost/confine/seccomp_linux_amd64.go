package confine

import "golang.org/x/sys/unix"

// olderCalls are those of changes that only this architecture has.
func olderCalls() []uint32 {
	return []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
}

// opens are the calls that open a file, with where their flags are.
func opens() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_OPEN: callFlags1, unix.SYS_OPENAT: callFlags2}
}
