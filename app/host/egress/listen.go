package egress

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limited accepts only so many connections at once, and at a pace; others wait in the kernel.
type limited struct {
	net.Listener
	places chan struct{}
	pace   *rate.Limiter
}

func (l *limited) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	time.Sleep(l.pace.Reserve().Delay())
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &accepted{TCPConn: conn.(*net.TCPConn), leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// accepted keeps the method by which a TCP connection ends one direction.
type accepted struct {
	*net.TCPConn
	leave func()
}

func (a *accepted) Close() error {
	defer a.leave()
	return a.TCPConn.Close()
}
