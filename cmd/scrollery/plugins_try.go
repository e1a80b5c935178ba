package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/plugins/stage"
)

func pluginsTry() *cobra.Command {
	var seed, platform string
	var limit int
	var asJSON bool
	command := &cobra.Command{
		Use:   "try SOURCE --seed @NAME",
		Short: "Make one real request of a source with your settings, and print what came",
		Long: "Asks a source for one handle (@name) or term, with the settings and secrets of the server, and prints the outcome, what the\n" +
			"platform refused, and how many videos have each field. It stores nothing. The request costs what it costs at the platform,\n" +
			"and is not in the ledger of quotas. Without a video the exit code is 1.",
		Example: "  scrollery plugins try youtube-feed --seed @mkbhd\n  scrollery plugins try youtube --seed \"espresso\" --limit 50 --json",
		Args:    oneArg("the id of a source"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if seed == "" {
				return fmt.Errorf("%w: --seed is missing: a handle such as @name, or a term", errUse)
			}
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			asked := stage.Seed{Kind: "niche", Platform: platform, Term: seed, Limit: limit}
			if handle, is := strings.CutPrefix(seed, "@"); is {
				asked = stage.Seed{Kind: "competitor", Platform: platform, Handle: handle, Limit: limit}
			}
			tried, err := app.TryPlugin(cmd.Context(), cfg, args[0], asked, app.NewLog(os.Stderr, cfg.LogLevel))
			if err != nil {
				return err
			}
			if asJSON {
				out := json.NewEncoder(os.Stdout)
				out.SetEscapeHTML(false)
				out.SetIndent("", "  ")
				err = out.Encode(tried)
			} else {
				err = tried.Print(os.Stdout)
			}
			if err == nil && !tried.OK() {
				err = errors.New("no video came")
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&seed, "seed", "", "`@NAME` of a creator, or a term")
	flags.StringVar(&platform, "platform", "", "`NAME` of the platform, for a source of several")
	flags.IntVar(&limit, "limit", 5, "`N` videos to ask for")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return command
}
