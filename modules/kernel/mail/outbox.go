package mail

import (
	"context"
	"fmt"
	netmail "net/mail"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// Outbox is a Sender that writes each message as an `.eml` file into a folder, for a
// server without a mail account. Any mail program opens such files.
type Outbox struct {
	dir  string
	from netmail.Address
}

// NewOutbox returns an outbox in dir; the first message creates dir. from is `address` or `Name <address>`.
func NewOutbox(dir, from string) (*Outbox, error) {
	address, err := parseFrom(from)
	if err != nil {
		return nil, err
	}
	return &Outbox{dir: dir, from: address}, nil
}

// Send writes the file under a name that sorts by time and does not contain the
// recipient. A reader of the folder never sees half a message.
func (o *Outbox) Send(ctx context.Context, message Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at, id := time.Now(), secret.New()[:22]
	text, err := Format(o.from, message, id, at)
	if err != nil {
		return fmt.Errorf("write a mail: %w", err)
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Errorf("make the outbox: %w", err)
	}
	name := filepath.Join(o.dir, at.UTC().Format("20060102T150405.000000000Z")+"-"+id)
	if err := os.WriteFile(name+".part", text, 0o600); err != nil {
		return fmt.Errorf("write a mail: %w", err)
	}
	if err := os.Rename(name+".part", name+".eml"); err != nil {
		return fmt.Errorf("write a mail: %w", err)
	}
	return nil
}
