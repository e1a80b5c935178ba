package connections

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// endUnread has the system end the connection once its client has taken nothing of what was
// sent for so long.
func endUnread(conn *net.TCPConn, after time.Duration) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var setErr error
	err = raw.Control(func(fd uintptr) {
		setErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	})
	return errors.Join(err, setErr)
}
