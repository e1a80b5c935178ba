package box

import (
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// TestHostileGo has a plugin in Go try to get out of its box, or to change what is not
// its own.
func TestHostileGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	host := strconv.Itoa(os.Getpid())
	tcp := b.server(t, "tcp", "127.0.0.1:0")
	everywhere := b.server(t, "tcp", ":0")
	abstract := b.server(t, "unix", "@scrollery-hostile-"+host)
	const (
		missing, readOnly, no, denied = "no such file", "read-only file system", "operation not permitted", "permission denied"
		unknown, gone                 = "function not implemented", "no such process"
	)
	foreign := readOnly // the binary may be another user's
	if info, err := os.Stat(policyPath(t)); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		foreign = denied
	}
	ways := [][2]string{
		{"read:" + b.secret, missing},
		{"write:" + b.secret, missing},
		{"append:" + b.secret, missing},
		{"remove:" + b.secret, missing},
		{"symlink:" + b.secret, missing},
		{"parent:" + b.secret, missing},
		{"link:" + b.secret, missing},
		{"read:/etc/passwd", missing},
		{"read:/etc/shadow", missing},
		{"read:/etc/hostname", missing},
		{"read:/proc/1/environ", missing},
		{"read:/proc/self/mountinfo", missing},
		{"read:/proc/" + host + "/environ", missing},
		{"read:/proc/" + host + "/root" + b.secret, missing},
		{"list:/proc/" + host + "/fd", missing},
		{"list:/sys", missing},
		{"list:/home", missing},
		{"list:/root", missing},
		{"list:/var", missing},
		{"list:/run", missing},
		{"list:/usr/bin", missing},
		{"list:/proc", "list self"},
		{"list:/dev", "list null random shm urandom"},
		{"read:/dev/zero", missing},
		{"list:/etc/ssl/private", missing},
		{"list:/etc/pki/tls/private", missing},
		{"read:/dev/mem", missing},
		{"read:/dev/kmsg", missing},
		{"read:/dev/tty", missing},
		{"write:/usr/lib/evil", readOnly},
		{"write:/evil", readOnly},
		{"write:/etc/ssl/certs/evil", readOnly},
		{"remove:/etc/ssl/certs", readOnly},
		{"rename:/usr/lib", readOnly},
		{"append:" + policyPath(t), map[bool]string{true: "text file busy", false: denied}[foreign == readOnly]},
		{"truncate:" + policyPath(t), foreign},
		{"chmod:" + policyPath(t), readOnly},
		{"chown:" + policyPath(t), readOnly},
		{"utimes:" + policyPath(t), readOnly},
		{"xattr:" + policyPath(t), readOnly},
		{"link:" + policyPath(t), "invalid cross-device link"},
		{"chmod:/dev/null", readOnly},
		{"mknod:", "permi"}, // of the box or of Landlock,
		{"mknod-char:", "permi"},
		{"exec:/usr/bin/true", missing},
		{"chroot:", no},
		{"mount:", no},
		{"bind:", no},
		{"proc:", no},
		{"remount:/usr/lib", no},
		{"remount:/", no},
		{"umount:/usr/lib", no},
		{"fsopen:", no},
		{"open_tree:", no},
		{"pivot_root:", no},
		{"handle:", no},
		{fmt.Sprint("unshare:", unix.CLONE_NEWUSER), no},
		{fmt.Sprint("unshare:", unix.CLONE_NEWNET), no},
		{fmt.Sprint("clone:", unix.CLONE_NEWUSER), no},
		{fmt.Sprint("clone:", unix.CLONE_NEWPID), no},
		{fmt.Sprint("clone3:", unix.CLONE_NEWUSER), unknown},
		{"setns:", no},
		{"kill:" + host, gone},
		{"tgkill:" + host, gone},
		{"pidfd:" + host, gone},
		{"limit:" + host, gone},
		{"ptrace:" + host, no},
		{"ptrace:1", no},
		{"peek:" + host, no},
		{"peek:1", no},
		{"getfd:", no},
		{"kcmp:", no},
		{"nice:-5", no},
		{"nice:19", no},
		{"affinity:", no},
		{"realtime:", no},
		{"ioprio:", no},
		{"setsid:", no},
		{"raise:", no},
		{"setuid:1", "invalid argument"},
		{"setgroups:", no},
		{"capset:", no},
		{"personality:", no},
		{"outlive:", no},
		{"keyctl:", no},
		{"add_key:", no},
		{"request_key:", no},
		{"shmget:", no},
		{"msgget:", no},
		{"semget:", no},
		{"mq_open:", no},
		{"memfd_create:", no},
		{"memfd_secret:", no},
		{"io_uring:", no},
		{"aio:", no},
		{"bpf:", no},
		{"perf:", no},
		{"userfaultfd:", no},
		{"inotify:", no},
		{"fanotify:", no},
		{"sync:", no},
		{"reboot:", no},
		{"kexec:", no},
		{"module:", no},
		{"swapon:", no},
		{"acct:", no},
		{"clock:", no},
		{"syslog:", no},
		{"hostname:", no},
		{"quotactl:", no},
		{"seccomp:", no},
		{"vhangup:", no},
		{"newest:", unknown},
		{"cachestat:", no},
		{"mincore:", no},
		{"vmsplice:", no},
		{"shared:", no},
		{"lease:/etc/ssl/certs", no},
		{"watch:/etc/ssl/certs", no},
		{"hint:" + policyPath(t), no},
		{"pipe:", no},
		{"dial:tcp," + tcp, denied}, // Landlock knows the port of the proxy alone
		{"dial:tcp," + everywhere, denied},
		{"dial:tcp,169.254.169.254:80", denied},
		{"dial:tcp,1.1.1.1:3128", "network is unreachable"},
		{"dial:tcp,[::1]:3128", "refused"},
		{"dial:udp,127.0.0.1:53", denied},
		{"dial:unix," + b.database, missing},
		{"dial:unix," + abstract, "refused"},
		{"dial:ip4:1,127.0.0.1", denied},
		{"resolve:example.com", "lookup example.com"},
		{"interface:", no},
		{fmt.Sprint("socket:", unix.AF_PACKET, ",", unix.SOCK_RAW, ",0"), denied},
		{fmt.Sprint("socket:", unix.AF_NETLINK, ",", unix.SOCK_RAW, ",0"), denied},
		{fmt.Sprint("socket:", unix.AF_VSOCK, ",", unix.SOCK_STREAM, ",0"), denied},
		{fmt.Sprint("socket:", unix.AF_ALG, ",", unix.SOCK_SEQPACKET, ",0"), denied},
		{fmt.Sprint("socket:", unix.AF_INET, ",", unix.SOCK_RAW, ",1"), denied},
		{fmt.Sprint("socket:", unix.AF_INET, ",", unix.SOCK_STREAM, ",262"), "protocol not supported"},
		{fmt.Sprint("socket:", unix.AF_INET6, ",", unix.SOCK_DGRAM, ",0"), denied},
		{fmt.Sprint("socket:", unix.AF_BLUETOOTH, ",", unix.SOCK_STREAM, ",0"), denied},
	}
	terms := make([]string, 0, len(ways))
	for _, way := range ways {
		terms = append(terms, way[0])
	}
	through := 0
	for i, got := range b.attempt(t, policy(t), terms...) {
		if want := ways[i][1]; !strings.Contains(got, want) {
			through++
			t.Errorf("%s: got %q, want %q", terms[i], got, want)
		}
	}
	t.Logf("%d ways as user %d, %d through", len(ways), os.Getuid(), through)
	if raw, err := os.ReadFile(b.secret); string(raw) != "the database" {
		t.Errorf(`the file of the host holds %q (%v), want "the database"`, raw, err)
	}
	if n := len(b.visits); n > 0 {
		t.Errorf("servers of the host were visited %d times, want 0", n)
	}
}

// TestLocksTellNothing: a lock of a file that all boxes see is no word from one to another.
func TestLocksTellNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file, err := os.Open(policyPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	terms := []string{"flock:" + policyPath(t), "read lock:" + policyPath(t)}
	for i, got := range b.attempt(t, policy(t), terms...) {
		if got != "done" {
			t.Errorf("%s, which is locked outside: got %q, want done", terms[i], got)
		}
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	p := policy(t, append(append([]string{"attempt"}, terms...), "wait:")...)
	b.run(t, p, nil, func(c *Command) {
		defer c.Kill()
		pid := plugin(c)
		wait(t, "the plugin to have the file open twice", func() bool { return holds(pid, policyPath(t)) >= len(terms) })
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil || lock.Type != unix.F_UNLCK {
			t.Errorf("the file has a lock of kind %d at %d, error %v; want none", lock.Type, lock.Start, err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Errorf("lock the file beside a plugin that locked it: got %v, want no error", err)
		}
	})
}

// holds counts how often a process has a file open.
func holds(pid int, path string) (n int) {
	descriptors, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	for _, name := range descriptors {
		if target, err := os.Readlink(name); err == nil && filepath.Base(target) == filepath.Base(path) {
			n++
		}
	}
	return n
}

// heavy leaves a test to `make hostile`, which .ci/run calls after `make test`.
func heavy(t *testing.T) {
	t.Helper()
	if os.Getenv("SCROLLERY_TEST_HEAVY") == "" {
		t.Skip("make hostile runs it")
	}
}

// policyPath is the binary, which the box shows.
func policyPath(t *testing.T) string { return policy(t).Path }

//go:embed testdata/hostile.py
var hostilePython []byte

// TestHostilePython does the same with a script, which sees the system's programs.
func TestHostilePython(t *testing.T) {
	heavy(t)
	b := setup(t)
	script := filepath.Join(t.TempDir(), "hostile.py")
	if err := os.WriteFile(script, hostilePython, 0o755); err != nil {
		t.Fatal(err)
	}
	hash, err := launch.Hash(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOST_SECRET", "of the host")
	p := policy(t, strconv.Itoa(os.Getpid()), b.secret, b.database)
	p.Path, p.SHA256 = script, hash
	e := b.run(t, p, func(l net.Listener) { _ = l.Close() })
	lines := strings.Split(strings.TrimSpace(e.out), "\n")
	for _, line := range lines {
		if !strings.Contains(line, ": refused: ") {
			t.Errorf(`got through: %s, want with ": refused: "`, line)
		}
	}
	const ways = 45
	if e.err != nil || len(lines) != ways {
		t.Errorf("got %d ways, %v; want %d, all refused: %s%s", len(lines), e.err, ways, e.out, e.words)
	}
	if n := len(b.visits); n > 0 {
		t.Errorf("servers of the host were visited %d times, want 0", n)
	}
	t.Logf("%d ways as user %d", len(lines), os.Getuid())
}

// TestBoundsOfTheBox has processes use more than a call may have, in ways that no limit of one
// process covers.
func TestBoundsOfTheBox(t *testing.T) {
	heavy(t)
	b := setup(t)
	for _, c := range []struct{ name, term, want string }{
		{"3 GB in children", "children:48", "used more than 272 MiB"},
		{"40 processes with full sockets", "sockets:40", "used more than 272 MiB"},
		{"1,500 processes", "forks:1500", "used more than 200 processes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := policy(t, "attempt", c.term)
			if !strings.HasPrefix(c.term, "forks") {
				p.Tasks = 2000 // the threads of so many children are not what ends them
			}
			if strings.HasPrefix(c.term, "sockets") {
				p.Files = 200 // nor are open files
			}
			e := b.run(t, p, nil)
			// The kernel may refuse processes before the meter looks.
			refused := strings.HasPrefix(c.term, "forks") && strings.Contains(e.out, "resource temporarily unavailable")
			if !refused && (e.exceeded == nil || !strings.Contains(e.exceeded.Error(), c.want)) {
				t.Errorf("ended with %v (%v) %s %s, want %q", e.exceeded, e.err, e.out, e.words, c.want)
			}
			wait(t, "the end of all processes", func() bool { return len(marked("MARK="+p.Scratch)) == 0 })
		})
	}
}

// TestAProcessWithoutItsFirstThreadIsNotOverlooked: of that thread the kernel reports nothing.
func TestAProcessWithoutItsFirstThreadIsNotOverlooked(t *testing.T) {
	t.Parallel()
	process := exec.Command("/proc/self/exe", "attempt", "headless:1")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	pid := process.Process.Pid
	wait(t, "the end of its first thread", func() bool {
		return strings.Contains(read(strconv.Itoa(pid), "status"), "State:\tZ") && !strings.Contains(read(strconv.Itoa(pid), "status"), "VmRSS:")
	})
	processes, threads := family(pid, 200)
	if len(processes) != 1 || len(threads) < 2 || memory(processes[0], false) == 0 || memory(processes[0], true) == 0 {
		t.Fatalf("got %v with %d threads and %d bytes of memory, want one with some of both", processes, len(threads), memory(processes[0], false))
	}
	folder := t.TempDir()
	file, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := Policy{Tasks: 200, Memory: 1 << 50}
	if err := look(pid, file, p, false); err != nil {
		t.Errorf("a look with room: got %v, want nil", err)
	}
	p.Memory = 1
	if err := look(pid, file, p, false); err == nil || err.Error() != tooMuch(p).Error() {
		t.Errorf("a look without room: got %v, want %v", err, tooMuch(p))
	}
}

// TestHonestPluginsLive although many of their processes share memory, and end at once.
func TestHonestPluginsLive(t *testing.T) {
	heavy(t)
	b := setup(t)
	for _, way := range []string{"workers:20", "zombies:60"} {
		t.Run(way, func(t *testing.T) {
			p := policy(t, "attempt", way)
			p.Memory, p.Disk, p.Tasks, p.Files = 512<<20, 256<<20, 512, 256
			if e := b.run(t, p, nil); e.out != "[\"lived\"]\n" || e.exceeded != nil {
				t.Errorf("ended with %v (%v) %s %s, want it to live", e.exceeded, e.err, e.out, e.words)
			}
		})
	}
}

// TestSharedMemoryCountsOnce although 100 processes have it.
func TestSharedMemoryCountsOnce(t *testing.T) {
	heavy(t)
	b := setup(t)
	p := policy(t, "attempt", "sleepers:100")
	p.Memory, p.Disk, p.Tasks = 512<<20, 256<<20, 512
	b.run(t, p, nil, func(c *Command) {
		defer c.Kill()
		wait(t, "all sleepers", func() bool {
			processes, _ := family(c.Pid(), p.Tasks)
			return len(processes) > 100
		})
		began := time.Now()
		if err := look(c.Pid(), c.scratch, p, false); err != nil {
			t.Errorf("a look: got %v, want nil", err)
		}
		t.Logf("it took %v", time.Since(began))
	})
}

// TestTheKernelBoundsProcesses while the host does not look: it does from AwaitExit on.
func TestTheKernelBoundsProcesses(t *testing.T) {
	b := setup(t)
	var system unix.Utsname
	if err := unix.Uname(&system); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(system.Release[:])
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 && b.confiner.groups == nil && (major < 6 || major == 6 && minor < 14) {
		t.Skip("Linux " + release + " bounds no processes of root")
	}
	machine, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	p, most := policy(t, "attempt", "forks:1500"), 0
	e := b.run(t, p, nil, func(c *Command) {
		wait(t, "the end of the forks", func() bool {
			_, threads := family(c.Pid(), 5000)
			most = max(most, len(threads))
			return most > 1500 || most > 1 && len(threads) <= 1 // not reaped yet
		})
	})
	if bound := p.Tasks + 301; most > bound || !strings.Contains(e.out, "resource temporarily unavailable") {
		t.Errorf("got %d processes and %q (%v) %s, want at most %d", most, e.out, e.err, e.words, bound)
	}
	if now, err := os.ReadFile("/proc/sys/kernel/pid_max"); string(now) != string(machine) {
		t.Errorf("the machine's highest number is %s (%v), it was %s, want %v", now, err, machine, string(machine))
	}
	t.Logf("%d processes at most", most)
}

// TestFull has the scratch folder refuse what is more than its size.
func TestFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const full = "no space left on device"
	for _, term := range []string{"files:3072", "deleted:60", "shm:3072", "inodes:100000"} {
		t.Run(term, func(t *testing.T) {
			if got := b.attempt(t, policy(t), term)[0]; !strings.Contains(got, full) && !strings.Contains(got, "too many open files") {
				t.Errorf("%s: got %q, want %q", term, got, full)
			}
		})
	}
}

// TestNothingIsLeft for the next call, in the same place.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := policy(t)
	equal(t, "the first call", []string{"kept", "brief"}, b.attempt(t, p, "keep:", "find:"))
	if got := b.attempt(t, p, "find:")[0]; !strings.Contains(got, "no such file") {
		t.Errorf(`the next call found %q, want with "no such file"`, got)
	}
	if left, _ := filepath.Glob(p.Scratch + "/*"); len(left) > 0 {
		t.Errorf("files are left: %v, want none", left)
	}
}

// TestNoProcessIsLeft by a plugin that ends, nor by one whose host is killed.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := policy(t)
	equal(t, "the orphan", []string{"left"}, b.attempt(t, p, "orphan:"))
	if left := marked("MARK=" + p.Scratch); len(left) > 0 {
		t.Errorf("processes are left: %v, want none", left)
	}
	scratch := t.TempDir()
	host := exec.Command("/proc/self/exe", "host", scratch)
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	// The first process, the plugin and its child.
	wait(t, "the plugin of another host", func() bool { return len(marked("MARK="+scratch)) == 3 })
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	wait(t, "the end of all processes", func() bool { return len(marked("MARK="+scratch)) == 0 })
}
