package confine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supervisor connects sockets for a process that may not do so itself, and lets Unix
// sockets listen. Landlock covers ports, but before its version 9 no paths of Unix
// sockets, by which a process would reach a database of this machine. The kernel asks
// the supervisor, which takes the socket and connects it to an address of its own, so
// that nothing that the process changes meanwhile matters.
type supervisor struct {
	proxy netip.AddrPort
	log   *slog.Logger
	theirs,
	ours *os.File // the process hands the kernel's listener over by these

	mu       sync.Mutex
	closed   bool
	listener *os.File
}

// canSupervise reports whether this system lets the host take its children's sockets.
func canSupervise() bool {
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && strings.TrimSpace(string(scope)) > "1" {
		return false
	}
	var sizes [3]uint16
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		return false
	}
	if sizes[0] > notificationSize || sizes[1] > responseSize {
		return false // a newer kernel with longer structures
	}
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(self)
	taken, err := unix.PidfdGetfd(self, self, 0)
	if err != nil {
		return false
	}
	return unix.Close(taken) == nil
}

func newSupervisor(proxy netip.AddrPort, log *slog.Logger) (*supervisor, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("supervise the process: %w", err)
	}
	w := &supervisor{proxy: proxy, log: log, theirs: os.NewFile(uintptr(pair[1]), "theirs")}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		_, _ = unix.Close(pair[0]), w.theirs.Close()
		return nil, fmt.Errorf("supervise the process: %w", err)
	}
	w.ours = os.NewFile(uintptr(pair[0]), "ours")
	go func() {
		if err := w.run(); err != nil {
			w.log.Warn("plugin is cut off: its connections cannot be supervised", "error", err)
		}
	}()
	return w, nil
}

// file must be the process's fourth file.
func (w *supervisor) file() *os.File { return w.theirs }

func (w *supervisor) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	_, _ = w.theirs.Close(), w.ours.Close()
	if w.listener != nil {
		_ = w.listener.Close()
	}
}

// run waits for the kernel's listener and answers it until the process has ended.
func (w *supervisor) run() error {
	listener, err := w.receive()
	if listener == nil || err != nil {
		return err
	}
	raw, err := listener.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Read(func(fd uintptr) bool {
		for {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(poll, 0); n == 0 || errors.Is(err, unix.EINTR) {
				return false
			}
			if poll[0].Revents&unix.POLLIN == 0 {
				return true // all supervised processes have ended
			}
			w.answer(int(fd))
		}
	})
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// receive returns nil if the process ended before it had a listener.
func (w *supervisor) receive() (*os.File, error) {
	raw, err := w.ours.SyscallConn()
	if err != nil {
		return nil, err
	}
	var n, rest int
	var failed error
	control := make([]byte, unix.CmsgSpace(4))
	err = raw.Read(func(fd uintptr) bool {
		n, rest, _, _, failed = unix.Recvmsg(int(fd), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if errors.Is(err, os.ErrClosed) || err == nil && failed == nil && n == 0 {
		return nil, nil
	}
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:rest])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("no listener came")
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, errors.Join(err, unix.Close(fds[0]))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	listener := os.NewFile(uintptr(fds[0]), "listener")
	if w.closed {
		return nil, listener.Close()
	}
	w.listener = listener
	return listener, nil
}

// notification and response are the kernel's seccomp_notif and seccomp_notif_resp.
type notification struct {
	ID         uint64
	PID, Flags uint32
	Number     int32
	Arch       uint32
	At         uint64
	Args       [6]uint64
}

type response struct {
	ID           uint64
	Value        int64
	Error, Flags int32
}

const (
	notificationSize = uint16(unsafe.Sizeof(notification{}))
	responseSize     = uint16(unsafe.Sizeof(response{}))
)

// answer settles one call. It does nothing if the process has ended.
func (w *supervisor) answer(listener int) {
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return
	}
	v := response{ID: n.ID}
	var errno unix.Errno
	if err := w.settle(listener, n); errors.As(err, &errno) {
		v.Error = -int32(errno)
	} else if err != nil {
		v.Error = -int32(unix.EACCES)
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&v)))
}

// settle does what the process asked for, where it may. It takes a copy of the socket
// first, so that the process cannot put another one in its place.
func (w *supervisor) settle(listener int, n notification) error {
	socket, err := socketOf(listener, n)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	if n.Number == unix.SYS_LISTEN {
		// Landlock forbids to bind a port, but the kernel chooses one for a socket that
		// listens without.
		if domain != unix.AF_UNIX {
			return unix.EACCES
		}
		return unix.Listen(socket, int(int32(n.Args[1])))
	}
	wanted, err := peek(int(n.PID), uintptr(n.Args[1]), n.Args[2])
	if err != nil || wanted != w.proxy || domain != unix.AF_INET {
		return unix.EACCES
	}
	return unix.Connect(socket, &unix.SockaddrInet4{Port: int(w.proxy.Port()), Addr: w.proxy.Addr().As4()})
}

// socketOf returns a copy of the socket that a waiting call names.
func socketOf(listener int, n notification) (int, error) {
	group, err := leader(n.PID)
	if err != nil {
		return 0, unix.EACCES
	}
	process, err := unix.PidfdOpen(group, 0)
	if err != nil {
		return 0, unix.EACCES
	}
	defer unix.Close(process)
	// The process id may be another process's by now, unless the call still waits.
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&n.ID))); errno != 0 {
		return 0, errno
	}
	return unix.PidfdGetfd(process, int(int32(n.Args[0])), 0)
}

// leader is the process that a thread belongs to.
func leader(thread uint32) (int, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(int(thread)) + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(raw, []byte("\nTgid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return strconv.Atoi(string(bytes.TrimSpace(line)))
}

// peek reads an IPv4 address from the process's memory; any other is an error.
func peek(pid int, at uintptr, size uint64) (netip.AddrPort, error) {
	var raw [unix.SizeofSockaddrInet4]byte
	if size < uint64(len(raw)) {
		return netip.AddrPort{}, unix.EINVAL
	}
	local := unix.Iovec{Base: &raw[0]}
	local.SetLen(len(raw))
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: at, Len: len(raw)}}, 0)
	if err != nil || n != len(raw) || binary.NativeEndian.Uint16(raw[:2]) != unix.AF_INET {
		return netip.AddrPort{}, unix.EACCES
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), binary.BigEndian.Uint16(raw[2:4])), nil
}

// handOver installs a filter with a listener and gives that to the host, by the
// file that the process was started with.
func handOver(filter *unix.SockFprog) error {
	const theirs = 3
	unix.CloseOnExec(theirs)
	listener, err := listen(filter)
	if err != nil {
		return err
	}
	defer unix.Close(listener)
	return unix.Sendmsg(theirs, []byte{0}, unix.UnixRights(listener), nil, 0)
}

func listen(filter *unix.SockFprog) (int, error) {
	// With the first set of flags a signal cannot repeat a call that is answered;
	// kernels before 5.19 do not know it.
	for _, flags := range []uintptr{
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
	} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(filter)))
		if errno == 0 {
			return int(fd), nil
		}
		if errno != unix.EINVAL {
			return 0, errno
		}
	}
	return 0, unix.EINVAL
}
