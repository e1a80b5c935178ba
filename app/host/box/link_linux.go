package box

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// link is the host's end.
type link struct {
	ours, theirs *os.File
}

func newLink() (*link, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.SetNonblock(pair[0], true) // before NewFile, which looks for it
	return &link{os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")}, err
}

func (l *link) close() { _, _ = l.ours.Close(), l.theirs.Close() }

// receive returns what leads into the box: its scratch folder and, with network, its
// listener. It fails if the launcher ends before.
func (l *link) receive() (scratch *os.File, listener net.Listener, err error) {
	raw, err := l.ours.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	control := make([]byte, unix.CmsgSpace(2*4))
	var n, rest int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, rest, _, _, failed = unix.Recvmsg(int(fd), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil || n == 0 {
		return nil, nil, errors.Join(errNoBox, err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:rest])
	if err != nil || len(messages) != 1 {
		return nil, nil, errors.Join(errNoBox, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, nil, errors.Join(errNoBox, err)
	}
	scratch = os.NewFile(uintptr(fds[0]), "scratch")
	if len(fds) > 1 {
		file := os.NewFile(uintptr(fds[1]), "listener")
		listener, err = net.FileListener(file)
		_ = file.Close()
	}
	if err == nil {
		_, err = l.ours.Write([]byte{0})
	}
	return scratch, listener, err
}

var errNoBox = errors.New("the launcher ended before the box was ready")

// openSocket follows no link of the folder.
func openSocket(folder, name string) (io.Closer, string, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, "", err
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	file := os.NewFile(uintptr(fd), name)
	if info, err := file.Stat(); err != nil || info.Mode().Type() != os.ModeSocket {
		_ = file.Close()
		return nil, "", errNoSocket
	}
	return file, fmt.Sprintf("/proc/self/fd/%d", fd), nil
}
