// Package connections bounds the connections of clients, so that none of them can use up
// the process's file descriptors and memory.
package connections

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds are those of all connections of a process, and of each.
type Bounds struct {
	// Max is the most connections that are open at once; the next ones wait in the
	// system's queue. Default 10,000.
	Max int `yaml:"max"`
	// PerAddress is the most of one client address (an IPv6 client counts as its /64);
	// further ones are closed. Trusted proxies have no such bound. Default 1,000.
	PerAddress int `yaml:"per_address"`
	// UnreadFor is how long a client may leave an answer unread before its connection is
	// closed. Default 30 s.
	UnreadFor time.Duration `yaml:"unread_for"`
}

// outbox is how many bytes the system keeps at most of answers that a client has not taken;
// Linux doubles it for what it needs to keep them. It would have up to 4 MB of each.
const outbox = 256 << 10

// limited is a listener that holds connections to their bounds.
type limited struct {
	net.Listener
	bounds  Bounds
	trusted []netip.Prefix
	places  chan struct{}

	mu   sync.Mutex
	open map[netip.Addr]int
}

// Limit returns the listener within the bounds; nil for nil. Clients at a trusted address
// have no bound of their own.
func (b Bounds) Limit(listener net.Listener, trusted []netip.Prefix) net.Listener {
	if listener == nil {
		return nil
	}
	return &limited{
		Listener: listener, bounds: b, trusted: trusted,
		places: make(chan struct{}, b.Max), open: map[netip.Addr]int{},
	}
}

// Accept returns the next connection that is within the bounds.
func (l *limited) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, passing(err)
		}
		client := clientOf(conn)
		if !l.enter(client) {
			_ = conn.Close()
			continue
		}
		boundOutbox(conn, l.bounds.UnreadFor)
		held := &bounded{Conn: conn, unreadFor: l.bounds.UnreadFor, leave: sync.OnceFunc(func() { l.leave(client) })}
		if !l.trusts(client) {
			held.frames = newMeter(time.Now())
		}
		return held, nil
	}
}

// boundOutbox bounds what the system keeps for a client, and for how long: the server has
// written an answer that fits, and waits for the next call.
func boundOutbox(conn net.Conn, unreadFor time.Duration) {
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(outbox) // it fails for a connection that has ended
		_ = endUnread(tcp, unreadFor)
	}
}

// passing marks an error as temporary that says what the system is short of: others free what
// they hold, and the server would end with it otherwise.
func passing(err error) error {
	for _, short := range []error{syscall.ENOSPC, syscall.ENOMEM, syscall.ENOBUFS} { // ENOSPC: no more events to wait for
		if errors.Is(err, short) {
			return shortage{err}
		}
	}
	return err
}

// shortage is an error after which the server accepts again.
type shortage struct{ error }

func (shortage) Timeout() bool   { return false }
func (shortage) Temporary() bool { return true }
func (s shortage) Unwrap() error { return s.error }

// clientOf returns the address that a connection is counted for.
func clientOf(conn net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr
}

func (l *limited) enter(client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client] >= l.bounds.PerAddress && !l.trusts(client) {
		return false
	}
	l.open[client]++
	return true
}

func (l *limited) trusts(client netip.Addr) bool {
	for _, prefix := range l.trusted {
		if prefix.Contains(client) {
			return true
		}
	}
	return false
}

func (l *limited) leave(client netip.Addr) {
	l.mu.Lock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
	l.mu.Unlock()
	<-l.places
}

// bounded is a connection that ends when its client reads nothing for too long, so that a
// write has to wait, or that it sends more frames of HTTP/2 than it may. What the system has
// taken is for [boundOutbox].
type bounded struct {
	net.Conn
	unreadFor time.Duration
	extended  atomic.Int64 // when the deadline was last moved, in Unix nanoseconds
	frames    *meter       // nil: not counted
	leave     func()
}

// Read counts the frames that the client sends.
func (c *bounded) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.frames != nil && n > 0 {
		if flooded := c.frames.read(p[:n], time.Now()); flooded != nil {
			return 0, flooded
		}
	}
	return n, err
}

// Write extends the deadline, but not at each of many small writes.
func (c *bounded) Write(p []byte) (int, error) {
	now := time.Now()
	if last := c.extended.Load(); now.UnixNano()-last > int64(c.unreadFor/16) {
		c.extended.Store(now.UnixNano())
		if err := c.Conn.SetWriteDeadline(now.Add(c.unreadFor)); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Write(p)
	if c.frames != nil {
		c.frames.wrote(n)
	}
	return n, err
}

// SetWriteDeadline has the next Write set a deadline again: the server takes it away
// after each request.
func (c *bounded) SetWriteDeadline(at time.Time) error {
	c.extended.Store(0)
	return c.Conn.SetWriteDeadline(at)
}

// Close gives the connection's place back.
func (c *bounded) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
