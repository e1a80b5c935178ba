package film

import (
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limit has the kernel end a process that takes more processor time, rounded up to
// seconds: by a signal, and a second later by force.
func limit(pid int, most time.Duration) error {
	seconds := uint64(math.Ceil(most.Seconds()))
	return unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + 1}, nil)
}

// spent is whether a process was ended by that limit.
func spent(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == unix.SIGXCPU
}
