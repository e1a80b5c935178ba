package mail

import (
	"bytes"
	netmail "net/mail"
	"strings"
	"testing"
	"time"
)

// FuzzFormat: whatever stands in a message, it is refused, or it becomes a mail
// with the nine headers it ought to have and one recipient.
func FuzzFormat(f *testing.F) {
	f.Add("ana@example.com", "Your code", "123456\n")
	f.Add("ana@example.com\r\nBcc: eve@example.com", "x\r\nBcc: eve@example.com", "\r\n.\r\n")
	f.Add("\"a b\"@example.com", "=?utf-8?q?=0d=0aBcc?=", "\x00\xff")
	f.Add("ana@example.com", strings.Repeat("x", 2000), strings.Repeat("y", 2000))
	f.Fuzz(func(t *testing.T, to, subject, text string) {
		from := netmail.Address{Name: "Scrollery", Address: "no-reply@example.com"}
		out, err := Format(from, Message{To: to, Subject: subject, Text: text}, "id", time.Unix(0, 0))
		if err != nil {
			return
		}
		read, err := netmail.ReadMessage(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		recipients, err := read.Header.AddressList("To")
		if err != nil || len(recipients) != 1 || len(read.Header) != 9 {
			t.Errorf("%q: got recipients %v, error %v, %d headers; want 1 recipient and 9 headers", out, recipients, err, len(read.Header))
		}
		for i, line := range bytes.Split(out, []byte("\r\n")) {
			if len(line) > 998 {
				t.Errorf("line %d has %d bytes, want at most 998", i, len(line))
			}
		}
	})
}
