package customer

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// claimEvery is the time between two claims, and claimFor that until a payment is
	// given up; the claim stays, and the next run of the command goes on.
	claimEvery = 2 * time.Second
	claimFor   = 30 * time.Minute
	// claimEnds is how long a claim that is under way may go on after an interrupt.
	claimEnds = 10 * time.Second
)

// subscription is what is bought.
type subscription struct {
	plan, interval string
	noBrowser      bool
}

func (s *subscription) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.plan, "plan", "standard", "`PLAN` to subscribe to: standard or pro")
	flags.StringVar(&s.interval, "interval", "monthly", "how `OFTEN` it is paid: monthly or annual")
	suggest(command, "plan", "standard", "pro")
	suggest(command, "interval", "monthly", "annual")
	flags.BoolVar(&s.noBrowser, "no-browser", false, "print the address of the payment page, and open no browser")
}

func (p *program) subscribe() *cobra.Command {
	var server string
	var inFile bool
	var order subscription
	command := p.command(spec{
		use:   "subscribe [--plan standard|pro] [--interval monthly|annual]",
		short: "Subscribe, pay in the browser, and store the new key",
		long: "Prints the address of the payment page, opens it, waits for the payment and stores the key. If the command is\n" +
			"interrupted, running it again continues with the same payment. It is the same as `login --subscribe`.",
		example: "  scrollery subscribe --server https://scrollery.example.com\n  scrollery subscribe --plan pro --interval annual --no-browser",
		run: func(c *call, _ []string) error {
			s, err := c.signing(server, inFile)
			if err != nil {
				return err
			}
			return s.buy(order)
		},
	})
	command.Flags().StringVar(&server, "server", "", "`URL` of the server (default: SCROLLERY_SERVER, the last one, or "+login.DefaultServer+")")
	command.Flags().BoolVar(&inFile, "in-file", false, "store the key in a file also where there is a keyring")
	order.flags(command)
	return command
}

// buy subscribes, waits for the payment, and stores the key. The claim is stored before
// the address is shown: what was paid can always be claimed.
func (s *signing) buy(order subscription) error {
	c, client := s.call, newClient(login.Login{Server: s.server})
	claim, err := s.store.Pending()
	if err != nil {
		return err
	}
	if claim.Server != s.server || claim.Token == "" {
		checkout, err := ask[*pb.SubscribeResponse](c.ctx, client, &pb.SubscribeRequest{BillingInterval: &order.interval, Plan: &order.plan})
		if err != nil {
			return err
		}
		claim = login.Claim{Server: s.server, Token: checkout.GetClaimToken(), URL: checkout.GetUrl()}
		if err := s.store.SavePending(claim); err != nil {
			return fmt.Errorf("store the claim: %w", err)
		}
	}
	c.note("Pay here: %s", claim.URL)
	if c.err.Terminal && !order.noBrowser {
		if address, err := login.Safe(claim.URL); err == nil {
			_ = c.Browse(c.ctx, address.String()) // the address is on the screen
		}
	}
	key, err := s.claim(client, claim.Token)
	if err != nil {
		return err
	}
	if err := s.keep(login.Login{Server: s.server, Key: key}); err != nil {
		return err
	}
	return s.store.SavePending(login.Claim{})
}

// claim asks until the checkout is paid. An interrupt waits for the answer to a claim
// that is under way: the first one after the payment gets the key, and no other does.
func (s *signing) claim(client *client, token string) (string, error) {
	ctx, cancel := context.WithTimeout(s.call.ctx, claimFor)
	defer cancel()
	whole, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(claimEnds, cut) })()
	for {
		var claimed *pb.ClaimSubscriptionResponse
		err := patient(ctx, func() (err error) {
			claimed, err = ask[*pb.ClaimSubscriptionResponse](whole, client, &pb.ClaimSubscriptionRequest{ClaimToken: &token})
			return err
		})
		switch {
		case err == nil && claimed.GetStatus() == "completed":
			return claimed.GetApiKey(), nil
		case ctx.Err() != nil:
			return "", fmt.Errorf("the payment was not seen: run the command again to go on with it: %w", ctx.Err())
		case err != nil:
			return "", err
		case claimed.GetStatus() != "pending":
			_ = s.store.SavePending(login.Claim{}) // it never becomes valid again
			return "", fmt.Errorf("the checkout cannot be claimed: %s", claimed.GetStatus())
		}
		_ = pause(ctx, claimEvery)
	}
}
