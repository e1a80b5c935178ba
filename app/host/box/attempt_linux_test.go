package box

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt tries what a plugin has no use for. It returns what it got.
func attempt(do, arg string) (string, error) {
	number, _ := strconv.Atoi(arg)
	if call, ok := rawCalls()[do]; ok {
		_, _, errno := unix.RawSyscall6(call[0], call[1], call[2], call[3], call[4], call[5], 0)
		if errno != 0 {
			return "", errno
		}
		return "through", nil
	}
	switch do {
	case "read":
		raw, err := os.ReadFile(arg)
		return "read " + string(raw[:min(len(raw), 100)]), err
	case "list":
		entries, err := os.ReadDir(arg)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return "list " + strings.Join(names, " "), err
	case "write":
		return "written", os.WriteFile(arg, []byte("x"), 0o600)
	case "append":
		file, err := os.OpenFile(arg, os.O_WRONLY|os.O_APPEND, 0)
		_ = file.Close()
		return "opened", err
	case "truncate":
		return "emptied", os.Truncate(arg, 0)
	case "remove":
		return "removed", os.Remove(arg)
	case "rename":
		return "renamed", os.Rename(arg, arg+"2")
	case "chmod":
		return "changed", os.Chmod(arg, 0o777)
	case "chown":
		return "changed", os.Chown(arg, 0, 0)
	case "utimes":
		return "changed", os.Chtimes(arg, time.Unix(1, 0), time.Unix(1, 0))
	case "xattr":
		return "changed", unix.Setxattr(arg, "user.plugin", []byte("x"), 0)
	case "link":
		return "linked", os.Link(arg, scratchFile("hard"))
	case "symlink": // and read through it
		path := scratchFile("soft")
		if err := os.Symlink(arg, path); err != nil {
			return "", err
		}
		raw, err := os.ReadFile(path)
		return "read " + string(raw), err
	case "parent": // of the scratch folder, step by step to the root
		raw, err := os.ReadFile(filepath.Join(os.Getenv("TMPDIR"), strings.Repeat("../", 20), arg))
		return "read " + string(raw), err
	case "mknod":
		return "made", unix.Mknod(scratchFile("device"), unix.S_IFBLK|0o600, int(unix.Mkdev(259, 0)))
	case "mknod-char":
		return "made", unix.Mknod(scratchFile("mem"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1)))
	case "chroot":
		return "changed", unix.Chroot(os.Getenv("TMPDIR"))
	case "mount":
		return "mounted", unix.Mount("x", os.Getenv("TMPDIR"), "tmpfs", 0, "")
	case "bind":
		return "mounted", unix.Mount("/usr", os.Getenv("TMPDIR"), "", unix.MS_BIND, "")
	case "remount":
		return "mounted", unix.Mount("", arg, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "umount":
		return "unmounted", unix.Unmount(arg, unix.MNT_DETACH)
	case "proc":
		return "mounted", unix.Mount("proc", os.Getenv("TMPDIR"), "proc", 0, "")
	case "unshare":
		return "made", unix.Unshare(number)
	case "setns":
		dir, err := os.Open("/")
		if err != nil {
			return "", err
		}
		defer dir.Close()
		return "entered", unix.Setns(int(dir.Fd()), 0)
	case "clone":
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(number)|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return born(pid, errno)
	case "clone3":
		args := [8]uint64{0: uint64(number), 4: uint64(unix.SIGCHLD)}
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		return born(pid, errno)
	case "kill":
		return "sent", unix.Kill(number, 0)
	case "tgkill":
		return "sent", unix.Tgkill(number, number, 0)
	case "pidfd":
		fd, err := unix.PidfdOpen(number, 0)
		_ = unix.Close(fd)
		return "opened", err
	case "limit":
		return "limited", unix.Prlimit(number, unix.RLIMIT_CORE, nil, &unix.Rlimit{})
	case "raise":
		return "raised", unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 16, Max: 1 << 16})
	case "ptrace":
		return "attached", unix.PtraceAttach(number)
	case "peek":
		local := unix.Iovec{Base: new(byte), Len: 1}
		_, err := unix.ProcessVMReadv(number, []unix.Iovec{local}, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
		return "read", err
	case "nice":
		return "changed", unix.Setpriority(unix.PRIO_PROCESS, 0, number)
	case "affinity":
		var set unix.CPUSet
		set.Set(0)
		return "changed", unix.SchedSetaffinity(0, &set)
	case "realtime":
		priority := int32(1)
		_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&priority)))
		return "changed", none(errno)
	case "setuid":
		return "changed", unix.Setuid(number)
	case "capset":
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
		return "regained", unix.Capset(&header, &data[0])
	case "outlive":
		return "unbound", unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	case "dial":
		network, address, _ := strings.Cut(arg, ",")
		connection, err := (&net.Dialer{Timeout: time.Second}).Dial(network, address)
		if err != nil {
			return "", err
		}
		return "through", connection.Close()
	case "resolve":
		_, err := net.LookupHost(arg)
		return "resolved", err
	case "socket":
		var domain, kind, protocol int
		if _, err := fmt.Sscanf(arg, "%d,%d,%d", &domain, &kind, &protocol); err != nil {
			return "", err
		}
		fd, err := unix.Socket(domain, kind, protocol)
		_ = unix.Close(fd)
		return "opened", err
	case "interface": // gives the loopback another address
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return "", err
		}
		request, _ := unix.NewIfreq("lo")
		_ = request.SetInet4Addr([]byte{10, 0, 0, 1})
		return "changed", unix.IoctlIfreq(fd, unix.SIOCSIFADDR, request)
	case "flock": // of a file that other boxes see too
		return onShared(arg, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	case "read lock":
		return onShared(arg, func(fd int) error {
			return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: 42, Len: 1})
		})
	case "lease", "watch", "hint":
		command := map[string]int{"lease": unix.F_SETLEASE, "watch": unix.F_NOTIFY, "hint": unix.F_GET_RW_HINT}[do]
		return onShared(arg, func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), command, unix.F_RDLCK)
			return err
		})
	case "pipe": // a large one
		var ends [2]int
		if err := unix.Pipe(ends[:]); err != nil {
			return "", err
		}
		_, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, 1<<20)
		return "grown", err
	case "shared": // memory that no limit of the process counts
		memory, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		return fmt.Sprint(len(memory)), err
	case "exec":
		return "ran", exec.Command(arg).Run()
	case "keep": // a file for the next call
		return "kept", os.WriteFile(filepath.Join(filepath.Dir(os.Getenv("TMPDIR")), "note"), []byte("brief"), 0o600)
	case "find":
		raw, err := os.ReadFile(filepath.Join(filepath.Dir(os.Getenv("TMPDIR")), "note"))
		return string(raw), err
	}
	return hoard(do, number)
}

// kept are files that stay open, with their locks.
var kept []*os.File

func onShared(path string, do func(fd int) error) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	kept = append(kept, file)
	return "done", do(int(file.Fd()))
}

func none(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

func scratchFile(name string) string { return filepath.Join(os.Getenv("TMPDIR"), name) }

// born ends the new process at once.
func born(pid uintptr, errno unix.Errno) (string, error) {
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return "born", nil
}

// rawCalls are attempts whose number alone decides.
func rawCalls() map[string][6]uintptr {
	path := uintptr(unsafe.Pointer(&[]byte("x\x00")[0]))
	return map[string][6]uintptr{
		"keyctl": {unix.SYS_KEYCTL, 0, ^uintptr(2), 0}, "add_key": {unix.SYS_ADD_KEY, path, path, path, 1}, "request_key": {unix.SYS_REQUEST_KEY, path, path, 0, 0},
		"shmget": {unix.SYS_SHMGET, 0, 4096, 0o1600}, "msgget": {unix.SYS_MSGGET, 0, 0o1600}, "semget": {unix.SYS_SEMGET, 0, 1, 0o1600},
		"mq_open": {unix.SYS_MQ_OPEN, path, unix.O_CREAT | unix.O_RDWR, 0o600, 0}, "memfd_create": {unix.SYS_MEMFD_CREATE, path, 0},
		"memfd_secret": {unix.SYS_MEMFD_SECRET, 0}, "io_uring": {unix.SYS_IO_URING_SETUP, 1, path}, "bpf": {unix.SYS_BPF, 0, path, 8},
		"perf": {unix.SYS_PERF_EVENT_OPEN, path, 0, ^uintptr(0), ^uintptr(0), 0}, "userfaultfd": {unix.SYS_USERFAULTFD, 0},
		"fsopen": {unix.SYS_FSOPEN, path, 0}, "open_tree": {unix.SYS_OPEN_TREE, ^uintptr(99), path, 1}, "pivot_root": {unix.SYS_PIVOT_ROOT, path, path},
		"handle": {unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), path, 0}, "aio": {unix.SYS_IO_SETUP, 1, path}, "inotify": {unix.SYS_INOTIFY_INIT1, 0},
		"fanotify": {unix.SYS_FANOTIFY_INIT, 0, 0}, "sync": {unix.SYS_SYNC}, "setsid": {unix.SYS_SETSID}, "ioprio": {unix.SYS_IOPRIO_SET, 1, 0, 0x2000},
		"reboot": {unix.SYS_REBOOT, 0, 0, 0}, "kexec": {unix.SYS_KEXEC_LOAD, 0, 0, 0, 0}, "module": {unix.SYS_INIT_MODULE, path, 1, path},
		"swapon": {unix.SYS_SWAPON, path, 0}, "acct": {unix.SYS_ACCT, path}, "clock": {unix.SYS_SETTIMEOFDAY, path, 0}, "syslog": {unix.SYS_SYSLOG, 3, path, 1},
		"hostname": {unix.SYS_SETHOSTNAME, path, 1}, "quotactl": {unix.SYS_QUOTACTL, 0, path, 0, path}, "kcmp": {unix.SYS_KCMP, 1, 1, 0, 0},
		"getfd": {unix.SYS_PIDFD_GETFD, 0, 0, 0}, "seccomp": {unix.SYS_SECCOMP, 0, 0, 0}, "personality": {unix.SYS_PERSONALITY, 0x40000},
		"setgroups": {unix.SYS_SETGROUPS, 1, path}, "lookup": {unix.SYS_LOOKUP_DCOOKIE, 0, path, 1}, "vhangup": {unix.SYS_VHANGUP},
		"newest": {999, 0}, "cachestat": {unix.SYS_CACHESTAT, 0, path, path, 0}, "mincore": {unix.SYS_MINCORE, 0, 1, path}, "vmsplice": {unix.SYS_VMSPLICE, 1, path, 0, 0},
	}
}

// fork returns true in the parent, also where no child came to be. The child must not run
// more than system calls.
//
//go:nosplit
func fork() bool {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return errno != 0 || pid != 0
}

// hoard uses more than a call may have; the end of the process is the only answer.
func hoard(do string, number int) (string, error) {
	touch := func(memory []byte) {
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
	}
	switch do {
	case "children": // each with as much memory as one process may have
		for range number {
			command := exec.Command(os.Args[0], "attempt", "grow:64")
			if err := command.Start(); err != nil {
				return "", err
			}
		}
		time.Sleep(time.Hour)
	case "zombies": // beside 300 MB
		memory, err := unix.Mmap(-1, 0, 300<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return "", err
		}
		touch(memory)
		for range number {
			if err := exec.Command(os.Args[0], "attempt").Start(); err != nil { // and never Wait
				return "", err
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		return "lived", nil
	case "workers": // that share 300 MB and end together, five times
		memory, err := unix.Mmap(-1, 0, 300<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return "", err
		}
		touch(memory)
		for range 5 {
			var ends [2]int
			if err := unix.Pipe(ends[:]); err != nil {
				return "", err
			}
			var one byte
			for range number {
				if fork() {
					continue
				}
				unix.RawSyscall(unix.SYS_CLOSE, uintptr(ends[1]), 0, 0)
				unix.RawSyscall(unix.SYS_READ, uintptr(ends[0]), uintptr(unsafe.Pointer(&one)), 1) // until the parent closes
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			time.Sleep(300 * time.Millisecond)
			_, _ = unix.Close(ends[1]), unix.Close(ends[0])
			for range number {
				_, _ = unix.Wait4(-1, nil, 0, nil)
			}
		}
		return "lived", nil
	case "sleepers": // that share 300 MB
		memory, err := unix.Mmap(-1, 0, 300<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return "", err
		}
		touch(memory)
		for range number {
			if fork() {
				continue
			}
			for {
				unix.RawSyscall(unix.SYS_PAUSE, 0, 0, 0)
			}
		}
		time.Sleep(time.Hour)
	case "grow":
		memory, err := unix.Mmap(-1, 0, number<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return "", err
		}
		touch(memory)
		time.Sleep(time.Hour)
	case "spill", "spill nameless", "spill hidden", "spill small": // into files of the host
		folder, raw := os.Getenv("WRITES"), make([]byte, 1<<20)
		if do == "spill small" {
			raw = nil
		}
		if do == "spill hidden" {
			folder = filepath.Join(folder, "hidden")
			if err := os.Mkdir(folder, 0o700); err != nil {
				return "", err
			}
		}
		for i := range number {
			file, err := os.Create(filepath.Join(folder, strconv.Itoa(i)))
			if err != nil {
				return "", err
			}
			if do == "spill nameless" {
				kept = append(kept, file)
				err = os.Remove(file.Name())
			}
			if _, failed := file.Write(raw); failed != nil || err != nil {
				return "", errors.Join(err, failed)
			}
			if do != "spill nameless" {
				_ = file.Close()
			}
		}
		if do == "spill hidden" {
			if err := os.Chmod(folder, 0); err != nil {
				return "", err
			}
		}
		time.Sleep(time.Hour)
	case "headless": // goes on without its first thread, of which the kernel tells
		leave := func() {
			runtime.LockOSThread()
			if unix.Gettid() == os.Getpid() {
				unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
			}
			time.Sleep(time.Hour)
		}
		for range 50 {
			go leave()
		}
		leave()
	case "spin": // in children
		for range number {
			if !fork() {
				for i := 0; i >= 0; i++ {
				}
			}
		}
		time.Sleep(time.Hour)
	case "sockets": // full ones, in children
		for range number {
			command := exec.Command(os.Args[0], "attempt", "fill:24")
			if err := command.Start(); err != nil {
				return "", err
			}
		}
		time.Sleep(time.Hour)
	case "fill":
		raw := make([]byte, 32<<10)
		for range number {
			ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				return "", err
			}
			for _, end := range ends {
				if err := unix.SetsockoptInt(end, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<20); err != nil {
					return "", err
				}
				for err = nil; err == nil; _, err = unix.Write(end, raw) {
				}
			}
		}
		time.Sleep(time.Hour)
	case "files":
		raw := make([]byte, 1<<20)
		for i := range number {
			if err := os.WriteFile(scratchFile(strconv.Itoa(i)), raw, 0o600); err != nil {
				return "", err
			}
		}
		return "written", nil
	case "deleted": // files that have no name any more
		raw := make([]byte, 1<<20)
		for range number {
			file, err := os.CreateTemp("", "")
			if err != nil {
				return "", err
			}
			_ = os.Remove(file.Name())
			if _, err := file.Write(raw); err != nil {
				return "", err
			}
		}
		return "written", nil
	case "shm":
		raw := make([]byte, 1<<20)
		for i := range number {
			if err := os.WriteFile("/dev/shm/"+strconv.Itoa(i), raw, 0o600); err != nil {
				return "", err
			}
		}
		return "written", nil
	case "inodes":
		for i := range number {
			if err := os.Mkdir(scratchFile("d"+strconv.Itoa(i)), 0o700); err != nil {
				return "", err
			}
		}
		return "made", nil
	case "forks":
		for i := range number {
			pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno != 0 {
				return fmt.Sprintf("forked %d", i), errno
			}
			if pid == 0 {
				for {
					unix.RawSyscall(unix.SYS_PAUSE, 0, 0, 0)
				}
			}
		}
		time.Sleep(time.Hour)
	case "orphan": // that outlives its parent, and every signal that can be ignored
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return "", errno
		}
		for pid == 0 {
			unix.RawSyscall(unix.SYS_PAUSE, 0, 0, 0)
		}
		return "left", nil
	case "wait":
		time.Sleep(time.Hour)
	}
	return "", errors.New("unknown attempt")
}
