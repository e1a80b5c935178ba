package pluginhost

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	protocolMPTCP = 262
	x32Calls      = 0x40000000
)

// filterCalls closes what Landlock leaves open: sockets that are not TCP as
// Landlock knows it, work handed to the kernel past its checks, other processes'
// memory, and the way out of the process group. Elsewhere than on the two common
// architectures it does nothing.
func filterCalls(network bool) error {
	var arch uint32
	switch runtime.GOARCH {
	case "amd64":
		arch = unix.AUDIT_ARCH_X86_64
	case "arm64":
		arch = unix.AUDIT_ARCH_AARCH64
	default:
		return nil
	}
	program := callFilter(arch, network)
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
	callProto  = 32
)

func callFilter(arch uint32, network bool) []unix.SockFilter {
	deny := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	allow := answer(unix.SECCOMP_RET_ALLOW)
	program := []unix.SockFilter{
		load(callArch), unlessEqual(arch, 1), skip(1), deny(unix.EPERM), load(callNumber),
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		program = append(program, unlessAbove(x32Calls, 1), deny(unix.ENOSYS))
	}
	for _, number := range []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_SETSID, unix.SYS_SETPGID, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
		unix.SYS_PROCESS_VM_WRITEV, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
	} {
		program = append(program, unlessEqual(number, 1), deny(unix.EPERM))
	}
	domains := []uint32{unix.AF_UNIX}
	socket := []unix.SockFilter{load(callProto), unlessEqual(protocolMPTCP, 1), deny(unix.EPROTONOSUPPORT), load(callDomain)}
	if network {
		domains = append(domains, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	for _, domain := range domains {
		socket = append(socket, unlessEqual(domain, 1), allow)
	}
	socket = append(socket, deny(unix.EACCES))
	program = append(program, unlessEqual(unix.SYS_SOCKET, uint8(len(socket))))
	return append(append(program, socket...), allow)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func answer(verdict uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
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
