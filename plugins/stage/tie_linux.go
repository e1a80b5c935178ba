package stage

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Tie has a program die with the stage, even if the stage is killed: the host kills its
// stages and what they started, but not when it is killed itself. Call it before
// the start, and wait for the program in the same goroutine before untie, since the
// kernel goes by the thread that started it. Only Linux can; elsewhere nothing happens.
func Tie(command *exec.Cmd) (untie func()) {
	runtime.LockOSThread()
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
