package mail

import (
	"context"
	"fmt"
	"io"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ana@Example.com":                       "ana@example.com",
		"a+b@c":                                 "a+b@c",
		"":                                      "",
		"a@":                                    "",
		"@b.c":                                  "",
		"a b@c.d":                               "",
		"a@b.c\r\nBcc: x@y.z":                   "",
		"a@b.c\n":                               "",
		"<a@b.c>":                               "",
		"a@-b.c":                                "",
		"é@b.c":                                 "",
		strings.Repeat("a", 248) + "@b.com":     strings.Repeat("a", 248) + "@b.com",
		strings.Repeat("a", 249) + "@b.com":     "",
		"x@" + strings.Repeat("l", 63) + ".com": "x@" + strings.Repeat("l", 63) + ".com",
		"x@" + strings.Repeat("l", 64) + ".com": "",
		"a@b.c, d@e.f":                          "",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			got, ok := Address(text)
			if got != want || ok != (want != "") {
				t.Errorf("Address(%q) = %q, %v, want %q", text, got, ok, want)
			}
		})
	}
}

func TestOutboxWritesAMessageThatMailProgramsRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "outbox")
	outbox, err := NewOutbox(dir, "Scrollery <no-reply@example.com>")
	if err != nil {
		t.Fatal(err)
	}
	sent := Message{To: "Ana@Example.com", Subject: "Your código", Text: "Hej\n.\nFrom here = 100 %\n" + strings.Repeat("long ", 300)}
	if err := outbox.Send(context.Background(), sent); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], ".eml") {
		t.Fatalf(`got files %v, error %v; want one that ends in .eml`, files, err)
	}
	if strings.Contains(strings.ToLower(files[0]), "ana") {
		t.Errorf(`the name %q tells the recipient, want without "ana"`, files[0])
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, error %v; want 0600", info.Mode(), err)
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := netmail.ReadMessage(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Header.Get("To"); got != "<ana@example.com>" {
		t.Errorf(`To: %s, want "<ana@example.com>"`, got)
	}
	if _, err := read.Header.Date(); err != nil {
		t.Errorf("Date: %v", err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(read.Body))
	if err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != sent.Text {
		t.Errorf("got body %q, error %v; want %q", body, err, sent.Text)
	}
}

func TestFormatRefusesHeaderInjection(t *testing.T) {
	t.Parallel()
	from := netmail.Address{Address: "no-reply@example.com"}
	for _, message := range []Message{
		{To: "a@b.c\r\nBcc: d@e.f", Subject: "x"},
		{To: "a@b.c", Subject: "x\r\nBcc: d@e.f"},
		{To: "a@b.c", Subject: "x\nBcc: d@e.f"},
		{To: "a@b.c", Subject: "x\x00"},
		{To: "a@b.c, d@e.f", Subject: "x"},
		{To: "", Subject: "x"},
	} {
		t.Run(fmt.Sprintf("%+v is refused", message), func(t *testing.T) {
			if text, err := Format(from, message, "id", time.Now()); err == nil {
				t.Errorf("%+v became %q, want an error", message, text)
			}
		})
	}
	for _, from := range []netmail.Address{{}, {Name: "a\r\nb", Address: "a@b.c"}} {
		t.Run(fmt.Sprintf("sender %q is refused", from), func(t *testing.T) {
			if _, err := Format(from, Message{To: "a@b.c", Subject: "x"}, "id", time.Now()); err == nil {
				t.Errorf("sender %q was taken, want an error", from)
			}
		})
	}
}

func TestNewOutboxRefusesASenderThatIsNone(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"", "x", "a@b.c\r\nBcc: d@e.f", "é@b.c"} {
		t.Run(fmt.Sprintf("%q is refused", from), func(t *testing.T) {
			if _, err := NewOutbox("x", from); err == nil {
				t.Errorf("%q was taken, want an error", from)
			}
		})
	}
}
