package box

import (
	"os/exec"
	"runtime"
)

// starter starts all processes from one thread that lives as long as the Confiner: to
// the kernel, the parent of a process is the thread that started it, and the
// parent-death signal comes when that thread ends.
type starter struct {
	self []string
	work chan start
	done chan struct{}

	helper *helper // nil while there is none; of the thread alone
	alone  bool    // helpers do not work here; of the thread alone
}

type start struct {
	command *exec.Cmd
	result  chan error
}

func newStarter(self []string) *starter {
	s := &starter{self: self, work: make(chan start), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the host
		for {
			select {
			case one := <-s.work:
				one.result <- s.begin(one.command)
			case <-s.done:
				s.helper.close()
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
