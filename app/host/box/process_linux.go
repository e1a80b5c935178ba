package box

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// ownGroup gives the command a process group of its own, which dies with the host.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// boxed has a process begin in namespaces of its own.
func boxed(attr *syscall.SysProcAttr) { launch.Isolate(attr) }

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// awaitExit returns when the process has ended. It is reaped later, so that no
// other process can have its group's number.
func awaitExit(command *exec.Cmd) (reap func() error) {
	for unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	return command.Wait
}
