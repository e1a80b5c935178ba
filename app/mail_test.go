package app_test

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	netmail "net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
)

// postOffice is a real mail server that answers recipients as the test says.
type postOffice struct {
	mu      sync.Mutex
	answers map[string][]int // to each try for an address; 250 when they run out
	tries   map[string]int
	letters map[string]string
}

func openPostOffice(t *testing.T) (office *postOffice, address string) {
	t.Helper()
	office = &postOffice{answers: map[string][]int{}, tries: map[string]int{}, letters: map[string]string{}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &counter{postOffice: office}, nil }))
	server.Domain, server.ReadTimeout = "localhost", 5*time.Second
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return office, listener.Addr().String()
}

// counter takes one letter.
type counter struct {
	*postOffice
	to string
}

func (c *counter) Mail(string, *smtp.MailOptions) error { return nil }
func (c *counter) Reset()                               {}
func (c *counter) Logout() error                        { return nil }

func (c *counter) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
	try := c.tries[to]
	c.tries[to]++
	if try < len(c.answers[to]) {
		code := c.answers[to][try]
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: "not now"}
	}
	return nil
}

func (c *counter) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letters[c.to] = string(text)
	return err
}

// wait returns the letter to an address, and after how many tries it came.
func (o *postOffice) wait(t *testing.T, to string) (letter string, tries int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		o.mu.Lock()
		letter, tries = o.letters[to], o.tries[to]
		o.mu.Unlock()
		if letter != "" {
			return letter, tries
		}
	}
	t.Fatalf("got no letter to %s after %d tries and 2 min, want one", to, tries)
	return "", 0
}

var (
	mailedCode = regexp.MustCompile(`code is (\d{6})`)
	mailedLink = regexp.MustCompile(`/recover/(\w{43})`)
)

// textOf decodes the body of a letter.
func textOf(t *testing.T, letter string) string {
	t.Helper()
	message, err := netmail.ReadMessage(strings.NewReader(letter))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMailedCodesThroughTheQueue asks for codes by the API. What the mail server
// refuses for the moment comes with a later try of the job, and its code works;
// what it refuses for good is tried once.
func TestMailedCodesThroughTheQueue(t *testing.T) {
	t.Parallel()
	office, address := openPostOffice(t)
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		nobody, base := running.Anonymous(), fmt.Sprintf("%p", running)
		account := func(name string, answers ...int) string {
			email := name + base + "@example.com"
			if _, err := running.Operator().CreateKey(t.Context(), operator.KeyOrder{Email: email, Plan: "standard"}); err != nil {
				t.Fatal(err)
			}
			office.mu.Lock()
			office.answers[email] = answers
			office.mu.Unlock()
			return email
		}
		recover := func(email string) {
			if answer := nobody.Do(t, `POST /v1/api_keys/recover {"email":"`+email+`"}`, ""); answer.Status != http.StatusOK {
				t.Fatalf("%d %s, want %v", answer.Status, answer.Body, http.StatusOK)
			}
		}
		never, later := account("never", 550, 550, 550), account("later", 450, 421)
		stranger := "stranger" + base + "@example.com"
		for _, email := range []string{never, stranger, later} {
			recover(email)
		}
		letter, tries := office.wait(t, later) // a second and four seconds after the first try
		if tries != 3 {
			t.Errorf("%d tries, want 3", tries)
		}
		match := mailedCode.FindStringSubmatch(letter)
		if match == nil {
			t.Fatalf("got the letter %s, want a code of six digits", letter)
		}
		link := "/recover/" + mailedLink.FindStringSubmatch(textOf(t, letter))[1]
		if page := nobody.Do(t, "GET "+link, ""); page.Status != http.StatusOK || !strings.Contains(string(page.Body), "acct_") {
			t.Errorf("the mailed link: got %d %s, want 200 and the account", page.Status, page.Body)
		}
		got := nobody.Do(t, `POST /v1/api_keys/reissue {"email":"`+later+`","code":"`+match[1]+`"}`, "").JSON(t)
		if got["status"] != "completed" || got["apiKey"] == nil {
			t.Errorf(`the mailed code: %v, want status "completed" and apiKey not nil`, got)
		}
		if page := nobody.Do(t, "GET "+link, ""); page.Status != http.StatusNotFound {
			t.Errorf("the link after the code: got %d, want 404", page.Status)
		}
		office.mu.Lock()
		defer office.mu.Unlock()
		if office.tries[never] != 1 || office.letters[never] != "" {
			t.Errorf("refused for good, and tried %d times, want tries[never] 1 and letters[never] empty", office.tries[never])
		}
		if office.tries[stranger] != 0 {
			t.Errorf("a stranger was written to: got %v, want 0", office.tries[stranger])
		}
	}, func(cfg *app.Config) {
		cfg.SMTPURL, cfg.MailFrom = "smtp://"+address+"?tls=off", "Scrollery <no-reply@scrollery.test>"
	})
}
