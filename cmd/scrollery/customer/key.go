package customer

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func join(texts []string) string { return strings.Join(texts, " ") }

func (p *program) keyNew() *cobra.Command {
	var scopes string
	var ttl time.Duration
	command := p.command(spec{
		use: "new [--scopes a,b] [--ttl 1h]", short: "Create a session key and print it, once", answer: &pb.CreateSessionKeyResponse{},
		long: "Creates a session key with some of the scopes of your key, for a program or an agent. It ends after its time, or with\n" +
			"your key. The key alone is on stdout.",
		example: "  export SCROLLERY_KEY=\"$(scrollery key new --scopes library:read,scrolls:read --ttl 1h)\"",
		run: func(c *call, _ []string) error {
			if ttl < time.Second || ttl > 24*time.Hour {
				return wrongUse("--ttl %v is not between 1s and 24h", ttl)
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			seconds := int32(ttl / time.Second)
			got, err := ask[*pb.CreateSessionKeyResponse](c.ctx, client, &pb.CreateSessionKeyRequest{Scopes: words(scopes), TtlSeconds: &seconds})
			if err != nil {
				return err
			}
			return c.show(got, func() error {
				c.note("%s, until %s, with %s", got.GetKeyId(), show.Millis(got.GetExpiresAt()).String(), join(got.GetScopes()))
				return c.text(got.GetApiKey())
			})
		},
	})
	command.Flags().StringVar(&scopes, "scopes", "", "`SCOPES` of the key, separated by commas (default: those of your key)")
	command.Flags().DurationVar(&ttl, "ttl", time.Hour, "`TIME` until it ends, up to 24h")
	return command
}

func (p *program) keyRevoke() *cobra.Command {
	return p.command(spec{
		use: "revoke ID", short: "End a key and its session keys", answer: &pb.RevokeKeyResponse{}, args: oneArg("the id of a key"),
		long:    "Ends a key, and with it its session keys.",
		example: "  scrollery key revoke key_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.RevokeKeyResponse](c, &pb.RevokeKeyRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no key %s", args[0])
			}
			return c.show(got, func() error { return c.out.Say("%s revoked", got.GetKey().GetId()) })
		},
	})
}
