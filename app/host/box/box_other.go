//go:build !linux

package box

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

var errNoLinux = errors.New("only Linux has namespaces")

func ownGroup(*exec.Cmd) {}

func (s *starter) begin(command *exec.Cmd) error { return command.Start() }

// helper is for systems with namespaces.
type helper struct{}

func (*helper) close() {}

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

func awaitExit(command *exec.Cmd) (reap func() error) {
	err := command.Wait()
	return func() error { return err }
}

func boxed(*syscall.SysProcAttr) {}

type link struct{ ours, theirs *os.File }

func newLink() (*link, error) { return nil, errNoLinux }

func (*link) receive() (*os.File, net.Listener, error) { return nil, nil, errNoLinux }

func (*link) close() {}

type (
	groups struct{}
	group  struct{}
)

func openGroups() (*groups, error) { return nil, errNoLinux }

func (*groups) add(launch.Policy) (*group, error) { return nil, errNoLinux }

func (*group) join(*syscall.SysProcAttr) {}

func (*group) exceeded(launch.Policy) error { return nil }

func (*group) remove() {}

func meter(int, *os.File, launch.Policy, bool, <-chan struct{}) error { return nil }

// openSocket only looks whether there is a socket.
func openSocket(folder, name string) (io.Closer, string, error) {
	path := filepath.Join(folder, name)
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return nil, "", errNoSocket
	}
	return io.NopCloser(nil), path, nil
}
