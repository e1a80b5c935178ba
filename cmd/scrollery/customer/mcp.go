package customer

import (
	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/relay"
)

func (p *program) mcp() *cobra.Command {
	return p.command(spec{
		use: "mcp", short: "Offer the tools of the server to an agent on stdin and stdout",
		long: "Speaks the Model Context Protocol on stdin and stdout, and passes each message on to the server. Agents start it.\n" +
			"It ends with its input. An agent that speaks HTTP needs no program: give it the address of the server and /mcp.",
		example: "  SCROLLERY_SERVER=https://scrollery.example.com SCROLLERY_KEY=... scrollery mcp",
		run: func(c *call, _ []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			r := &relay.Relay{URL: client.Server + "/mcp", Client: client.http}
			return r.Run(c.ctx, c.cmd.InOrStdin(), c.cmd.OutOrStdout())
		},
	})
}
