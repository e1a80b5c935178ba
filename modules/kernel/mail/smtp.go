package mail

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// ErrRefused is in the chain of a permanent error: the server refused the message for
// good, or the message is malformed. Trying again is useless.
var ErrRefused = errors.New("the message was refused")

// smtpTimeout bounds each step of a delivery.
const smtpTimeout = 15 * time.Second

// SMTP is a Sender that delivers messages to a mail server, each over its own
// connection.
type SMTP struct {
	host    string
	options []gomail.Option
	from    mail.Address
	log     *slog.Logger
}

// NewSMTP returns a sender for the server at an address:
//
//	smtps://user:password@mail.example.com        TLS from the start, port 465
//	smtp://user:password@mail.example.com         STARTTLS, which the server must offer, port 587
//	smtp://127.0.0.1:25?tls=off                   no TLS, and no password
//
// from is `address` or `Name <address>`. Errors never contain the password, and
// log lines never an address.
func NewSMTP(address, from string, log *slog.Logger) (*SMTP, error) {
	sender, err := parseFrom(from)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(address)
	if err != nil || server.Hostname() == "" || server.Path != "" && server.Path != "/" {
		return nil, errors.New("mail server: not an smtp:// or smtps:// address")
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	s := &SMTP{host: server.Hostname(), from: sender, log: log}
	s.options = append(s.options, gomail.WithTimeout(smtpTimeout), gomail.WithHELO(domain))
	port, off := 587, false
	switch tls := server.Query().Get("tls"); {
	case server.Scheme == "smtps" && tls == "":
		port = 465
		s.options = append(s.options, gomail.WithSSL())
	case server.Scheme == "smtp" && tls == "":
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case server.Scheme == "smtp" && tls == "off":
		port, off = 25, true
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, errors.New("mail server: want smtps://, smtp://, or smtp:// with ?tls=off")
	}
	if text := server.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("mail server: %q is not a port", text)
		}
	}
	s.options = append(s.options, gomail.WithPort(port))
	if user := server.User.Username(); user != "" {
		if off {
			return nil, errors.New("mail server: a password needs TLS")
		}
		password, _ := server.User.Password()
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(user), gomail.WithPassword(password))
	}
	return s, nil
}

// Send delivers the message in plain text and as HTML. An error with ErrRefused is
// permanent; after any other error, try again. Once the server has accepted the
// message, later failures of the connection are not errors.
func (s *SMTP) Send(ctx context.Context, message Message) error {
	to, err := check(s.from, message)
	if err != nil {
		return fmt.Errorf("send a mail: %w: %w", ErrRefused, err)
	}
	_, domain, _ := strings.Cut(s.from.Address, "@")
	letter := gomail.NewMsg()
	letter.FromMailAddress(&s.from)
	letter.ToMailAddress(&mail.Address{Address: to})
	letter.SetMessageIDWithValue(secret.New()[:22] + "@" + domain)
	letter.SetDate()
	letter.Subject(message.Subject)
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	letter.SetBodyString(gomail.TypeTextPlain, message.Text)
	letter.AddAlternativeString(gomail.TypeTextHTML, asHTML(message.Text))
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("send a mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, letter)
	var refused *gomail.SendError
	switch {
	case err == nil:
		return nil
	case letter.IsDelivered():
		s.logBreak(ctx, err)
		return nil
	case errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500:
		return fmt.Errorf("send a mail: %w: the server answers %d", ErrRefused, refused.ErrorCode())
	}
	return fmt.Errorf("send a mail: %w", err)
}

// Check connects to the mail server, with TLS and the password as for a message, and
// sends none.
func (s *SMTP) Check(ctx context.Context) error {
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("try the mail server: %w", err)
	}
	if err := client.DialWithContext(ctx); err != nil {
		return fmt.Errorf("try the mail server: %w", err)
	}
	_ = client.Close() // it has answered all that was asked
	return nil
}

// logBreak logs a connection that failed after its message was accepted, without the
// server's own words: they may contain the address.
func (s *SMTP) logBreak(ctx context.Context, err error) {
	step, code := "QUIT", 0
	var failed *gomail.SendError
	if errors.As(err, &failed) {
		step, code = failed.Reason.String(), failed.ErrorCode()
	}
	s.log.WarnContext(ctx, "the mail server accepted a message, then the connection failed", "host", s.host, "step", step, "code", code)
}

// asHTML returns the text as HTML paragraphs, without links, pictures or anything
// else that is fetched.
func asHTML(text string) string {
	var out strings.Builder
	out.WriteString("<!doctype html><html lang=\"en\"><body>\n")
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		escaped := html.EscapeString(strings.TrimSpace(paragraph))
		out.WriteString("<p>" + strings.ReplaceAll(escaped, "\n", "<br>\n") + "</p>\n")
	}
	out.WriteString("</body></html>\n")
	return out.String()
}
