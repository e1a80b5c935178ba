//go:build !linux

package pluginhost

import (
	"errors"
	"os"
	"os/exec"
)

func refusal(err error) bool { return errors.Is(err, errHash) }

// Gaps names what this system cannot keep a plugin from: here, all of it.
func Gaps() []string { return []string{"files, hosts, programs and system calls of any kind"} }

// become only checks the hash: there is nothing here to confine with.
func become(p policy) error {
	if p.SHA256 != "" {
		if err := pinned(p.Path, p.SHA256); err != nil {
			return err
		}
	}
	command := exec.Command(p.Path, p.Args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(command.ProcessState.ExitCode())
	}
	return err
}
