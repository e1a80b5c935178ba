package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// Policy is what a process and all that it starts may do and use.
type Policy = launch.Policy

var (
	// ErrClosed is the error of a start after [Confiner.Close].
	ErrClosed = errors.New("the plugin host is closed")
	// ErrNoBox is the error of a start where this system cannot build a box.
	ErrNoBox = errors.New("no box for plugins on this system")
)

// Inside is the port of the proxy in every box that has network, at its own loopback.
const Inside = 3128

// Confiner starts confined processes. It is safe for concurrent use.
type Confiner struct {
	self    []string
	missing func() error
	starter *starter
	// groups is nil if no cgroup is delegated, for the reason in ungrouped. They are
	// known once missing has returned.
	groups    *groups
	ungrouped error
}

// New takes the command line that starts this program again, so that it answers
// [launch.Verb]. With without, it builds no boxes. The caller closes the Confiner.
func New(self []string, without bool) *Confiner {
	c := &Confiner{self: self, starter: newStarter(self)}
	c.missing = sync.OnceValue(c.try)
	if without {
		c.missing = func() error { return errWithout }
	}
	return c
}

var errWithout = errors.New("the operator turned it off")

// Missing is the part of a box that this system lacks, or nil. The first call builds a
// box to find out.
func (c *Confiner) Missing() error { return c.missing() }

// Ungrouped is why no cgroup bounds a call, so that the host adds up what its processes
// use; nil if one does.
func (c *Confiner) Ungrouped() error {
	if err := c.missing(); err != nil {
		return err
	}
	return c.ungrouped
}

// Close ends the thread that starts processes. Processes that run are killed by the
// kernel, since that thread is their parent.
func (c *Confiner) Close() { c.starter.stop() }

// trialTime is how long a first box may take; far more than it does.
const trialTime = 20 * time.Second

// try builds a first box, in a cgroup if that works.
func (c *Confiner) try() error {
	if c.groups, c.ungrouped = openGroups(); c.groups != nil {
		if c.ungrouped = c.tryBox(); c.ungrouped == nil {
			return nil
		}
		c.groups = nil
	}
	return c.tryBox()
}

// tryBox has a box do nothing.
func (c *Confiner) tryBox() error {
	path, err := exec.LookPath(c.self[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scrollery-box-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	one, err := c.command(Policy{
		Path: path, Args: append(append([]string{}, c.self[1:]...), launch.Verb, launch.Trial), Memory: 1 << 30, Files: 64, Disk: 1 << 20, Tasks: 256,
		Scratch: dir, Dir: filepath.Join(dir, "work"), Proxy: Inside,
	}, true)
	if err != nil {
		return err
	}
	defer one.Close()
	words, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer words.Close()
	one.Stderr, one.Env = in, os.Environ() // it is this program, which does nothing
	err = one.Start()
	_ = in.Close()
	if err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	defer time.AfterFunc(trialTime, one.Kill).Stop()
	said, _ := io.ReadAll(io.LimitReader(words, 4<<10))
	if err := one.AwaitExit()(); err != nil {
		return errors.New(strings.TrimSpace(strings.TrimPrefix(string(said), launch.Verb+":")) + " (" + err.Error() + ")")
	}
	if _, err := one.Scratch(); err != nil {
		return err
	}
	return one.metered
}

// Command is one process that is confined from its first instruction on, with all that
// it starts. The caller sets the exported fields before Start; the process has no input
// and no environment but Env.
type Command struct {
	Env            []string
	Stdout, Stderr *os.File
	// Serve, if set, gets the listener at the policy's Proxy when the box is ready.
	Serve func(net.Listener)

	policy  Policy
	starter *starter
	command *exec.Cmd
	link    *link         // nil without a box
	group   *group        // nil without a cgroup
	ready   chan struct{} // closed when the box is ready, or never will be
	ended   chan struct{} // closed when the process has ended
	scratch *os.File      // of a box
	failed  error
	metered error // why the meter ended it, or could not measure
}

// Command prepares a process. A binary of a third party is put into a box, or fails with
// [ErrNoBox], unless the Confiner was made without; a built-in does with what the system
// has. The caller closes the Command, started or not.
func (c *Confiner) Command(policy Policy) (*Command, error) {
	missing := c.Missing()
	if missing != nil && policy.SHA256 != "" && !errors.Is(missing, errWithout) {
		return nil, fmt.Errorf("%w: %w", ErrNoBox, missing)
	}
	return c.command(policy, missing == nil)
}

func (c *Confiner) command(policy Policy, inBox bool) (*Command, error) {
	text, err := json.Marshal(launch.Order{Policy: policy, Boxed: inBox, Parent: os.Getpid()})
	if err != nil {
		return nil, fmt.Errorf("encode the policy: %w", err)
	}
	argv := append(append([]string{}, c.self...), launch.Verb, string(text))
	one := &Command{
		policy: policy, starter: c.starter, command: exec.Command(argv[0], argv[1:]...),
		ready: make(chan struct{}), ended: make(chan struct{}),
	}
	ownGroup(one.command)
	if !inBox {
		one.command.Dir = policy.Dir
		close(one.ready)
		return one, nil
	}
	boxed(one.command.SysProcAttr)
	if one.link, err = newLink(); err != nil {
		return nil, fmt.Errorf("link the process: %w", err)
	}
	one.command.ExtraFiles = []*os.File{one.link.theirs}
	if c.groups != nil {
		if one.group, err = c.groups.add(policy); err != nil {
			one.link.close()
			return nil, fmt.Errorf("make a cgroup: %w", err)
		}
		one.group.join(one.command.SysProcAttr)
	}
	return one, nil
}

// Start starts the process in a group of its own. The kernel kills the process when
// the host ends.
func (c *Command) Start() error {
	c.command.Env = append(append([]string{}, raceEnv...), c.Env...) // without any, not the host's
	if c.Stdout != nil {
		c.command.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		c.command.Stderr = c.Stderr
	}
	err := c.starter.start(c.command)
	if c.link == nil {
		return err
	}
	_ = c.link.theirs.Close()
	if err != nil {
		c.failed = err
		close(c.ready)
		return err
	}
	go c.attend()
	return nil
}

// attend takes what leads into the box, and watches what it uses.
func (c *Command) attend() {
	var listener net.Listener
	c.scratch, listener, c.failed = c.link.receive()
	_ = c.link.ours.Close() // a launcher that still waits ends
	close(c.ready)
	if c.failed == nil && listener != nil {
		if c.Serve != nil {
			c.Serve(listener)
		} else {
			_ = listener.Close()
		}
	}
}

// Scratch is the path by which the host reaches the policy's Scratch. It waits for the
// box. A name below it may lead anywhere: open it by [os.Root] alone.
func (c *Command) Scratch() (string, error) {
	<-c.ready
	if c.link == nil || c.failed != nil {
		return c.policy.Scratch, c.failed
	}
	return fmt.Sprintf("/proc/self/fd/%d", c.scratch.Fd()), nil
}

// Socket opens a socket of the scratch folder without connecting to it. The path leads to
// this very socket until it is closed, whatever the process puts there later.
func (c *Command) Socket(name string) (io.Closer, string, error) {
	folder, err := c.Scratch()
	if err != nil {
		return nil, "", err
	}
	return openSocket(folder, name)
}

var errNoSocket = errors.New("no socket")

// Pid is the process id; 0 before Start.
func (c *Command) Pid() int {
	if c.command.Process == nil {
		return 0
	}
	return c.command.Process.Pid
}

// Kill kills the process and its group, and with a box all that it started. Call it
// neither before Start nor after the process was reaped.
func (c *Command) Kill() { killGroup(c.command) }

// AwaitExit returns when the process has ended. The returned function reaps it and
// returns its error as [exec.Cmd.Wait] does; until then no other process can have
// the group's number.
func (c *Command) AwaitExit() (reap func() error) {
	if c.link == nil {
		return awaitExit(c.command)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		<-c.ready
		if c.failed == nil {
			c.metered = meter(c.Pid(), c.scratch, c.policy, c.group != nil, c.ended)
		}
		if c.metered != nil {
			c.Kill()
		}
	}()
	reap = awaitExit(c.command)
	close(c.ended)
	<-watched
	if c.group != nil && c.metered == nil {
		c.metered = c.group.exceeded(c.policy)
	}
	return reap
}

// Exceeded is the bound for which the process was ended, or nil. Call it after the
// process has ended.
func (c *Command) Exceeded() error { return c.metered }

// Signaled reports whether a signal ended the process. It is false before the process
// was reaped.
func (c *Command) Signaled() bool {
	return c.command.ProcessState != nil && c.command.ProcessState.ExitCode() == -1
}

// Close lets go of what leads into the box. Nothing of its scratch folder is left.
func (c *Command) Close() {
	if c.link == nil {
		return
	}
	c.link.close()
	if c.group != nil {
		c.group.remove()
	}
	if c.Pid() == 0 {
		return
	}
	<-c.ready
	if c.scratch != nil {
		_ = c.scratch.Close()
	}
}
