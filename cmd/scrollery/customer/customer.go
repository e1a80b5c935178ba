// Package customer has the commands of those who use a server: they sign in with a key
// and call the API as any client does. It knows the address of a server and the
// generated client, and nothing of the server itself.
package customer

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
)

// Environment is what the commands take from the program.
type Environment struct {
	// Lookup reads a variable of the environment.
	Lookup func(string) (string, bool)
	// Store returns where logins are.
	Store func() (*login.Store, error)
	// Escape replaces what a terminal would obey instead of printing it.
	Escape func(string) string
	// Browse opens an address in the user's browser.
	Browse func(ctx context.Context, address string) error
}

// System is the environment of the user who runs the program.
func System(escape func(string) string) Environment {
	return Environment{Lookup: os.LookupEnv, Store: login.Default, Escape: escape, Browse: browse}
}

// Group is the id of the commands' group in the help.
const Group = "research"

// annotation marks the commands of this package.
const annotation = "customer"

// Commands returns the commands for the root of the program.
func Commands(env Environment) []*cobra.Command {
	p := &program{env}
	all := []*cobra.Command{
		p.login(), p.subscribe(), p.whoami(), p.logout(), p.brief(), rulesets{p}.all(), p.importFiles(), p.scroll(),
		p.hooks(), p.outliers(), p.trends(), p.library(), collections{p}.all(), shareCommands(p), sourceKeys{p}.all(), p.explain(), p.usage(), p.key(),
		p.change(), p.listen(), p.export(), p.open(), p.mcp(), p.api(),
	}
	for _, command := range all {
		command.GroupID = Group
	}
	return all
}

// program makes the commands.
type program struct{ Environment }

// call is one run of a command.
type call struct {
	*program
	ctx context.Context
	cmd *cobra.Command
	// out is stdout. Words for people go to err.
	out    show.Printer
	err    show.Printer
	format *show.Format
}

// spec describes a command.
type spec struct {
	use, short, long, example string
	// args checks the arguments; nil takes none.
	args cobra.PositionalArgs
	// answer is what the command prints as JSON; nil if it prints none. anyAnswer
	// stands for an answer without a fixed shape.
	answer proto.Message
	// table adds --csv.
	table bool
	run   func(c *call, args []string) error
}

// anyAnswer is an answer without a fixed shape.
var anyAnswer proto.Message = (*noShape)(nil)

type noShape struct{ proto.Message }

func (p *program) command(s spec) *cobra.Command {
	format := &show.Format{}
	if s.args == nil {
		s.args = noArgs
	}
	command := &cobra.Command{
		Use: s.use, Short: s.short, Long: s.long, Example: s.example, Args: s.args,
		Annotations:           map[string]string{annotation: ""},
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     cobra.NoFileCompletions,
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return wrongUse("%w", err) })
	if s.answer != nil {
		flags := command.Flags()
		flags.StringVar(&format.Fields, "json", "", "print JSON with these `FIELDS`, as id,video.platform; all for everything")
		flags.StringVar(&format.JQ, "jq", "", "print what this jq `PROGRAM` makes of the JSON")
		if s.table {
			flags.BoolVar(&format.CSV, "csv", false, "print CSV")
		}
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if err := readable(cmd, args); err != nil {
			return err
		}
		if err := format.Check(shape(s.answer)); err != nil {
			return wrongUse("%w", err)
		}
		return s.run(&call{
			program: p, ctx: cmd.Context(), cmd: cmd, format: format,
			out: show.New(cmd.OutOrStdout(), p.Escape, p.Lookup), err: show.New(cmd.ErrOrStderr(), p.Escape, p.Lookup),
		}, args)
	}
	return command
}

// readable refuses arguments that are no text: nothing of the command is done.
func readable(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return wrongUse("%q is not UTF-8 text; nothing was sent", arg)
		}
	}
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !utf8.ValidString(flag.Value.String()) {
			err = wrongUse("--%s is not UTF-8 text; nothing was sent", flag.Name)
		}
	})
	return err
}

func shape(answer proto.Message) protoreflect.MessageDescriptor {
	if answer == nil || answer == anyAnswer {
		return nil
	}
	return answer.ProtoReflect().Descriptor()
}

// group is a command that only has subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{
		Use: use + " COMMAND", Short: short, Args: noArgs, Annotations: map[string]string{annotation: ""}, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wrongUse("a command is missing: see `%s --help`", cmd.CommandPath())
		},
	}
	parent.AddCommand(commands...)
	return parent
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrongUse("%s does not take %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return wrongUse("%s takes %s, and nothing else", cmd.CommandPath(), what)
		}
		return nil
	}
}

// show prints an answer: as JSON where that was asked for, else by words.
func (c *call) show(answer proto.Message, words func() error) error {
	if c.format.Programs() {
		return c.out.Value(c.ctx, c.format, show.JSON(answer))
	}
	return words()
}

// note says something to a person, on stderr.
func (c *call) note(format string, values ...any) { _ = c.err.Say(format, values...) }

// input reads a file, or stdin for `-`, up to a bound that is far above what the API takes.
func (c *call) input(name string) (string, error) {
	const most = 1 << 20
	var in io.Reader = c.cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", wrongUse("%w", err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return "", err
	}
	if len(text) > most {
		return "", wrongUse("%s has more than 1 MiB", name)
	}
	if !utf8.Valid(text) {
		return "", wrongUse("%s is not UTF-8 text: save it as UTF-8; nothing was sent", name)
	}
	return strings.TrimPrefix(string(text), "\ufeff"), nil // editors mark UTF-8 by it
}

// secrets are the forms of keys, claims and signing secrets.
var secrets = regexp.MustCompile(`\b(scr_live_|scr_sess_|claim_|whsec_)[A-Za-z0-9+/=_-]+`)

// Mask leaves of each secret in a text only what kind it is.
func Mask(text string) string { return secrets.ReplaceAllString(text, "${1}…") }

// wrongUse is an error of how the command was called.
func wrongUse(format string, values ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUse}, values...)...)
}
