package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dial connects to a declared target. The error is errUndeclared or errPrivate
// where it may not, and both are counted and logged here.
func (p *Proxy) dial(ctx context.Context, target string) (*metered, error) {
	host, port, err := split(target)
	if err != nil {
		return nil, errUndeclared
	}
	private, ok := p.allowed.find(host, port)
	if !ok {
		p.refuse(net.JoinHostPort(host, port), errUndeclared)
		return nil, errUndeclared
	}
	if p.left.Load() <= 0 {
		return nil, p.overspent()
	}
	conn, err := p.connect(ctx, host, port, private)
	if errors.Is(err, errPrivate) {
		p.refuse(net.JoinHostPort(host, port), errPrivate)
		return nil, errPrivate
	}
	if err != nil {
		return nil, err
	}
	return p.meter(conn)
}

// connect tries the addresses of a host one after the other. Those that are not
// public are left out, unless private ones are fine.
func (p *Proxy) connect(ctx context.Context, host, port string, private bool) (net.Conn, error) {
	addresses, err := p.resolve(ctx, host, private)
	if err != nil {
		return nil, err
	}
	const most = 8
	failed := errPrivate
	for _, ip := range addresses[:min(len(addresses), most)] {
		conn, err := p.dialer(private).DialContext(ctx, "tcp", net.JoinHostPort(ip.String(), port))
		switch {
		case err == nil:
			return conn, nil
		case !errors.Is(err, errPrivate):
			failed = err
		}
	}
	return nil, failed
}

// resolve asks for a declared host by its whole name: a search list, as containers
// have one, is for the operator's own endpoints.
func (p *Proxy) resolve(ctx context.Context, host string, private bool) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	lookup := p.config.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if !private {
		host += "."
	}
	addresses, err := lookup(ctx, host)
	if err == nil && len(addresses) == 0 {
		err = errors.New("no address")
	}
	if err != nil {
		return nil, fmt.Errorf("resolve the host: %w", err)
	}
	return addresses, nil
}

// dialer judges the address that the kernel is about to connect to.
func (p *Proxy) dialer(private bool) *net.Dialer {
	return &net.Dialer{
		Timeout: dialTime,
		Control: func(_, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil || !private && !p.public(target.Addr().Unmap()) {
				return errPrivate
			}
			return nil
		},
	}
}

// metered is a connection to the outside that counts, and ends when it is silent
// or lasts for too long.
type metered struct {
	net.Conn
	proxy *Proxy
	until time.Time
}

func (p *Proxy) meter(conn net.Conn) (*metered, error) {
	m := &metered{Conn: conn, proxy: p, until: time.Now().Add(p.config.Total)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return nil, errClosed
	}
	p.open[m] = struct{}{}
	p.opened.Add(1)
	return m, m.alive()
}

// alive puts the end off: a byte in one direction keeps the other one open too.
func (m *metered) alive() error {
	end := time.Now().Add(m.proxy.config.Idle)
	if m.until.Before(end) {
		end = m.until
	}
	return m.Conn.SetDeadline(end)
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.proxy.got.Add(int64(n))
	if n > 0 && m.proxy.left.Add(-max(int64(n), leastBytes)) < 0 {
		return 0, m.proxy.overspent()
	}
	if n > 0 && err == nil {
		err = m.alive()
	}
	return n, err
}

func (m *metered) Write(b []byte) (int, error) {
	if m.proxy.left.Add(-max(int64(len(b)), leastBytes)) < 0 {
		return 0, m.proxy.overspent()
	}
	n, err := m.Conn.Write(b)
	m.proxy.sent.Add(int64(n))
	if err == nil {
		err = m.alive()
	}
	return n, err
}

// CloseWrite says that nothing more will be sent.
func (m *metered) CloseWrite() error {
	if half, ok := m.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (m *metered) Close() error {
	m.proxy.mu.Lock()
	delete(m.proxy.open, m)
	m.proxy.mu.Unlock()
	return m.Conn.Close()
}

// overspent says once that the allowance is used up.
func (p *Proxy) overspent() error {
	p.mu.Lock()
	first := !p.spent
	p.spent = true
	p.mu.Unlock()
	if first {
		p.config.Log.Warn("plugin used its traffic up", "bytes", p.config.Bytes)
	}
	return errSpent
}
