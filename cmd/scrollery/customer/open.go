package customer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
)

// consolePath is where a server has its console.
const consolePath = "/console/"

func (p *program) open() *cobra.Command {
	var noBrowser bool
	command := p.command(spec{
		use: "open", short: "Open the console of the server in the browser",
		long:    "Prints the address of the console, and opens it where stdout is a terminal. The key is not part of it.",
		example: "  scrollery open\n  scrollery open --no-browser",
		run: func(c *call, _ []string) error {
			s, err := c.signing("", false)
			if err != nil {
				return err
			}
			if err := c.out.Say("%s", s.server+consolePath); err != nil || noBrowser || !c.out.Terminal {
				return err
			}
			return c.Browse(c.ctx, s.server+consolePath)
		},
	})
	command.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address only")
	return command
}

// browse starts the browser of the user. The address has been checked and has no secret;
// the environment of the browser has none of ours.
func browse(ctx context.Context, address string) error {
	if _, err := login.Safe(address); err != nil {
		return err
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), opener, address)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "SCROLLERY_") })
	if err := command.Start(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	go func() { _ = command.Wait() }()
	return nil
}
