package customer

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// secretVariable has the secret that signs; without it each run makes its own.
	secretVariable = "SCROLLERY_WEBHOOK_SECRET"
	secretPrefix   = "whsec_"
	// deliveryTries of a change; then the next one follows.
	deliveryTries   = 3
	deliveryTimeout = 15 * time.Second
)

func (p *program) listen() *cobra.Command {
	var to string
	var from since
	command := p.command(spec{
		use: "listen --forward-to URL", short: "Send changes to a local address, signed as webhooks are",
		long: "Reads the change feed and sends each change to an address, usually of this machine, where no webhook could reach it.\n" +
			"Body and headers are those of the server's webhooks, by the Standard Webhooks specification. The signing secret is\n" +
			"taken from " + secretVariable + ", or made at the start and printed on stderr. A change is tried " + strconv.Itoa(deliveryTries) + " times, in order.",
		example: "  scrollery listen --forward-to http://localhost:3000/hook\n  scrollery listen --forward-to http://localhost:3000/hook --types scroll.completed --since start",
		run: func(c *call, _ []string) error {
			if to == "" {
				return wrongUse("--forward-to is needed")
			}
			address, err := login.Safe(to)
			if err != nil {
				return wrongUse("--forward-to: %w", err)
			}
			secret, err := c.signingSecret()
			if err != nil {
				return err
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			forward := &forwarder{to: address.String(), secret: secret, http: &http.Client{
				Timeout: deliveryTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}}
			err = c.tail(client, from, func(got *pb.WatchChangesResponse) error {
				return c.out.Say("%s %s %s", forward.deliver(c.ctx, got.GetChange()), got.GetChange().GetType(), got.GetChange().GetId())
			})
			if c.ctx.Err() != nil {
				return nil
			}
			return err
		},
	})
	command.Flags().StringVar(&to, "forward-to", "", "`URL` to send to: https, or this machine")
	from.flags(command, "now")
	return command
}

// signingSecret reads the secret, or makes one and shows it: the receiver needs it.
func (c *call) signingSecret() ([]byte, error) {
	if text, ok := c.Lookup(secretVariable); ok && text != "" {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
		if err != nil || len(secret) < 24 || len(secret) > 64 {
			return nil, wrongUse("%s is not %s and 24 to 64 bytes in base64", secretVariable, secretPrefix)
		}
		return secret, nil
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	c.note("Signing secret: %s", secretPrefix+base64.StdEncoding.EncodeToString(secret))
	return secret, nil
}

// forwarder sends changes as the server's webhooks do.
type forwarder struct {
	to     string
	secret []byte
	http   *http.Client
}

// deliver returns the status of the last try, or what went wrong.
func (f *forwarder) deliver(ctx context.Context, change *pb.Change) (outcome string) {
	for try := range deliveryTries {
		if try > 0 && pause(ctx, time.Second<<(try-1)) != nil {
			return outcome
		}
		status, err := f.post(ctx, change)
		if err != nil {
			outcome = "unreachable"
			continue
		}
		outcome = strconv.Itoa(status)
		if status >= 200 && status < 300 || status == http.StatusGone {
			return outcome
		}
	}
	return outcome
}

func (f *forwarder) post(ctx context.Context, change *pb.Change) (int, error) {
	body, err := json.Marshal(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{change.GetType(), time.UnixMilli(int64(change.GetAt())).UTC().Format("2006-01-02T15:04:05.000Z"), show.JSON(change)})
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Scrollery-Webhooks/1")
	request.Header.Set("Webhook-Id", change.GetId())
	request.Header.Set("Webhook-Timestamp", at)
	request.Header.Set("Webhook-Signature", f.sign(change.GetId(), at, body))
	answer, err := f.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()                       //nolint:errcheck // nothing of it is used
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
	return answer.StatusCode, nil
}

func (f *forwarder) sign(id, at string, body []byte) string {
	mac := hmac.New(sha256.New, f.secret)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
