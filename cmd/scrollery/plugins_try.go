package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/plugins/stage"
)

func pluginsTry() *cobra.Command {
	var seed, platform, input, run string
	var call conformance.Rehearsal
	var limit int
	var asJSON bool
	command := &cobra.Command{
		Use:   "try PLUGIN [--seed @NAME | --verb NAME --input FILE]",
		Short: "Check the connection of a plugin with your settings, or make one real request of it",
		Long: "Without --seed, has a plugin of any kind check settings, secrets and connection by one cheap request, and prints what it says.\n" +
			"With --seed, asks a source for one handle (@name) or term after its check, with the settings and secrets of the server, and\n" +
			"prints the outcome, what the platform refused, and how many videos have each field. It stores nothing. Requests cost what\n" +
			"they cost at the platform, and count in the server's ledger of quotas as one account's. Without a video, or if the check fails,\n" +
			"the exit code is 1.\n" +
			"With --input, calls the verb of the plugin's kind or another one (--verb), after its check, and prints a line for each answer. The\n" +
			"input is that of `scrollery plugins check`. Media are deleted at the end.",
		Example: "  scrollery plugins try instagram\n  scrollery plugins try youtube-feed --seed @mkbhd\n  scrollery plugins try youtube --seed \"espresso\" --limit 50 --json\n" +
			"  scrollery plugins try ytdlp --verb refresh --input videos.jsonl",
		Args: oneArg("the id of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if seed == "" && call.Verb+input+run != "" && call.Verb != "check" {
				if asJSON || platform != "" {
					return errors.New("--json and --platform go with --seed, not with a verb")
				}
				return tryVerb(cmd, cfg, args[0], call, input, run)
			}
			if input+run != "" || seed != "" && call.Verb != "" && call.Verb != "collect" {
				return errors.New("--seed is for the verb collect, without --input; a check takes neither")
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
	flags.StringVar(&call.Verb, "verb", "", "`NAME` of a verb of the plugin: collect, refresh, media, check, or the name of its kind")
	flags.StringVar(&input, "input", "", "a `FILE` with a JSON object in each line, for the verb")
	flags.StringVar(&run, "run", "", "a `FILE` with a JSON object: the brief, rules, prompt and pages of the call")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// tryVerb prints what a verb of a plugin answers.
func tryVerb(cmd *cobra.Command, cfg app.Config, id string, call conformance.Rehearsal, input, run string) error {
	if input == "" {
		return errors.New("a verb needs --input, a file with a JSON object in each line")
	}
	done, err := openInput(&call, input, run)
	if err != nil {
		return err
	}
	defer done()
	return app.TryVerb(cmd.Context(), cfg, id, call, os.Stdout, app.NewLog(os.Stderr, cfg.LogLevel))
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
