package customer

import (
	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) usage() *cobra.Command {
	return p.command(spec{
		use: "usage", short: "Show the subscription and what is spent of its budgets", answer: &pb.GetUsageResponse{},
		long:    "Shows the state of the subscription, and how much of the budgets of the day and of the month (UTC) is spent.",
		example: "  scrollery usage\n  scrollery usage --jq .usage.daily.usedPct",
		run: func(c *call, _ []string) error {
			got, err := askOnce[*pb.GetUsageResponse](c, &pb.GetUsageRequest{})
			if err != nil {
				return err
			}
			return c.show(got, func() error {
				return c.out.Pairs("plan", got.GetPlan(), "status", got.GetStatus(), "paid", got.GetBillingInterval(),
					"today %", got.GetUsage().GetDaily().GetUsedPct(), "this month %", got.GetUsage().GetMonthly().GetUsedPct())
			})
		},
	})
}

func (p *program) key() *cobra.Command {
	return group("key", "List, create and revoke keys", p.keyList(), p.keyNew(), p.keyRevoke())
}

func (p *program) keyList() *cobra.Command {
	return list(p, listing[*pb.ListKeysRequest, *pb.ListKeysResponse, *pb.Key]{
		spec: spec{
			use: "list", short: "List keys and session keys, newest first", long: "Lists the keys of the account, without their secrets.",
			example: "  scrollery key list\n  scrollery key list --jq '.[] | select(.active).id'",
		},
		page: 100, request: func() *pb.ListKeysRequest { return &pb.ListKeysRequest{} },
		items: (*pb.ListKeysResponse).GetKeys,
		columns: []show.Column[*pb.Key]{
			{Name: "key", Cell: func(k *pb.Key) any { return k.GetId() }},
			{Name: "ends in", Cell: func(k *pb.Key) any { return k.GetHint() }},
			{Name: "active", Cell: func(k *pb.Key) any { return k.GetActive() }},
			{Name: "current", Cell: func(k *pb.Key) any { return k.GetCurrent() }},
			{Name: "session of", Cell: func(k *pb.Key) any { return k.GetParentId() }},
			{Name: "created", Cell: func(k *pb.Key) any { return show.Millis(k.GetCreatedAt()) }},
			{Name: "expires", Cell: func(k *pb.Key) any { return show.Millis(k.GetExpiresAt()) }},
			{Name: "scopes", Cell: func(k *pb.Key) any { return join(k.GetScopes()) }, Cut: 40},
		},
	})
}
