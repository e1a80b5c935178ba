package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
)

// ErrClosed is the error of a start after [Confiner.Close].
var ErrClosed = errors.New("the plugin host is closed")

// Confiner starts confined processes. It is safe for concurrent use.
type Confiner struct {
	self       []string
	supervises bool
	starter    *starter
}

// New takes the command line that starts this program again, so that it answers
// [LaunchVerb]. The caller closes the Confiner.
func New(self []string) *Confiner {
	return &Confiner{self: self, supervises: canSupervise(), starter: newStarter()}
}

// Close ends the thread that starts processes. Processes that run are killed by the
// kernel, since that thread is their parent.
func (c *Confiner) Close() { c.starter.stop() }

// Command is one process that is confined from its first instruction on. The caller
// sets the exported fields before Start; the process has no input and no environment
// but Env.
type Command struct {
	Dir            string
	Env            []string
	Stdout, Stderr *os.File

	starter    *starter
	command    *exec.Cmd
	supervisor *supervisor // nil without network, or where the system has none
}

// Command prepares a process. The caller closes it, started or not.
func (c *Confiner) Command(policy Policy, log *slog.Logger) (*Command, error) {
	o := order{Policy: policy, Parent: os.Getpid(), Supervised: c.supervises && policy.Proxy.IsValid()}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode the policy: %w", err)
	}
	argv := append(append([]string{}, c.self...), LaunchVerb, string(text))
	one := &Command{starter: c.starter, command: exec.Command(argv[0], argv[1:]...)}
	group(one.command)
	if o.Supervised {
		if one.supervisor, err = newSupervisor(policy.Proxy, log); err != nil {
			return nil, err
		}
		one.command.ExtraFiles = []*os.File{one.supervisor.file()}
	}
	return one, nil
}

// Start starts the process in a group of its own. The kernel kills the process when
// the host ends.
func (c *Command) Start() error {
	c.command.Dir, c.command.Env = c.Dir, c.Env
	if c.Stdout != nil {
		c.command.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		c.command.Stderr = c.Stderr
	}
	err := c.starter.start(c.command)
	for _, file := range c.command.ExtraFiles {
		_ = file.Close()
	}
	return err
}

// Pid is the process id; 0 before Start.
func (c *Command) Pid() int {
	if c.command.Process == nil {
		return 0
	}
	return c.command.Process.Pid
}

// Kill kills the process and its group. Call it neither before Start nor after the
// process was reaped.
func (c *Command) Kill() { killGroup(c.command) }

// AwaitExit returns when the process has ended. The returned function reaps it and
// returns its error as [exec.Cmd.Wait] does; until then no other process can have
// the group's number.
func (c *Command) AwaitExit() (reap func() error) { return awaitExit(c.command) }

// Signaled reports whether a signal ended the process. It is false before the process
// was reaped.
func (c *Command) Signaled() bool {
	return c.command.ProcessState != nil && c.command.ProcessState.ExitCode() == -1
}

// Close ends the supervision. A process that still runs cannot connect any more.
func (c *Command) Close() {
	if c.supervisor != nil {
		c.supervisor.close()
	}
}
