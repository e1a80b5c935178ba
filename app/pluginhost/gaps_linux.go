package pluginhost

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Gaps names what this system cannot keep a plugin from; none is a good answer.
func Gaps() []string {
	return means{landlock: landlockVersion(), filters: canFilter(), watches: canWatch()}.gaps()
}

// means are what a system has to confine with.
type means struct {
	landlock int  // its version; 0 is none
	filters  bool // system calls
	watches  bool // connections, where it filters too
}

// gaps is what is left open. Versions of Landlock came with Linux 5.13 (1), 5.19 (2),
// 6.2 (3), 6.7 (4), 6.10 (5), 6.12 (6) and later ones.
func (m means) gaps() []string {
	watched := m.filters && m.watches
	var gaps []string
	for _, gap := range []struct {
		open bool
		what string
	}{
		{m.landlock < 1, "files that the host's user can read or write"},
		// Where calls are filtered, nothing is emptied but by who may write it.
		{m.landlock < 3 && !m.filters, "emptying files of the host's user"},
		{!m.filters, "modes, owners and times of files"},
		// UDP and others are the filter's.
		{!watched && (m.landlock < 4 || !m.filters), "hosts that it did not declare"},
		// Landlock's rule names a port and no host.
		{m.filters && !watched && m.landlock >= 4, "other hosts, at the number of its proxy's port"},
		// A socket that listens gets a port without asking for one.
		{!watched, "being connected to by others"},
		{!watched && m.landlock < 9, "sockets of this machine, by their path"},
		{!watched && m.landlock < 6, "sockets of this machine, by an abstract name"},
		// The filter knows the host's number alone, and not those of its threads.
		{m.landlock < 6, "signals to other processes of the host's user"},
		{!m.filters, "system calls that it has no use for"},
	} {
		if gap.open {
			gaps = append(gaps, gap.what)
		}
	}
	return gaps
}

// canFilter tells whether filterCalls does anything here.
func canFilter() bool {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return false
	}
	verdict := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&verdict)))
	return errno == 0
}
