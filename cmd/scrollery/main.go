// Command scrollery is the whole service in one binary: the server, its stage
// plugins, and the operator's commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

// Exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitWrongUse = 2
)

// errUse marks wrong use of a command, not a failure of its work.
var errUse = errors.New("wrong use")

func main() {
	app.RunPlugin(os.Args) // does not return in the process of a plugin
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errUse):
		fmt.Fprintf(os.Stderr, "scrollery: %v\nSee `scrollery --help`.\n", err)
		return exitWrongUse
	default:
		fmt.Fprintf(os.Stderr, "scrollery: %v\n", err)
		return exitFailed
	}
}

// newRoot returns the command tree. Every setting is a flag of every command.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "scrollery",
		Short:         "A private research library of short-form videos",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUse, err) })
	flags := root.PersistentFlags()
	flags.String("config", "", "YAML file with settings (SCROLLERY_CONFIG)")
	for _, setting := range app.Settings() {
		if !setting.Secret {
			flags.String(setting.Flag(), "", fmt.Sprintf("%s (%s%s, default %q)", setting.Usage, app.Prefix, setting.Name, setting.Default))
		}
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(serveCommand(), demoCommand(), migrateCommand(), doctorCommand(), readyCommand(), versionCommand(),
		keysCommand(), importCommand(), backtestCommand(), scrollsCommand(), quotasCommand(), pluginsCommand(), backupCommand(),
		accountsCommand(), creditsCommand(), subscriptionsCommand(), billingCommand())
	return root
}

// load reads the configuration for a command. An invalid configuration is wrong use.
func load(cmd *cobra.Command) (app.Config, error) {
	given := map[string]string{}
	for _, setting := range app.Settings() {
		if flag := cmd.Flags().Lookup(setting.Flag()); flag != nil && flag.Changed {
			given[setting.Flag()] = flag.Value.String()
		}
	}
	if flag := cmd.Flags().Lookup("config"); flag.Changed {
		given["config"] = flag.Value.String()
	}
	cfg, err := app.Load(os.LookupEnv, given)
	if err != nil {
		return app.Config{}, fmt.Errorf("%w: %w", errUse, err)
	}
	return cfg, nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %s does not take %q", errUse, cmd.CommandPath(), args[0])
	}
	return nil
}

// group is a command that only has subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return fmt.Errorf("%w: a command is missing: see `%s --help`", errUse, cmd.CommandPath())
	}}
	parent.AddCommand(commands...)
	return parent
}
