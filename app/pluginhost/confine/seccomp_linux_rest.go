//go:build linux && !amd64

package confine

import "golang.org/x/sys/unix"

// olderCalls are those of changes that newer architectures never had.
func olderCalls() []uint32 { return nil }

// opens are the calls that open a file, with where their flags are.
func opens() map[uint32]uint32 { return map[uint32]uint32{unix.SYS_OPENAT: callFlags2} }
