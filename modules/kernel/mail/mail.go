// Package mail holds what every room that writes to people needs: an address
// that can be trusted in a header, a message, and what takes messages: a mail
// server, or an outbox folder where none is configured.
package mail

import (
	"context"
	"regexp"
	"strings"
)

// Message is one plain-text mail to one address.
type Message struct {
	To, Subject, Text string
}

// Sender delivers messages. It returns nil once somebody else is responsible
// for the message, and is safe for concurrent use.
type Sender interface {
	Send(ctx context.Context, message Message) error
}

// maxAddress is the longest address that SMTP can carry.
const maxAddress = 254

// form is what browsers accept in an e-mail input, and protovalidate in a
// request: so an address that could pay can also recover its key.
var form = regexp.MustCompile("^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+" +
	"@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
	`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)

// Address returns the form in which an address is stored and compared: lower
// case. ok is false for anything that is not one bare address.
func Address(text string) (address string, ok bool) {
	if len(text) > maxAddress || !form.MatchString(text) {
		return "", false
	}
	return strings.ToLower(text), true
}
