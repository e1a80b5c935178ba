package storetest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Cutter is a TCP proxy in front of PostgreSQL. Armed, it counts what clients send, and
// at a number closes every connection; new ones work.
type Cutter struct {
	Address string // of the database by the proxy

	server string

	mu     sync.Mutex
	conns  map[net.Conn]bool
	left   int
	after  bool
	cut    bool
	commit bool
}

// NewCutter returns one in front of the database at the address. It ends with the test.
func NewCutter(t testing.TB, database string) *Cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cutter{server: address.Host, conns: map[net.Conn]bool{}}
	address.Host = listener.Addr().String()
	c.Address = address.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c
}

// Arm cuts at the message with this number, before or after the server has it.
func (c *Cutter) Arm(step int, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.after, c.cut, c.commit = step, after, false, false
}

// Disarm reports whether the connections were cut, and whether it was at a commit.
func (c *Cutter) Disarm() (cut, commit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = 0
	return c.cut, c.commit
}

func (c *Cutter) serve(client net.Conn) {
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		_ = client.Close()
		return
	}
	c.mu.Lock()
	c.conns[client], c.conns[server] = true, true
	c.mu.Unlock()
	answers := make(chan struct{}, 1) // one is swallowed
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				_ = client.Close()
				return
			}
			select {
			case <-answers:
				c.cutAll()
			default:
			}
			_, _ = client.Write(buffer[:n])
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			_ = server.Close()
			return
		}
		switch c.count(buffer[:n]) {
		case "before":
			c.cutAll()
			return
		case "after":
			answers <- struct{}{}
		}
		_, _ = server.Write(buffer[:n])
	}
}

// count returns when to cut for what a client sends: `before` or `after` the server has
// it, or "".
func (c *Cutter) count(sent []byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 || sent[0] == 'X' { // the end of a session
		return ""
	}
	if c.left--; c.left > 0 {
		return ""
	}
	c.cut, c.commit = true, bytes.HasPrefix(sent, []byte("Q")) && bytes.Contains(sent, []byte("commit\x00"))
	if c.after {
		return "after"
	}
	return "before"
}

func (c *Cutter) cutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
	clear(c.conns)
}
