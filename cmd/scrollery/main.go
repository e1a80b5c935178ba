// Command scrollery is the whole service in one binary: the server, its stage
// plugins, and the operator's commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

// Exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitWrongUse = 2
)

// errUse marks wrong use of a command, not a failure of its work.
var errUse = customers.ErrUse

func main() {
	app.RunPlugin(os.Args) // does not return in the process of a plugin
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	root := newRoot(customers.System(host.Printable))
	args = asOperator(args)
	root.SetArgs(args)
	return execute(ctx, root, args, os.Stderr)
}

// asOperator has `scrollery import --email …` mean `scrollery admin import --email …`, as it
// did before customers had a command of that name: only operators name an account.
func asOperator(args []string) []string {
	named := func(arg string) bool { return arg == "--email" || strings.HasPrefix(arg, "--email=") }
	if len(args) > 0 && args[0] == "import" && slices.ContainsFunc(args, named) {
		return append([]string{"admin"}, args...)
	}
	return args
}

// execute runs a command and prints its error.
func execute(ctx context.Context, root *cobra.Command, args []string, stderr io.Writer) int {
	executed, err := root.ExecuteContextC(ctx)
	if code, ok := customers.Report(executed, args, err, stderr, host.Printable); ok {
		return code
	}
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "scrollery: %s\n", customers.Mask(err.Error())) // a key may have been given as an argument
	if errors.Is(err, errUse) {
		fmt.Fprintf(stderr, "See `scrollery --help`.\n")
		return exitWrongUse
	}
	return exitFailed
}

// newRoot returns the command tree: the customers' commands, which call a server, and the
// operators', which run one.
func newRoot(env customers.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:           "scrollery",
		Short:         "A private research library of short-form videos",
		Version:       app.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUse, err) })
	root.AddGroup(&cobra.Group{ID: customers.Group, Title: "Research:"}, &cobra.Group{ID: operateGroup, Title: "Operate:"})
	root.AddCommand(customers.Commands(env)...)
	settings := app.Settings()
	for _, command := range []*cobra.Command{
		serveCommand(), demoCommand(), migrateCommand(), doctorCommand(), readyCommand(), consoleCommand(), pluginsCommand(), adminCommand(),
	} {
		root.AddCommand(withSettings(command, settings))
	}
	for _, command := range moved() {
		root.AddCommand(withSettings(command, settings))
	}
	root.AddCommand(versionCommand(), manCommand())
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
