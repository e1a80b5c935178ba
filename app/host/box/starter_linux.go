package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app/host/box/launch"
)

// helper is a small process that makes the processes of boxes, as children of the thread
// that started the helper.
//
// A process with a user namespace cannot borrow the memory of the one that makes it until
// it executes something: Go copies the tables of all pages. While the kernel does so for a
// host of some hundred megabytes, no thread of the host gets a page, and each page that it
// writes to afterwards costs a fault: calls stood still for up to 30 ms on busy processors.
type helper struct {
	link *os.File // in blocking mode
}

// helperTime is how many seconds the helper may take to answer; far more than it does.
const helperTime = 20

var errHelper = errors.New("the process that starts others has ended")

// begin starts a process, a boxed one by the helper if that works here. A cgroup that it
// must begin in is not for the helper: the kernel refuses one together with another parent.
func (s *starter) begin(command *exec.Cmd) error {
	attr := command.SysProcAttr
	if attr.Cloneflags == 0 || attr.UseCgroupFD || s.alone {
		return command.Start()
	}
	text, err := json.Marshal(launch.Start{Path: command.Path, Args: command.Args, Env: command.Environ()})
	if err != nil {
		return fmt.Errorf("encode the start: %w", err)
	}
	if len(text) > launch.MaxStart {
		return command.Start()
	}
	if s.helper == nil {
		if s.helper, err = newHelper(s.self); err != nil {
			s.alone = true
			return command.Start()
		}
	}
	started, err := s.helper.start(text, command)
	if err != nil {
		s.helper.close()
		s.helper = nil // the next start has another
		return err
	}
	if started.Pid == 0 {
		s.helper.close()
		s.helper, s.alone = nil, true
		return command.Start()
	}
	command.Process, err = os.FindProcess(started.Pid)
	return err
}

// newHelper starts a helper, from the thread that is to be the parent of its processes.
func newHelper(self []string) (*helper, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	h, theirs := &helper{link: os.NewFile(uintptr(pair[0]), "ours")}, os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	command := exec.Command(self[0], append(append([]string{}, self[1:]...), launch.Verb, launch.Starter)...)
	// The less memory, the sooner a process is made.
	command.Env, command.ExtraFiles = append([]string{"GOGC=20"}, raceEnv...), []*os.File{theirs}
	ownGroup(command)
	limit := unix.Timeval{Sec: helperTime}
	err = errors.Join(
		unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit),
		command.Start())
	if err != nil {
		h.close()
		return nil, err
	}
	go func() { _ = command.Wait() }() // it ends with the link
	_ = theirs.Close()
	if _, err := h.answer(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// start has the helper start a process with the files of the command.
func (h *helper) start(text []byte, command *exec.Cmd) (launch.Started, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return launch.Started{}, err
	}
	defer null.Close()
	var files []int
	for _, to := range []any{command.Stdout, command.Stderr, command.ExtraFiles[0]} {
		file, is := to.(*os.File)
		if !is {
			file = null
		}
		files = append(files, int(file.Fd()))
	}
	if err := unix.Sendmsg(int(h.link.Fd()), text, unix.UnixRights(files...), nil, unix.MSG_NOSIGNAL); err != nil {
		return launch.Started{}, fmt.Errorf("%w: %w", errHelper, err)
	}
	return h.answer()
}

func (h *helper) answer() (started launch.Started, err error) {
	message := make([]byte, 4<<10)
	n := 0
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		n, err = unix.Read(int(h.link.Fd()), message)
	}
	if err == nil && n > 0 {
		err = json.Unmarshal(message[:n], &started)
	} else if err == nil {
		err = errors.New("no answer")
	}
	if err != nil {
		return started, fmt.Errorf("%w: %w", errHelper, err)
	}
	return started, nil
}

// close ends the helper, if there is one. Its processes go on.
func (h *helper) close() {
	if h != nil {
		_ = h.link.Close()
	}
}
