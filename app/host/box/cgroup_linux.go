package box

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// serverGroup is where the server moves itself: a cgroup that has processes cannot
	// limit its children.
	serverGroup = "scrollery-server"
	callsGroup  = "scrollery-calls"
	// callsWeight is what all calls get of the processors together, where the server's
	// 100 wants all of them.
	callsWeight = 50
	removeTime  = time.Second
)

// groups makes a cgroup for each call, below one that was delegated to this process.
type groups struct{ calls string }

// openGroups moves this process into a leaf of its own cgroup, and removes the groups of
// hosts that are gone. It fails where none is delegated.
func openGroups() (*groups, error) {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	_, own, found := strings.Cut("\n"+string(raw), "\n0::")
	own, _, _ = strings.Cut(own, "\n")
	if !found {
		return nil, errors.New("no cgroup v2")
	}
	if filepath.Base(own) == serverGroup {
		own = filepath.Dir(own)
	}
	folder := filepath.Join("/sys/fs/cgroup", own)
	if err := delegated(folder, own == "/"); err != nil {
		return nil, err
	}
	return divide(folder)
}

// delegated fails where a cgroup is not this process's to divide. systemd marks those that
// are; the root of a container's has no mark, and is its own.
func delegated(folder string, root bool) error {
	raw, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return errors.New("no cgroup v2 at " + folder)
	}
	for _, want := range []string{"memory", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(raw))+" ", " "+want+" ") {
			return fmt.Errorf("the cgroup has no controller of %s", want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "cgroup.type")); root && err == nil { // the machine's own has no type
		return nil
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		mark := make([]byte, 8)
		if n, err := unix.Getxattr(folder, name, mark); err == nil && string(mark[:n]) == "1" {
			return nil
		}
	}
	return errors.New("the cgroup is not delegated")
}

// divide makes the groups of a delegated cgroup.
func divide(folder string) (*groups, error) {
	g := &groups{calls: filepath.Join(folder, callsGroup)}
	server := filepath.Join(folder, serverGroup)
	for _, path := range []string{g.calls, server} {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	g.sweep()
	if err := write(server, "cgroup.procs", "0"); err != nil {
		return nil, err
	}
	for _, path := range []string{folder, g.calls} {
		if err := write(path, "cgroup.subtree_control", "+memory +pids"); err != nil {
			return nil, errors.Join(err, write(folder, "cgroup.procs", "0"))
		}
		_ = write(path, "cgroup.subtree_control", "+cpu") // else niceness alone
	}
	_ = write(g.calls, "cpu.weight", strconv.Itoa(callsWeight))
	return g, nil
}

// sweep removes the groups of hosts that were killed.
func (g *groups) sweep() {
	left, _ := filepath.Glob(filepath.Join(g.calls, "*-*"))
	for _, path := range left {
		host, _, _ := strings.Cut(filepath.Base(path), "-")
		pid, err := strconv.Atoi(host)
		if err == nil && pid != os.Getpid() && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.Remove(path) // which the kernel refuses while it has processes
		}
	}
}

// folder makes a group without bounds. Another host of this process, or one that had its
// number, may have groups of that number too.
func (g *groups) folder() (string, error) {
	return os.MkdirTemp(g.calls, strconv.Itoa(os.Getpid())+"-")
}

// group bounds one call.
type group struct {
	path   string
	folder *os.File
}

// add makes a group with the bounds of a policy.
func (g *groups) add(p Policy) (*group, error) {
	path, err := g.folder()
	if err != nil {
		return nil, err
	}
	one := &group{path: path}
	err = errors.Join(
		write(one.path, "memory.max", strconv.FormatInt(p.Memory+p.Disk, 10)),
		write(one.path, "memory.oom.group", "1"), // all processes end together
		write(one.path, "pids.max", strconv.Itoa(p.Tasks)))
	if swap := write(one.path, "memory.swap.max", "0"); !errors.Is(swap, os.ErrNotExist) { // a kernel without swap
		err = errors.Join(err, swap)
	}
	if err == nil {
		one.folder, err = os.Open(one.path)
	}
	if err != nil {
		one.remove()
		return nil, err
	}
	return one, nil
}

// join has a process start in the group.
func (g *group) join(attr *syscall.SysProcAttr) {
	attr.UseCgroupFD, attr.CgroupFD = true, int(g.folder.Fd())
}

// exceeded reports the bound for which the kernel ended the processes.
func (g *group) exceeded(p Policy) error {
	raw, err := os.ReadFile(filepath.Join(g.path, "memory.events"))
	if err != nil {
		return fmt.Errorf("read what the call used: %w", err)
	}
	for line := range bytes.Lines(raw) {
		if count, found := bytes.CutPrefix(line, []byte("oom_kill ")); found && string(bytes.TrimSpace(count)) != "0" {
			return tooMuch(p)
		}
	}
	return nil
}

// remove removes the group, whose processes have ended.
func (g *group) remove() {
	if g.folder != nil {
		_ = g.folder.Close()
	}
	for end := time.Now().Add(removeTime); errors.Is(os.Remove(g.path), unix.EBUSY) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func write(folder, file, text string) error {
	opened, err := os.OpenFile(filepath.Join(folder, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = opened.WriteString(text)
	return errors.Join(err, opened.Close())
}
