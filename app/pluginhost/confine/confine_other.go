//go:build !linux

package confine

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
)

// Limitations lists what this system cannot keep a process from: here, all of it.
func Limitations() []string { return []string{"files, hosts, programs and system calls of any kind"} }

// become only checks the hash: this system has nothing to confine with.
func become(o order) error {
	if o.SHA256 != "" {
		if err := Pinned(o.Path, o.SHA256); err != nil {
			return err
		}
	}
	command := exec.Command(o.Path, o.Args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(command.ProcessState.ExitCode())
	}
	return err
}

func group(*exec.Cmd) {}

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

func awaitExit(command *exec.Cmd) (reap func() error) {
	err := command.Wait()
	return func() error { return err }
}

// supervisor does nothing here; see supervisor_linux.go.
type supervisor struct{}

func canSupervise() bool { return false }

func newSupervisor(netip.AddrPort, *slog.Logger) (*supervisor, error) { return &supervisor{}, nil }

func (*supervisor) file() *os.File { return nil }

func (*supervisor) close() {}
