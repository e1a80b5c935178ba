package mail

import (
	"bytes"
	"fmt"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"
)

// maxSubject, in bytes, keeps the encoded header far below the longest line of a mail.
const maxSubject = 200

// Format returns the RFC 5322 text of a message. Nothing in a message can add a
// header: addresses have one allowed form, and a subject with control
// characters, or a long one, is refused.
func Format(from netmail.Address, message Message, id string, at time.Time) ([]byte, error) {
	to, err := check(from, message)
	if err != nil {
		return nil, err
	}
	sender, _ := Address(from.Address)
	_, domain, _ := strings.Cut(sender, "@")
	var out bytes.Buffer
	for _, line := range [][2]string{
		{"Date", at.UTC().Format(time.RFC1123Z)},
		{"From", (&netmail.Address{Name: from.Name, Address: sender}).String()},
		{"To", (&netmail.Address{Address: to}).String()},
		{"Message-ID", "<" + id + "@" + domain + ">"},
		{"Subject", mime.QEncoding.Encode("utf-8", message.Subject)},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		out.WriteString(line[0] + ": " + line[1] + "\r\n")
	}
	out.WriteString("\r\n")
	body := quotedprintable.NewWriter(&out)
	if _, err := body.Write([]byte(message.Text)); err != nil {
		return nil, fmt.Errorf("encode the body: %w", err)
	}
	if err := body.Close(); err != nil {
		return nil, fmt.Errorf("encode the body: %w", err)
	}
	return out.Bytes(), nil
}

// check returns the recipient in its one allowed form, or the reason for a refusal.
func check(from netmail.Address, message Message) (to string, err error) {
	to, ok := Address(message.To)
	if !ok {
		return "", fmt.Errorf("%q is not a mail address", message.To)
	}
	if len(message.Subject) > maxSubject || strings.ContainsFunc(message.Subject, unicode.IsControl) {
		return "", fmt.Errorf("the subject %.*q has control characters or more than %d bytes", maxSubject, message.Subject, maxSubject)
	}
	if _, ok := Address(from.Address); !ok || strings.ContainsFunc(from.Name, unicode.IsControl) {
		return "", fmt.Errorf("%q is not a sender", from.String())
	}
	return to, nil
}

// parseFrom reads a sender, `address` or `Name <address>`.
func parseFrom(from string) (netmail.Address, error) {
	address, err := netmail.ParseAddress(from)
	if err != nil {
		return netmail.Address{}, fmt.Errorf("sender of mail %q: %w", from, err)
	}
	if _, ok := Address(address.Address); !ok {
		return netmail.Address{}, fmt.Errorf("sender of mail %q: not a plain address", from)
	}
	return *address, nil
}
