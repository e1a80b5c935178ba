//go:build linux && (amd64 || arm64)

package launch

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterCalls leaves the process the system calls of allowedCalls, which is Docker's
// profile without what no plugin needs, and some others by their arguments.
func filterCalls(o Order) error {
	program := callFilter(o)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)
}

// Offsets in the kernel's description of a call; arguments are little-endian on both
// architectures.
const (
	callNumber = 0
	callArch   = 4
	callFirst  = 16
	callSecond = 24
	callThird  = 32
	callFourth = 40
)

const (
	x32Calls = 0x40000000
	// socketTypes masks the flags out that share a word with a socket's type.
	socketTypes = 0xf
)

func callFilter(o Order) []unix.SockFilter {
	deny := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	allow := answer(unix.SECCOMP_RET_ALLOW)
	program := []unix.SockFilter{
		load(callArch), unlessEqual(auditArch, 1), skip(1), deny(unix.EPERM), load(callNumber), unlessAbove(x32Calls, 1), deny(unix.ENOSYS),
		// The filter cannot see the flags of clone3, which are in memory; libraries fall
		// back to clone.
		unlessEqual(unix.SYS_CLONE3, 1), deny(unix.ENOSYS),
	}
	program = append(program, when(unix.SYS_CLONE, []unix.SockFilter{
		load(callFirst), unlessAny(Namespaces, 1), deny(unix.EPERM),
		// A thread with files of its own would have them in no count.
		unlessAny(unix.CLONE_THREAD, 2), unlessAny(unix.CLONE_FILES, 1), allow, unlessAny(unix.CLONE_THREAD, 1), deny(unix.EPERM), allow,
	})...)
	program = append(program, when(unix.SYS_CLOSE_RANGE, []unix.SockFilter{
		load(callThird), unlessAny(unix.CLOSE_RANGE_UNSHARE, 1), deny(unix.EPERM), allow,
	})...)
	// The usual personality, or only asking for it.
	program = append(program, when(unix.SYS_PERSONALITY, []unix.SockFilter{
		load(callFirst), unlessEqual(0, 1), allow, unlessEqual(0xffffffff, 1), allow, deny(unix.EPERM),
	})...)
	// A process may end with its parent, but not give that up.
	program = append(program, when(unix.SYS_PRCTL, []unix.SockFilter{
		load(callFirst), unlessEqual(unix.PR_SET_PDEATHSIG, 4), load(callSecond), unlessEqual(uint32(unix.SIGKILL), 1), allow, deny(unix.EPERM), allow,
	})...)
	// Shared memory without a file stays when no process has it mapped, and is in no sum then.
	program = append(program, when(unix.SYS_MMAP, []unix.SockFilter{
		load(callFourth), unlessAny(unix.MAP_SHARED, 2), unlessAny(unix.MAP_ANON, 1), deny(unix.EPERM), allow,
	})...)
	program = append(program, when(unix.SYS_SOCKET, sockets(o.Proxy != 0, allow, deny))...)
	// The files of the system are the same for all boxes: a lock in one would tell another
	// something. So a lock succeeds and locks nothing. It is real for a program that shares a
	// folder with others of its account.
	ignore := deny(0)
	lock := ignore
	if len(o.Writes) > 0 {
		lock = allow
	}
	program = append(program, when(unix.SYS_FLOCK, []unix.SockFilter{lock})...)
	program = append(program, when(unix.SYS_FCNTL, byWord(callSecond, deny(unix.EPERM), []choice{
		{[]uint32{unix.F_SETLK, unix.F_SETLKW, unix.F_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_OFD_GETLK}, lock},
		{fileCommands[:], allow},
	}))...)
	// The size of a buffer is a wish. Larger ones would be memory that no process has.
	program = append(program, when(unix.SYS_SETSOCKOPT, append([]unix.SockFilter{load(callSecond), unlessEqual(unix.SOL_SOCKET, 1), skip(1), allow},
		byWord(callThird, allow, []choice{
			{[]uint32{unix.SO_SNDBUF, unix.SO_RCVBUF, unix.SO_SNDBUFFORCE, unix.SO_RCVBUFFORCE}, ignore},
			{[]uint32{unix.SO_ATTACH_FILTER, unix.SO_ATTACH_BPF, unix.SO_ATTACH_REUSEPORT_CBPF, unix.SO_ATTACH_REUSEPORT_EBPF}, deny(unix.EPERM)},
		})...))...)
	calls := allowedCalls()
	slices.Sort(calls)
	for first := 0; first < len(calls); {
		last := first
		for last+1 < len(calls) && calls[last+1] == calls[last]+1 {
			last++
		}
		beyond := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jt: 1, K: calls[last] + 1}
		program = append(program, unlessAbove(calls[first], 2), beyond, allow)
		first = last + 1
	}
	// What is newer than the list does not exist.
	return append(program, unlessAbove(calls[len(calls)-1]+1, 1), deny(unix.ENOSYS), deny(unix.EPERM))
}

// fileCommands are the commands of fcntl that concern a descriptor, not the file.
var fileCommands = [...]uint32{
	unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
	unix.F_GETOWN, unix.F_SETOWN, unix.F_GETOWN_EX, unix.F_SETOWN_EX, unix.F_GETSIG, unix.F_SETSIG, unix.F_GETPIPE_SZ,
}

// choice is the answer to a word that is one of several.
type choice struct {
	words  []uint32
	answer unix.SockFilter
}

// byWord answers by a word of the call.
func byWord(offset uint32, otherwise unix.SockFilter, choices []choice) []unix.SockFilter {
	program := []unix.SockFilter{load(offset)}
	for _, c := range choices {
		for _, word := range c.words {
			program = append(program, unlessEqual(word, 1), c.answer)
		}
	}
	return append(program, otherwise)
}

// sockets lets Unix ones pass, and TCP if there is a network.
func sockets(network bool, allow unix.SockFilter, deny func(unix.Errno) unix.SockFilter) []unix.SockFilter {
	program := []unix.SockFilter{load(callFirst), unlessEqual(unix.AF_UNIX, 1), allow}
	if network {
		program = append(program,
			unlessEqual(unix.AF_INET, 1), skip(1), unlessEqual(unix.AF_INET6, 7),
			load(callSecond), lowest(socketTypes), unlessEqual(unix.SOCK_STREAM, 4),
			// Not MPTCP and others: libraries fall back to TCP.
			load(callThird), unlessAbove(unix.IPPROTO_TCP+1, 1), deny(unix.EPROTONOSUPPORT), allow)
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
