package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Limitations lists what this system cannot keep a process from, in words for the
// operator. It is empty where confinement is complete.
func Limitations() []string {
	return means{landlock: landlockVersion(), filters: canFilter(), supervises: canSupervise()}.limitations()
}

// means are what a system has to confine with.
type means struct {
	landlock   int  // the version; 0 is none
	filters    bool // system calls
	supervises bool // connections, where it filters too
}

// Versions of Landlock came with Linux 5.13 (1), 5.19 (2), 6.2 (3), 6.7 (4), 6.10 (5),
// 6.12 (6) and later ones.
func (m means) limitations() []string {
	supervised := m.filters && m.supervises
	var found []string
	for _, limitation := range []struct {
		open bool
		what string
	}{
		{m.landlock < 1, "files that the host's user can read or write"},
		// The filter refuses to empty a file without the right to write it.
		{m.landlock < 3 && !m.filters, "emptying files of the host's user"},
		{!m.filters, "modes, owners and times of files"},
		// The filter refuses UDP and others.
		{!supervised && (m.landlock < 4 || !m.filters), "hosts that it did not declare"},
		// Landlock's rule names a port and no host.
		{m.filters && !supervised && m.landlock >= 4, "other hosts, at the number of its proxy's port"},
		// A socket that listens gets a port without asking for one.
		{!supervised, "being connected to by others"},
		{!supervised && m.landlock < 9, "sockets of this machine, by their path"},
		{!supervised && m.landlock < 6, "sockets of this machine, by an abstract name"},
		// The filter knows the host's process id, but not those of its threads.
		{m.landlock < 6, "signals to other processes of the host's user"},
		{!m.filters, "system calls that it has no use for"},
	} {
		if limitation.open {
			found = append(found, limitation.what)
		}
	}
	return found
}

// canFilter reports whether filterCalls does anything here.
func canFilter() bool {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return false
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
