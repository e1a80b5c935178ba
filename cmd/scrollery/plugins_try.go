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
		Use:   "try PLUGIN [--seed @NAME]",
		Short: "Check the connection of a plugin with your settings, or make one real request of a source",
		Long: "Without --seed, has a plugin of any kind check settings, secrets and connection by one cheap request, and prints what it says.\n" +
			"With --seed, asks a source for one handle (@name) or term after its check, with the settings and secrets of the server, and\n" +
			"prints the outcome, what the platform refused, and how many videos have each field. It stores nothing. Requests cost what\n" +
			"they cost at the platform, and count in the server's ledger of quotas as one account's. Without a video, or if the check fails,\n" +
			"the exit code is 1.",
		Example: "  scrollery plugins try instagram\n  scrollery plugins try youtube-feed --seed @mkbhd\n  scrollery plugins try youtube --seed \"espresso\" --limit 50 --json",
		Args:    oneArg("the id of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if seed == "" {
				return checkConnection(cmd, cfg, args[0], asJSON)
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
				err = encode(tried)
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
	flags.StringVar(&seed, "seed", "", "`@NAME` of a creator, or a term, to ask a source for")
	flags.StringVar(&platform, "platform", "", "`NAME` of the platform, for a source of several")
	flags.IntVar(&limit, "limit", 5, "`N` videos to ask for")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// checkConnection prints what the check of a plugin says.
func checkConnection(cmd *cobra.Command, cfg app.Config, id string, asJSON bool) error {
	checked, err := app.CheckConnection(cmd.Context(), cfg, id, app.NewLog(os.Stderr, cfg.LogLevel))
	if err != nil {
		return err
	}
	if asJSON {
		return encode(checked)
	}
	_, err = fmt.Printf("%s %s: %s (%.1f s)\n", checked.Plugin, checked.Version, checked.Check, checked.Seconds)
	return err
}

// encode prints indented JSON.
func encode(value any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
