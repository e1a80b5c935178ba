// Package mail checks addresses and delivers plain-text messages: through a mail
// server, or into an outbox folder when none is configured. It never decides who gets
// a message, and its log lines never contain an address.
package mail

import (
	"context"
	"regexp"
	"strings"
	"sync"
)

// Message is one plain-text mail to one address.
type Message struct {
	To, Subject, Text string
}

// Sender delivers messages. It returns nil once the message was handed over, and is
// safe for concurrent use.
type Sender interface {
	Send(ctx context.Context, message Message) error
}

// maxAddress is the longest address that SMTP can carry.
const maxAddress = 254

// form is the form that browsers accept in an e-mail input and protovalidate in a
// request, so that an address that could pay can also recover its key.
var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+" +
		"@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
		`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
})

// Address returns the form in which an address is stored and compared: lower
// case. ok is false unless text is one bare address.
func Address(text string) (address string, ok bool) {
	if len(text) > maxAddress || !form().MatchString(text) {
		return "", false
	}
	return strings.ToLower(text), true
}
