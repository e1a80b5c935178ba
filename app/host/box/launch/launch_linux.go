package launch

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Niceness is how much nicer than the server a plugin begins: with it a process gets a third
// of the processor's time where both want all of it. No process of a plugin can change it.
const Niceness = 5

// become runs the binary. It returns the exit code of a boxed one; another takes the
// place of this process.
func become(o Order) (int, error) {
	// The parent-death signal, rights and the system call filter belong to the thread
	// that calls exec or fork.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return 0, fmt.Errorf("die with the parent: %w", err)
	}
	if !o.Boxed && os.Getppid() != o.Parent {
		return 0, errors.New("the host is gone")
	}
	file, err := os.Open(o.Path)
	if err != nil {
		return 0, fmt.Errorf("open the plugin: %w", err)
	}
	if o.SHA256 != "" {
		if err := pinned(file, o.SHA256); err != nil {
			return 0, err
		}
	}
	// What the host's parent left open is for no plugin.
	if err := unix.CloseRange(Link+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 0, fmt.Errorf("close files: %w", err)
	}
	// Memory that runs out ends plugins first. This cannot fail where it matters.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("900"), 0)
	if o.Boxed {
		if err := enter(o.Policy, file); err != nil {
			return 0, err
		}
	}
	if err := limit(o); err != nil {
		return 0, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("no new privileges: %w", err)
	}
	if err := landlocked(o, isScript(file)); err != nil {
		return 0, fmt.Errorf("enter Landlock: %w", err)
	}
	dropCapabilities(o.Boxed)
	// The work of the launcher is the host's own.
	if rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less its niceness
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-rank+Niceness)
	}
	if err := filterCalls(o); err != nil {
		return 0, fmt.Errorf("filter system calls: %w", err)
	}
	if o.Boxed {
		return attend(append([]string{o.inside()}, o.Args...))
	}
	argv := append([]string{o.Path}, o.Args...)
	// The hashed file itself is executed, even if its name leads to another file by now.
	// The interpreter of a script opens it by the same descriptor.
	if isScript(file) {
		_, _ = unix.FcntlInt(file.Fd(), unix.F_SETFD, 0)
	}
	err = unix.Exec("/proc/self/fd/"+strconv.Itoa(int(file.Fd())), argv, os.Environ())
	return 0, fmt.Errorf("start the plugin: %w", err)
}

// attend starts the plugin and waits for its end, as the first process of the box: when
// it ends, for whatever reason, the kernel ends all others. The plugin cannot be the
// first itself, since a process can lose its parent-death signal by exec in a thread.
func attend(argv []string) (int, error) {
	// This thread is confined already, and its child with it.
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, fmt.Errorf("start the plugin: %w", err)
	}
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && ended != pid: // an orphan
		case err != nil:
			return 0, fmt.Errorf("wait for the plugin: %w", err)
		case status.Signaled():
			fmt.Fprintln(os.Stderr, "signal:", status.Signal())
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}

func limit(o Order) error {
	limits := []struct {
		resource int
		value    uint64
		what     string
	}{
		// Of the address space, only what can be written counts: Go and others
		// reserve far more than they use.
		{unix.RLIMIT_DATA, uint64(o.Memory), "memory"},
		{unix.RLIMIT_NOFILE, uint64(o.Files), "files"},
		{unix.RLIMIT_CORE, 0, "core"},
		{unix.RLIMIT_FSIZE, 1 << 30, "file size"},
		{unix.RLIMIT_MEMLOCK, 64 << 10, "locked memory"},
		{unix.RLIMIT_MSGQUEUE, 0, "queues"},
		{unix.RLIMIT_SIGPENDING, 256, "signals"},
		{unix.RLIMIT_NICE, 0, "priority"},
		{unix.RLIMIT_RTPRIO, 0, "priority"},
		// Since Linux 5.14 this counts the processes of the box alone; without a box it
		// would count the host's too. The kernel does not look for root, see boundNumbers.
		{unix.RLIMIT_NPROC, uint64(o.Tasks), "processes"},
	}
	for _, l := range limits {
		if l.resource == unix.RLIMIT_NPROC && !o.Boxed {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", l.what, err)
		}
		value := min(l.value, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit %s: %w", l.what, err)
		}
	}
	return nil
}

// dropCapabilities takes all rights of root. Without a box, a process of root keeps the
// right to read its files. Where dropping is refused, there was nothing to drop.
func dropCapabilities(boxed bool) {
	keep := uint32(1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH)
	if boxed {
		keep = 0
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if c > 31 || keep&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return
	}
	data[0].Effective &= keep
	data[0].Permitted &= keep
	data[0].Inheritable, data[1] = 0, unix.CapUserData{}
	_ = unix.Capset(&header, &data[0])
}

func isScript(file *os.File) bool {
	var head [2]byte
	_, err := file.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == "#!"
}
