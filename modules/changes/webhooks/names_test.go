package webhooks

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server whose answer changes after the first attempt.
type names struct {
	conn        net.PacketConn
	first, then net.IP
	queries     atomic.Int64
}

func newNames(t *testing.T, first, then net.IP) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, first: first, then: then}
	t.Cleanup(func() { conn.Close() })
	go n.serve()
	return n
}

// asked is how often the address was asked for.
func (n *names) asked() int64 { return n.queries.Load() }

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		if q.Type == dnsmessage.TypeA {
			ip := n.first
			if n.queries.Add(1) > 1 {
				ip = n.then
			}
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: [4]byte(ip.To4())},
			}}
		}
		if reply, err := m.Pack(); err == nil {
			_, _ = n.conn.WriteTo(reply, from)
		}
	}
}
