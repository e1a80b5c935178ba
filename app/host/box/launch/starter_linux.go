package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxStart is the most bytes of an encoded [Start].
const MaxStart = 96 << 10

// Start is what the host asks of the starter, with the launcher's output, its errors and
// its link as passed files. The answer is a [Started].
type Start struct {
	Path      string
	Args, Env []string
}

// Started has the number of a process, or why there is none.
type Started struct {
	Pid    int
	Failed string
}

// Isolate has a process begin in namespaces of its own. It is root of them, which is no
// one outside, and gives that up before it runs anything.
func Isolate(attr *syscall.SysProcAttr) {
	attr.Cloneflags = Namespaces
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
}

// attendStarts starts launchers until the host is gone. They are children of the thread
// that started this process, as if the host had started them: it waits for them, and
// they die with it.
func attendStarts() int {
	answer := Started{}
	message, control := make([]byte, MaxStart), make([]byte, unix.CmsgSpace(3*4))
	for {
		text, err := json.Marshal(answer)
		if err == nil {
			_, err = unix.Write(Link, text)
		}
		if err != nil {
			return exitLaunch
		}
		n, rest := 0, 0
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			n, rest, _, _, err = unix.Recvmsg(Link, message, control, unix.MSG_CMSG_CLOEXEC)
		}
		if err != nil || n == 0 {
			return 0
		}
		answer = Started{}
		if answer.Pid, err = startOne(message[:n], control[:rest]); err != nil {
			answer.Failed = err.Error()
		}
	}
}

func startOne(text, control []byte) (int, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(errors.New("no files"), err)
	}
	passed, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, fmt.Errorf("take the files: %w", err)
	}
	files := []uintptr{0} // of this process: nothing can be read
	for _, fd := range passed {
		defer unix.Close(fd)
		files = append(files, uintptr(fd))
	}
	var start Start
	if err := json.Unmarshal(text, &start); err != nil {
		return 0, fmt.Errorf("decode the start: %w", err)
	}
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	Isolate(attr)
	attr.Cloneflags |= unix.CLONE_PARENT
	return syscall.ForkExec(start.Path, start.Args, &syscall.ProcAttr{Env: start.Env, Files: files, Sys: attr})
}
