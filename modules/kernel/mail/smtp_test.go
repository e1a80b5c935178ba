package mail

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	gomail "github.com/wneessen/go-mail"
)

// server is a real SMTP server that keeps what it is sent.
type server struct {
	*smtp.Server
	addr string
	pool *x509.CertPool

	mu       sync.Mutex
	letters  []letter
	password bool   // a login is needed
	answer   error  // to each recipient
	goodbye  string // sent after a letter instead of an end; "hang up" says nothing
	log      bytes.Buffer
}

// Write keeps what the sender logs.
func (s *server) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }

type letter struct{ to, text string }

func serve(t *testing.T, implicit, starttls bool) *server {
	t.Helper()
	s := &server{}
	certificate, pool := certificateOf(t)
	s.pool = pool
	s.Server = smtp.NewServer(smtp.BackendFunc(func(conn *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: conn.Conn()}, nil
	}))
	s.Domain, s.ReadTimeout, s.ErrorLog = "localhost", 5*time.Second, quiet{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	if starttls {
		s.TLSConfig = config
	}
	if implicit {
		listener = tls.NewListener(listener, config)
	}
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

type session struct {
	*server
	conn  net.Conn
	in    bool
	to    string
	taken bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ana" || password != "s3cret/word" {
			return smtp.ErrAuthFailed
		}
		s.in = true
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.password && !s.in {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
	return s.answer
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letters = append(s.letters, letter{s.to, string(text)})
	s.taken = true
	return err
}

// Reset comes after the answer to a letter, too.
func (s *session) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken || s.goodbye == "" {
		return
	}
	if s.goodbye != "hang up" {
		_, _ = io.WriteString(s.conn, s.goodbye+"\r\n")
	}
	_ = s.conn.Close()
}

func (s *session) Logout() error { return nil }

func certificateOf(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
}

func (s *server) sender(t *testing.T, address string) *SMTP {
	t.Helper()
	out, err := NewSMTP(address, "Scrollery <no-reply@scrollery.test>", slog.New(slog.NewJSONHandler(s, nil)))
	if err != nil {
		t.Fatal(err)
	}
	out.options = append(out.options, gomail.WithTLSConfig(&tls.Config{RootCAs: s.pool, ServerName: "127.0.0.1"}))
	return out
}

var hello = Message{To: "ada@example.com", Subject: "Your code: 123456", Text: "Your code is 123456.\n\n<b>Not bold</b> & done.\n"}

func TestSMTPDelivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		implicit, starttls, password bool
		address                      string
	}{
		"STARTTLS with a password": {false, true, true, "smtp://ana:s3cret%2Fword@"},
		"TLS with a password":      {true, false, true, "smtps://ana:s3cret%2Fword@"},
		"without TLS":              {false, false, false, "smtp://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.implicit, test.starttls)
			s.password = test.password
			address := test.address + s.addr
			if !test.implicit && !test.starttls {
				address += "?tls=off"
			}
			if err := s.sender(t, address).Send(context.Background(), hello); err != nil {
				t.Fatal(err)
			}
			s.wantHello(t)
		})
	}
}

func (s *server) wantHello(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.letters) != 1 || s.letters[0].to != "ada@example.com" {
		t.Fatalf(`letters %v, want 1 letter and to "ada@example.com"`, s.letters)
	}
	got, err := mail.ReadMessage(strings.NewReader(s.letters[0].text))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Content-Type": "multipart/alternative", "Subject": hello.Subject, "Message-ID": "@scrollery.test>", "Auto-Submitted": "auto-generated",
	} {
		if value := got.Header.Get(header); !strings.Contains(value, want) {
			t.Errorf("header %s is %q, want one with %q", header, value, want)
		}
	}
	for _, part := range []string{"text/plain", "text/html", "<b>Not bold</b> & done.", "&lt;b&gt;Not bold&lt;/b&gt; &amp; done."} {
		if !strings.Contains(s.letters[0].text, part) {
			t.Errorf("got %s, want %q in it", s.letters[0].text, part)
		}
	}
}

func TestSMTPCheckTriesAllButAMessage(t *testing.T) {
	t.Parallel()
	s := serve(t, false, true)
	host := strings.TrimPrefix(s.addr, "127.0.0.1")
	if err := s.sender(t, "smtp://ana:s3cret%2Fword@127.0.0.1"+host).Check(t.Context()); err != nil {
		t.Errorf("with the right password: %v", err)
	}
	if err := s.sender(t, "smtp://ana:wrong@127.0.0.1"+host).Check(t.Context()); err == nil {
		t.Error("no error with a wrong password, want an error")
	}
	open := serve(t, false, false)
	if err := open.sender(t, "smtp://"+open.addr).Check(t.Context()); err == nil {
		t.Error("no error where the server offers no TLS, want an error")
	}
	if err := s.sender(t, "smtp://127.0.0.1:1").Check(t.Context()); err == nil {
		t.Error("no error where no server listens, want an error")
	}
}

func TestSMTPDistinguishesPermanentErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, false, true)
	out := s.sender(t, "smtp://"+s.addr)
	for code, final := range map[int]bool{421: false, 450: false, 452: false, 550: true, 552: true, 554: true} {
		t.Run(fmt.Sprintf("%d, permanent %v", code, final), func(t *testing.T) {
			s.mu.Lock()
			s.answer = &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: "no"}
			s.mu.Unlock()
			err := out.Send(context.Background(), hello)
			if err == nil {
				t.Fatal("got no error, want one")
			}
			if got := errors.Is(err, ErrRefused); got != final {
				t.Errorf("permanent: got %v, want %v: %v", got, final, err)
			}
			if strings.Contains(err.Error(), "123456") {
				t.Errorf("got %v, want an error without the code of the message", err)
			}
		})
	}
	s.mu.Lock()
	s.answer = nil
	s.mu.Unlock()
	if err := out.Send(context.Background(), hello); err != nil {
		t.Errorf("after the errors: %v, want a delivery", err)
	}
	s.wantHello(t)
}

// What goes wrong after the server took the message undoes nothing: a caller who
// got an error would send another code, which makes the delivered one invalid.
func TestSMTPCountsAcceptedMessages(t *testing.T) {
	t.Parallel()
	for name, goodbye := range map[string]string{
		"hangs up": "hang up", "closes": "421 4.3.2 <ada@example.com> goes last", "is full": "554 5.3.0 no more for <ada@example.com>",
	} {
		t.Run(name, func(t *testing.T) {
			for _, tls := range []bool{true, false} {
				t.Run(fmt.Sprintf("TLS %v", tls), func(t *testing.T) {
					s := serve(t, false, tls)
					s.goodbye = goodbye
					address := "smtp://" + s.addr
					if !tls {
						address += "?tls=off"
					}
					if err := s.sender(t, address).Send(context.Background(), hello); err != nil {
						t.Errorf("TLS %v: got %v, want no error", tls, err)
					}
					s.wantHello(t)
					s.mu.Lock()
					if said := s.log.String(); !strings.Contains(said, "accepted a message") || strings.Contains(said, "ada@") || strings.Contains(said, "123456") {
						t.Errorf("TLS %v: logged %q, want the acceptance without address and code", tls, said)
					}
					s.mu.Unlock()
				})
			}
		})
	}
}

func TestSMTPRefusesToSendInTheOpen(t *testing.T) {
	t.Parallel()
	s := serve(t, false, false) // offers no STARTTLS
	if err := s.sender(t, "smtp://"+s.addr).Send(context.Background(), hello); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("without STARTTLS: got error %v, want one that may be tried again, not %v", err, ErrRefused)
	}
	s = serve(t, false, true)
	out := s.sender(t, "smtp://ana:wrong@"+s.addr)
	s.password = true
	if err := out.Send(context.Background(), hello); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf(`wrong password: %v, want an error and text without "wrong"`, err)
	}
	stranger, err := NewSMTP("smtp://"+s.addr, "no-reply@scrollery.test", quietly())
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Send(context.Background(), hello); err == nil {
		t.Error("an unknown certificate was trusted, want an error")
	}
	if len(s.letters) != 0 {
		t.Errorf("letters %v, want none", s.letters)
	}
}

func TestSMTPHeadersCannotBeInjected(t *testing.T) {
	t.Parallel()
	s := serve(t, false, true)
	out := s.sender(t, "smtp://"+s.addr)
	for _, message := range []Message{
		{To: "ada@example.com\r\nBcc: eve@example.com", Subject: "x", Text: "x"},
		{To: "ada@example.com>\r\nRCPT TO:<eve@example.com", Subject: "x", Text: "x"},
		{To: "ada@example.com, eve@example.com", Subject: "x", Text: "x"},
		{To: "Ada <ada@example.com>", Subject: "x", Text: "x"},
		{To: "ada@example.com", Subject: "x\r\nBcc: eve@example.com", Text: "x"},
	} {
		t.Run(fmt.Sprintf("%q is refused", message.To), func(t *testing.T) {
			if err := out.Send(context.Background(), message); !errors.Is(err, ErrRefused) {
				t.Errorf("%q, %q: got %v, want %v", message.To, message.Subject, err, ErrRefused)
			}
		})
	}
	if len(s.letters) != 0 {
		t.Errorf("letters %v, want none", s.letters)
	}
}

func TestSMTPAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "mail.example.com:25", "http://mail.example.com", "smtp://", "smtp://mail.example.com?tls=maybe",
		"smtps://mail.example.com?tls=off", "smtp://ana:hushhush@mail.example.com?tls=off", "smtp://mail.example.com:99999",
	} {
		t.Run(fmt.Sprintf("%q is refused", address), func(t *testing.T) {
			_, err := NewSMTP(address, "no-reply@scrollery.test", quietly())
			if err == nil || strings.Contains(err.Error(), "hushhush") {
				t.Errorf("%q: got %v, want a refusal without the password", address, err)
			}
		})
	}
	if _, err := NewSMTP("smtp://mail.example.com", "no-address", quietly()); err == nil {
		t.Error("a sender without an address, want an error")
	}
}
