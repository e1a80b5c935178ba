package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host/conformance"
	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

func pluginsCommand() *cobra.Command {
	return group("plugins", "List, try, check, create, package and install stage plugins",
		pluginsList(), pluginsTry(), pluginsCheck(), pluginsPin(), pluginsNew(), pluginsPackage(), pluginsInstall(), pluginsRemove(), pluginsKit())
}

func pluginsList() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that a server uses or refuses",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				listed, err := app.ListedPlugins(cfg, app.NewLog(os.Stderr, cfg.LogLevel))
				if err != nil {
					return err
				}
				out := json.NewEncoder(os.Stdout)
				out.SetEscapeHTML(false)
				out.SetIndent("", "  ")
				return out.Encode(listed)
			}
			plugins, err := app.Plugins(cfg, app.NewLog(os.Stderr, cfg.LogLevel))
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tKIND\tVERSION\tSTATE\tPLATFORMS\tREASON")
			for _, p := range plugins {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.Kind, p.Version, p.State, strings.Join(p.Platforms, ","), p.Reason)
			}
			return w.Flush()
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "as JSON, with the settings, secrets, hosts, programs and limits that each plugin wants")
	return command
}

func pluginsCheck() *cobra.Command {
	var settings, secrets []string
	var input, run string
	call := conformance.Rehearsal{}
	command := &cobra.Command{
		Use:   "check BINARY",
		Short: "Check a plugin against the rules of the protocol",
		Long: "Checks a plugin against the rules of the protocol. With --setting, --secret, --input or --run it then makes one call, and prints\n" +
			"what came out and each rule that was broken. The input has a JSON object in each line: seeds of a source or plan stage,\n" +
			"facts of a brief stage, records of the others; videos (platform and externalId) with --verb refresh or media. A call gets the\n" +
			"time that the plugin asks for.",
		Example: "  scrollery plugins check ./acme\n  scrollery plugins check ./acme --setting region=eu --secret token=@token.txt --input seeds.jsonl\n" +
			"  scrollery plugins check ./acme --verb refresh --input videos.jsonl",
		Args: oneArg("the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if call.Settings, err = pairs(settings, false); err != nil {
				return err
			}
			if call.Secrets, err = pairs(secrets, true); err != nil {
				return err
			}
			checked := app.CheckPlugin(cmd.Context(), args[0], os.Stdout)
			if len(settings)+len(secrets) == 0 && input+run == "" {
				return checked
			}
			done, err := openInput(&call, input, run)
			if err != nil {
				return err
			}
			defer done()
			return errors.Join(checked, app.RehearsePlugin(cmd.Context(), args[0], call, os.Stdout))
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&settings, "setting", nil, "`NAME=VALUE` of a setting; give it again for more")
	flags.StringArrayVar(&secrets, "secret", nil, "`NAME=VALUE` of a secret, or NAME=@FILE")
	flags.StringVar(&input, "input", "", "a `FILE` with a JSON object in each line")
	flags.StringVar(&run, "run", "", "a `FILE` with a JSON object: the brief, rules, prompt and pages of the call")
	flags.StringVar(&call.Verb, "verb", "", "`NAME` of another verb of a source: refresh or media, or check")
	flags.DurationVar(&call.Within, "within", 0, "how long the call may take (default: what the plugin asks for, or 1m)")
	return command
}

// openInput opens the files of a call, where there are any; done closes them.
func openInput(call *conformance.Rehearsal, input, run string) (done func(), err error) {
	var files []*os.File
	done = func() {
		for _, file := range files {
			_ = file.Close()
		}
	}
	for _, one := range []struct {
		path string
		to   *io.Reader
	}{{input, &call.Input}, {run, &call.Run}} {
		if one.path == "" {
			continue
		}
		file, err := os.Open(one.path)
		if err != nil {
			done()
			return nil, err
		}
		files, *one.to = append(files, file), file
	}
	return done, nil
}

// pairs are values by name; a value @FILE is that of a file, where files are allowed.
func pairs(texts []string, files bool) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%.40q is not NAME=VALUE", name)
		}
		if path, is := strings.CutPrefix(value, "@"); is && files {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			value = strings.TrimSpace(string(raw))
		}
		all[name] = value
	}
	return all, nil
}

func pluginsPin() *cobra.Command {
	var manifest string
	command := &cobra.Command{
		Use:   "pin BINARY",
		Short: "Write a plugin's hash into its manifest, and print the rights that it requests",
		Args:  oneArg("the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.PinPlugin(cmd.Context(), args[0], manifest, os.Stdout)
		},
	}
	command.Flags().StringVar(&manifest, "manifest", "", "the manifest (default: plugin.yaml beside the binary)")
	return command
}

func pluginsNew() *cobra.Command {
	var plan kit.Plan
	var kind string
	command := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a plugin: source, test, Makefile, manifest",
		Args:  oneArg("a name for the plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			plan.Name, plan.Kind = args[0], stage.Kind(kind)
			if plan.Dir == "" {
				plan.Dir = plan.Name
			}
			return app.NewPlugin(plan, os.Stdout)
		},
	}
	command.Flags().StringVar(&kind, "kind", string(stage.SourceKind), "plan, source, screen, evidence or brief")
	command.Flags().StringVar(&plan.Lang, "lang", "go", "go, python or ts")
	command.Flags().StringVar(&plan.Dir, "dir", "", "an empty or new folder (default: the name)")
	command.Flags().StringVar(&plan.Replace, "replace", "", "in Go: build against this checkout of Scrollery")
	return command
}
