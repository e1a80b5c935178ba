package box

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// TestMain makes the test binary its own launcher, and the process that it confines.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "attempt":
			var all []string
			for _, term := range os.Args[2:] {
				do, arg, _ := strings.Cut(term, ":")
				fmt.Fprintln(os.Stderr, term)
				text, err := attempt(do, arg)
				if err != nil {
					text = err.Error()
				}
				all = append(all, text)
			}
			_ = json.NewEncoder(os.Stdout).Encode(all)
			os.Exit(0)
		case "without": // in a namespace of users that forbids further ones
			if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			_, err := New([]string{"/proc/self/exe"}, false).Command(Policy{Path: "/proc/self/exe", SHA256: strings.Repeat("0", 64)})
			fmt.Println(err)
			os.Exit(0)
		case "host":
			lonelyHost(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

// bundle is a confiner, and a file and a socket of the host outside of every policy.
type bundle struct {
	confiner         *Confiner
	secret, database string
	visits           chan struct{}
}

// setup fails if there is no box: nothing here makes sense without one.
func setup(t *testing.T) *bundle {
	t.Helper()
	dir := t.TempDir()
	b := &bundle{
		confiner: New([]string{"/proc/self/exe"}, false), visits: make(chan struct{}, 100),
		secret: filepath.Join(dir, "scrollery.db"), database: filepath.Join(dir, ".s.PGSQL.5432"),
	}
	t.Cleanup(b.confiner.Close)
	if missing := b.confiner.Missing(); missing != nil {
		t.Fatalf("this system has no box for plugins: %v, want no missing", missing)
	}
	if err := os.WriteFile(b.secret, []byte("the database"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.server(t, "unix", b.database)
	return b
}

// server is the address of a server of the host that notes its visits.
func (b *bundle) server(t *testing.T, network, address string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			b.visits <- struct{}{}
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}

// policy is one for the test binary.
func policy(t *testing.T, args ...string) Policy {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	return Policy{
		Path: self, Args: args, Memory: 256 << 20, Disk: 16 << 20, Files: 64, Tasks: 200,
		Scratch: scratch, Dir: filepath.Join(scratch, "work"), Proxy: Inside,
	}
}

// ending is how a process ended.
type ending struct {
	out, words string
	err        error
	exceeded   error
}

// run runs a policy to its end. Shortly before the test's deadline it is killed.
func (b *bundle) run(t *testing.T, p Policy, serve func(net.Listener), during ...func(*Command)) (e ending) {
	t.Helper()
	command, err := b.confiner.Command(p)
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	var ends [2]*os.File
	var read [2]*os.File
	for i := range ends {
		if read[i], ends[i], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		defer read[i].Close()
	}
	command.Env, command.Stdout, command.Stderr = []string{"TMPDIR=" + p.Dir, "PATH=/usr/bin:/bin", "MARK=" + p.Scratch, "WRITES=" + strings.Join(p.Writes, "")}, ends[0], ends[1]
	command.Serve = serve
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Until(deadline(t)), command.Kill).Stop()
	_, _ = ends[0].Close(), ends[1].Close()
	words := make(chan string)
	go func() {
		raw, _ := io.ReadAll(read[1])
		words <- string(raw)
	}()
	for _, do := range during {
		do(command)
	}
	out := make(chan string)
	go func() {
		raw, _ := io.ReadAll(bufio.NewReader(read[0]))
		out <- string(raw)
	}()
	reap := command.AwaitExit()

	e.err = reap()
	e.out, e.words, e.exceeded = <-out, <-words, command.Exceeded()
	return e
}

// attempt runs the terms in one process and returns the result of each.
func (b *bundle) attempt(t *testing.T, p Policy, terms ...string) []string {
	t.Helper()
	p.Args = append([]string{"attempt"}, terms...)
	e := b.run(t, p, nil)
	var got []string
	if err := json.Unmarshal([]byte(e.out), &got); err != nil || e.err != nil || len(got) != len(terms) {
		t.Fatalf("got %d results, %v, %v; want one of each of %d attempts: %s %s", len(got), err, e.err, len(terms), e.out, e.words)
	}
	return got
}

func TestProxyIsReached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	visits := make(chan struct{}, 1)
	p := policy(t, "attempt", fmt.Sprintf("dial:tcp,127.0.0.1:%d", Inside))
	e := b.run(t, p, func(listener net.Listener) {
		go func() {
			defer listener.Close()
			if connection, err := listener.Accept(); err == nil {
				visits <- struct{}{}
				_ = connection.Close()
			}
		}()
	})
	if e.out != "[\"through\"]\n" {
		t.Fatalf("got %q, want it through (%v, %s)", e.out, e.err, e.words)
	}
	select { // a connection is made before it is accepted
	case <-visits:
	case <-time.After(time.Until(deadline(t))):
		t.Error("got no visit, want one")
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(path, []byte("a binary"), 0o700); err != nil {
		t.Fatal(err)
	}
	hash, err := launch.Hash(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := launch.Pinned(path, hash); err != nil {
		t.Errorf("got %v for the pinned binary", err)
	}
	if err := launch.Pinned(path, strings.Repeat("f", 64)); err != launch.ErrHash {
		t.Errorf("got %v for another hash, want %v", err, launch.ErrHash)
	}
	if err := launch.Pinned(filepath.Dir(path), hash); err == nil {
		t.Error("got no error for a folder, want an error")
	}
}

// TestExitsOfThePlugin: the first process of the box passes them on.
func TestExitsOfThePlugin(t *testing.T) {
	t.Parallel()
	e := setup(t).run(t, policy(t, "attempt", "wait:"), nil, func(c *Command) { crash(plugin(c)) })
	if e.err == nil || !strings.HasPrefix(e.err.Error(), "exit status ") || e.exceeded != nil {
		t.Errorf("got %v and %v, want an exit status of a crash", e.err, e.exceeded)
	}
}

// plugin waits for the process of the plugin in the box.
func plugin(c *Command) (pid int) {
	for {
		if processes, _ := family(c.Pid(), 100); len(processes) > 1 {
			if pid, err := strconv.Atoi(processes[1]); err == nil {
				return pid
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func crash(pid int) { _ = syscall.Kill(pid, syscall.SIGSEGV) }

// TestPluginsComeAfterTheServer: its niceness is lower.
func TestPluginsComeAfterTheServer(t *testing.T) {
	t.Parallel()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rank int
	setup(t).run(t, policy(t, "attempt", "wait:"), nil, func(c *Command) {
		pid := plugin(c)
		rank, err = unix.Getpriority(unix.PRIO_PROCESS, pid)
		crash(pid)
	})
	if err != nil {
		t.Fatalf("look at the plugin: got %v, want no error", err)
	}
	if rank != max(own-5, 1) { // 20 less the niceness
		t.Errorf("the plugin's niceness: got %d, want %d", 20-rank, 20-max(own-5, 1))
	}
}

// TestFoldersOfTheHostAreBounded: what a process writes there is on no tmpfs of its own.
func TestFoldersOfTheHostAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, way := range []string{"spill:64", "spill nameless:32", "spill hidden:64", "spill small:101"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := policy(t, "attempt", way)
			p.Writes, p.Written, p.WrittenFiles = []string{t.TempDir()}, 16<<20, 100
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.Writes[0], "hidden"), 0o700) })
			e := b.run(t, p, nil)
			if e.exceeded == nil || !strings.Contains(e.exceeded.Error(), "wrote more than 16 MiB, or 100 files") {
				t.Errorf("ended with %v (%v) %s%s, want the bound of its folders", e.exceeded, e.err, e.out, e.words)
			}
		})
	}
}

// TestManySpinnersLeaveTheServerTime: niceness is of a task, and a box may have many. Without
// being weighed, 75 of them a processor leave a busy thread of the server a 24th of its time.
func TestManySpinnersLeaveTheServerTime(t *testing.T) {
	heavy(t)
	b := setup(t)
	spinners := 75 * runtime.NumCPU()
	p := policy(t, "attempt", fmt.Sprint("spin:", spinners))
	p.Tasks = 2 * spinners
	b.run(t, p, nil, func(c *Command) {
		go func() {
			defer c.Kill()
			wait(t, "all spinners to be scheduled as idle", func() bool {
				processes, threads := family(c.Pid(), p.Tasks)
				idle := 0
				for _, process := range processes {
					id, _ := strconv.Atoi(process)
					if attributes, err := unix.SchedGetAttr(id, 0); err == nil && attributes.Policy == unix.SCHED_IDLE {
						idle++
					}
				}
				return len(threads) > spinners && idle >= spinners
			})
		}()
	})
}

// lonelyHost starts a process and waits, to be killed.
func lonelyHost(scratch string) {
	confiner := New([]string{"/proc/self/exe"}, false)
	command, err := confiner.Command(Policy{
		Path: "/proc/self/exe", Args: []string{"attempt", "orphan:", "wait:"}, Memory: 128 << 20, Files: 64, Tasks: 200, Disk: 1 << 20,
		Scratch: scratch, Dir: scratch + "/work",
	})
	if err == nil {
		command.Env = []string{"MARK=" + scratch}
		err = command.Start()
	}
	if err == nil {
		_, err = command.Scratch()
	}
	fmt.Println(err)
	time.Sleep(time.Hour)
}

// marked are the processes with a text in their environment.
func marked(mark string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		if raw, err := os.ReadFile(path + "/environ"); err == nil && bytes.Contains(raw, []byte(mark)) {
			found = append(found, filepath.Base(path))
		}
	}
	return found
}

// wait returns when it is there, or fails shortly before the test's own deadline.
func wait(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := deadline(t); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if there() {
			return
		}
	}
	t.Errorf("got no change, want %s", what)
}

// deadline is shortly before the test's own.
func deadline(t *testing.T) time.Time {
	t.Helper()
	if end, limited := t.Deadline(); limited {
		return end.Add(-15 * time.Second)
	}
	return time.Now().Add(time.Hour)
}

// TestWithoutNamespaces takes namespaces away: nothing of a third party starts.
func TestWithoutNamespaces(t *testing.T) {
	t.Parallel()
	setup(t)
	p := policy(t)
	p.SHA256 = strings.Repeat("0", 64)
	lacking := func(missing error, without bool) *Confiner {
		c := New([]string{"/proc/self/exe"}, without)
		t.Cleanup(c.Close)
		if missing != nil {
			c.missing = func() error { return missing }
		}
		return c
	}
	missing := errors.New("make namespaces: operation not permitted")
	if _, err := lacking(missing, false).Command(p); !errors.Is(err, ErrNoBox) || !strings.Contains(err.Error(), missing.Error()) {
		t.Errorf("got %v for a binary of a third party, want %v and the part", err, ErrNoBox)
	}
	if command, err := lacking(nil, true).Command(p); err != nil || command.link != nil {
		t.Errorf("got %v although the operator wants no box", err)
	}
	t.Run("of a kernel that refuses to make more", func(t *testing.T) {
		command := exec.Command("/proc/self/exe", "without")
		command.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		}
		out, err := command.CombinedOutput()
		if got := string(out); err != nil || !strings.Contains(got, ErrNoBox.Error()+": make namespaces: ") {
			t.Errorf("got %q (%v), want %v and the part", got, err, ErrNoBox)
		}
	})
	p.SHA256 = ""
	if command, err := lacking(missing, false).Command(p); err != nil || command.link != nil {
		t.Errorf("got %v for a built-in, want a process without a box", err)
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
