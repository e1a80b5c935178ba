package confine

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	protocolMPTCP = 262
	x32Calls      = 0x40000000
)

// filterCalls refuses what Landlock does not cover: sockets other than TCP, UDP and so
// name lookups, a connection that is made by sending (TCP Fast Open), io_uring, memory
// of other processes, modes and owners of files, and leaving the process group. A
// process without network connects to nothing at all. On architectures other than amd64
// and arm64 it does nothing.
func filterCalls(p order) error {
	var arch uint32
	switch runtime.GOARCH {
	case "amd64":
		arch = unix.AUDIT_ARCH_X86_64
	case "arm64":
		arch = unix.AUDIT_ARCH_AARCH64
	default:
		return nil
	}
	if p.Supervised {
		program := callFilter(arch, p)
		err := handOver(&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
		if err != unix.EBUSY {
			return err
		}
		p.Supervised = false // a filter around the host has the kernel's only listener
	}
	program := callFilter(arch, p)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)
	if err == unix.EINVAL {
		return nil // a kernel without filters
	}
	return err
}

// Offsets in the kernel's description of a call; arguments are little-endian on
// both architectures.
const (
	callNumber = 0
	callArch   = 4
	callDomain = 16
	// The first argument, such as clone's flags.
	callFirst = 16
	// Flags of open, and of openat.
	callFlags1 = 24
	// Of ioctl.
	callRequest = 24
	callType    = 24
	callProto   = 32
	// Flags of sendmsg, and of sendto and sendmmsg.
	callFlags2 = 32
	callFlags3 = 40
)

func callFilter(arch uint32, p order) []unix.SockFilter {
	deny := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	allow := answer(unix.SECCOMP_RET_ALLOW)
	program := []unix.SockFilter{
		load(callArch), unlessEqual(arch, 1), skip(1), deny(unix.EPERM), load(callNumber),
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		program = append(program, unlessAbove(x32Calls, 1), deny(unix.ENOSYS))
	}
	for _, number := range slices.Concat([]uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_SETSID, unix.SYS_SETPGID, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
		unix.SYS_PROCESS_VM_WRITEV, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
		// Before Landlock 3, a right to write is not what they ask for.
		unix.SYS_TRUNCATE,
	}, changes(), olderCalls()) {
		program = append(program, unlessEqual(number, 1), deny(unix.EPERM))
	}
	program = append(program, when(unix.SYS_IOCTL, []unix.SockFilter{
		load(callRequest), unlessEqual(unix.FS_IOC_SETFLAGS, 1), deny(unix.EPERM), unlessEqual(setAttributes, 1), deny(unix.EPERM), allow,
	})...)
	// The filter cannot see the flags of clone3, which are in memory; libraries fall back
	// to clone. With CLONE_PARENT the child would be the host's, which never reaps it.
	program = append(program, unlessEqual(unix.SYS_CLONE3, 1), deny(unix.ENOSYS))
	program = append(program, when(unix.SYS_CLONE, []unix.SockFilter{
		load(callFirst), unlessAny(unix.CLONE_PARENT, 1), deny(unix.EPERM), allow,
	})...)
	program = append(program, emptying(allow, deny)...)
	program = append(program, againstHost(uint32(p.Parent), allow, deny)...)
	switch {
	case !p.Proxy.IsValid():
		program = append(program, unlessEqual(unix.SYS_CONNECT, 1), deny(unix.EACCES))
	case p.Supervised:
		program = append(program, unlessEqual(unix.SYS_CONNECT, 1), answer(unix.SECCOMP_RET_USER_NOTIF),
			unlessEqual(unix.SYS_LISTEN, 1), answer(unix.SECCOMP_RET_USER_NOTIF))
	}
	for _, send := range []struct{ number, flags uint32 }{
		{unix.SYS_SENDTO, callFlags3}, {unix.SYS_SENDMMSG, callFlags3}, {unix.SYS_SENDMSG, callFlags2},
	} {
		program = append(program, unlessEqual(send.number, 4), load(send.flags), unlessAny(unix.MSG_FASTOPEN, 1), deny(unix.EACCES), allow)
	}
	program = append(program, when(unix.SYS_SOCKETPAIR, []unix.SockFilter{
		load(callType), lowest(socketTypes), unlessEqual(unix.SOCK_DGRAM, 1), deny(unix.EACCES), allow,
	})...)
	program = append(program, when(unix.SYS_SOCKET, sockets(p.Proxy.IsValid(), allow, deny))...)
	return append(program, allow)
}

// setAttributes is FS_IOC_FSSETXATTR.
const setAttributes = 0x401c5820

// changes are the calls that change what a file is, not what is in it: mode, owner,
// attributes, times. Landlock has no right for these, so they would work on
// every file of the host's user, by name, or on one that is open for reading.
func changes() []uint32 {
	return []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}
}

// emptying refuses to open a file for reading, or for neither reading nor writing, and
// empty it at once: Landlock requires no right to write for that before its version 3.
// The filter cannot see the flags of openat2, which are in memory; libraries fall back
// to openat.
func emptying(allow unix.SockFilter, deny func(unix.Errno) unix.SockFilter) []unix.SockFilter {
	program := []unix.SockFilter{unlessEqual(unix.SYS_OPENAT2, 1), deny(unix.ENOSYS)}
	for number, flags := range opens() {
		program = append(program, when(number, []unix.SockFilter{
			load(flags), lowest(unix.O_TRUNC | unix.O_ACCMODE), unlessEqual(unix.O_TRUNC|unix.O_RDONLY, 1), deny(unix.EPERM),
			unlessEqual(unix.O_TRUNC|unix.O_ACCMODE, 1), deny(unix.EPERM), allow,
		})...)
	}
	return program
}

// againstHost refuses calls that name the host's process id: signals, which Landlock
// covers from version 6 on, and resource limits, which it does not cover: a limit of
// processor time would end the host. A process sets its own limits as process 0.
func againstHost(host uint32, allow unix.SockFilter, deny func(unix.Errno) unix.SockFilter) []unix.SockFilter {
	program := when(unix.SYS_PRLIMIT64, []unix.SockFilter{load(callFirst), unlessEqual(0, 1), allow, deny(unix.EPERM)})
	for _, number := range []uint32{
		unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN,
	} {
		program = append(program, when(number, []unix.SockFilter{
			load(callFirst), unlessEqual(host, 1), deny(unix.EPERM), unlessEqual(allProcesses, 1), deny(unix.EPERM), allow,
		})...)
	}
	return program
}

// allProcesses is kill's -1.
const allProcesses = 0xffffffff

// socketTypes masks the flags out that share a word with a socket's type.
const socketTypes = 0xf

// sockets lets streams pass: Unix ones, and TCP where there is a network.
func sockets(network bool, allow unix.SockFilter, deny func(unix.Errno) unix.SockFilter) []unix.SockFilter {
	program := []unix.SockFilter{
		load(callProto), unlessEqual(protocolMPTCP, 1), deny(unix.EPROTONOSUPPORT),
		load(callType), lowest(socketTypes), unlessEqual(unix.SOCK_STREAM, 1), skip(1), deny(unix.EACCES),
		load(callDomain), unlessEqual(unix.AF_UNIX, 1), allow,
	}
	if network {
		program = append(program,
			unlessEqual(unix.AF_INET, 1), skip(3), unlessEqual(unix.AF_INET6, 1), skip(1), deny(unix.EACCES),
			load(callProto), unlessEqual(0, 1), allow, unlessEqual(unix.IPPROTO_TCP, 1), allow)
	}
	return append(program, deny(unix.EACCES))
}

// when has a block decide about one call; the block ends in an answer.
func when(number uint32, block []unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{unlessEqual(number, uint8(len(block)))}, block...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func answer(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func skip(n uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: n}
}

// unlessEqual skips the next n where the loaded word is not k.
func unlessEqual(k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: k}
}

// unlessAbove skips the next n where the loaded word is below k.
func unlessAbove(k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: n, K: k}
}

// unlessAny skips the next n where the loaded word has none of the bits.
func unlessAny(bits uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: n, K: bits}
}

// lowest keeps some bits of the loaded word.
func lowest(bits uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: bits}
}
