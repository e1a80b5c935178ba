package confine

import (
	"os/exec"
	"runtime"
)

// starter starts all processes from one thread that lives as long as the Confiner: to
// the kernel, the parent of a process is the thread that started it, and the
// parent-death signal comes when that thread ends.
type starter struct {
	work chan start
	done chan struct{}
}

type start struct {
	command *exec.Cmd
	result  chan error
}

func newStarter() *starter {
	s := &starter{work: make(chan start), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the host
		for {
			select {
			case one := <-s.work:
				one.result <- one.command.Start()
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *starter) start(command *exec.Cmd) error {
	one := start{command: command, result: make(chan error, 1)}
	select {
	case s.work <- one:
		return <-one.result
	case <-s.done:
		return ErrClosed
	}
}

func (s *starter) stop() { close(s.done) }
