//go:build !linux

package pluginhost

import "os/exec"

func group(*exec.Cmd) {}

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

func awaitExit(command *exec.Cmd) (reap func() error) {
	err := command.Wait()
	return func() error { return err }
}
