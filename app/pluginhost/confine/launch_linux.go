package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// become executes the binary. It returns only when that fails.
func become(p order) error {
	// The parent-death signal and the system call filter belong to the thread that
	// calls exec.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the parent: %w", err)
	}
	if os.Getppid() != p.Parent {
		return errors.New("the host is gone")
	}
	file, err := os.Open(p.Path)
	if err != nil {
		return fmt.Errorf("open the plugin: %w", err)
	}
	if p.SHA256 != "" {
		if err := pinned(file, p.SHA256); err != nil {
			return err
		}
	}
	if err := limit(p.Policy); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	dropCapabilities()
	if err := landlocked(p.Policy, p.SHA256 != "" && script(file)); err != nil {
		return fmt.Errorf("enter Landlock: %w", err)
	}
	if err := filterCalls(p); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	argv := append([]string{p.Path}, p.Args...)
	// The hashed file itself is executed, even if its name leads to another file by
	// now. A script needs its name, since its interpreter opens it again.
	if p.SHA256 != "" && !script(file) {
		err = execFile(file, argv, os.Environ())
	} else {
		err = unix.Exec(p.Path, argv, os.Environ())
	}
	return fmt.Errorf("start the plugin: %w", err)
}

func limit(p Policy) error {
	limits := []struct {
		resource int
		value    uint64
		what     string
	}{
		// Of the address space, only what can be written counts: Go and others
		// reserve far more than they use.
		{unix.RLIMIT_DATA, uint64(p.Memory), "memory"},
		{unix.RLIMIT_NOFILE, uint64(p.Files), "files"},
		{unix.RLIMIT_CORE, 0, "core"},
		{unix.RLIMIT_FSIZE, 1 << 30, "file size"},
	}
	for _, l := range limits {
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

// dropCapabilities leaves a process of root the right to read its files, and nothing
// else. Where dropping is refused, there was nothing to drop.
func dropCapabilities() {
	const keep = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) == 0 {
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

func script(file *os.File) bool {
	var head [2]byte
	_, err := file.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == "#!"
}

func execFile(file *os.File, argv, env []string) error {
	return unix.Exec("/proc/self/fd/"+strconv.Itoa(int(file.Fd())), argv, env)
}
