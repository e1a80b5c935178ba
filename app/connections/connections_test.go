package connections

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// serveLimited listens within the bounds and returns the connections that were accepted.
func serveLimited(t *testing.T, bounds Bounds, trusted ...netip.Prefix) (address string, accepted chan net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := bounds.Limit(inner, trusted)
	t.Cleanup(func() { _ = listener.Close() })
	accepted = make(chan net.Conn, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	return inner.Addr().String(), accepted
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// closedByServer reports whether the server closes the connection within a time.
func closedByServer(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(within))
	_, err := conn.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// scarce is a listener to which the system refuses the first connections.
type scarce struct {
	net.Listener
	errs chan error
}

func (s scarce) Accept() (net.Conn, error) {
	select {
	case err := <-s.errs:
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("epoll_ctl", err)}
	default:
		return s.Listener.Accept()
	}
}

// TestAServerOutlastsAShortage: a plugin of the same user may have all events that the system
// waits for, until it is ended.
func TestAServerOutlastsAShortage(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 3)
	for _, err := range []error{syscall.ENOSPC, syscall.ENOMEM, syscall.ENOBUFS} {
		errs <- err
	}
	listener := Bounds{Max: 10, PerAddress: 10, UnreadFor: time.Minute}.Limit(scarce{inner, errs}, nil)
	server := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Get("http://" + inner.Addr().String())
	if err != nil {
		t.Fatalf("a request after three shortages: got %v, want an answer", err)
	}
	_ = answer.Body.Close()
	_ = server.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("the server ended with %v, want it closed by the test", err)
	}
}

func TestConnectionsAreBoundedByAddress(t *testing.T) {
	t.Parallel()
	bounds := Bounds{Max: 10, PerAddress: 2, UnreadFor: time.Minute}
	t.Run("the third one of a client is closed until another one ends", func(t *testing.T) {
		address, accepted := serveLimited(t, bounds)
		dial(t, address)
		dial(t, address)
		first := <-accepted
		<-accepted
		if !closedByServer(t, dial(t, address), 20*time.Second) {
			t.Error("got a third connection, want it closed")
		}
		_ = first.Close()
		_ = first.Close() // twice gives one place back
		if closedByServer(t, dial(t, address), 200*time.Millisecond) {
			t.Error("got the next connection closed, want it open")
		}
		if !closedByServer(t, dial(t, address), 20*time.Second) {
			t.Error("got one more connection, want it closed")
		}
	})
	t.Run("a trusted proxy has as many as it needs", func(t *testing.T) {
		address, _ := serveLimited(t, bounds, netip.MustParsePrefix("127.0.0.0/8"))
		for i := range 5 {
			if closedByServer(t, dial(t, address), 200*time.Millisecond) {
				t.Errorf("got connection %d closed, want it open", i+1)
			}
		}
	})
}

func TestConnectionsBeyondTheMostWait(t *testing.T) {
	t.Parallel()
	address, accepted := serveLimited(t, Bounds{Max: 1, PerAddress: 10, UnreadFor: time.Minute})
	dial(t, address)
	first := <-accepted
	dial(t, address)
	select {
	case <-accepted:
		t.Fatal("got a second connection, want it to wait")
	case <-time.After(50 * time.Millisecond):
	}
	_ = first.Close()
	select {
	case <-accepted:
	case <-time.After(2 * time.Minute):
		t.Fatal("got no second connection within 2 min after the first one ended, want it accepted")
	}
}

func TestAClientThatReadsNothingIsEnded(t *testing.T) {
	t.Parallel()
	address, accepted := serveLimited(t, Bounds{Max: 10, PerAddress: 10, UnreadFor: 100 * time.Millisecond})
	dial(t, address)
	conn := <-accepted
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, endless{})
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("got %v, want the deadline of the write, or the system's", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("got no end of the write within 2 min, want its deadline to end it")
	}
}

// TestAClientThatPipelinesAndReadsNothingIsEnded: the server resets deadlines between
// the requests of a connection.
func TestAClientThatPipelinesAndReadsNothingIsEnded(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 200<<10)) }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(ended)
			}
		},
	}
	bounds := Bounds{Max: 10, PerAddress: 10, UnreadFor: time.Second}
	go func() { _ = server.Serve(bounds.Limit(inner, nil)) }()
	t.Cleanup(func() { _ = server.Close() })
	conn := dial(t, inner.Addr().String())
	if _, err := conn.Write(bytes.Repeat([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 500)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("the connection is open 2 min after its client stopped to read, want 1 s")
	}
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestAClientWhoseAnswersTheSystemKeepsIsEnded: nothing waits to be written, as the system
// has taken all.
func TestAClientWhoseAnswersTheSystemKeepsIsEnded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends them; elsewhere the idle time does")
	}
	address, accepted := serveLimited(t, Bounds{Max: 10, PerAddress: 10, UnreadFor: 500 * time.Millisecond})
	client := dial(t, address)
	if err := client.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	if _, err := server.Write(make([]byte, 100<<10)); err != nil {
		t.Fatalf("an answer that the system keeps: got %v, want no error", err)
	}
	_ = server.SetReadDeadline(time.Now().Add(2 * time.Minute))
	if _, err := server.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v after 2 min, want the connection ended", err)
	}
}

// TestTheSystemKeepsLittleOfUnreadAnswers writes until a write has to wait.
func TestTheSystemKeepsLittleOfUnreadAnswers(t *testing.T) {
	t.Parallel()
	address, accepted := serveLimited(t, Bounds{Max: 10, PerAddress: 10, UnreadFor: 2 * time.Second})
	client := dial(t, address)
	if err := client.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	kept := 0
	for kept < 16<<20 {
		n, err := server.Write(make([]byte, 16<<10))
		kept += n
		if err != nil {
			break
		}
	}
	if most := 3 * outbox; kept > most {
		t.Errorf("got %d bytes kept for a client that reads nothing, want at most %d", kept, most)
	}
}
