package customer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// sourceKeys makes the commands of an account's own keys of sources.
type sourceKeys struct{ program *program }

func (p sourceKeys) all() *cobra.Command {
	return group("source", "See where videos come from, and set keys of your own", p.list(), p.set(), p.try(), p.remove())
}

func (p sourceKeys) list() *cobra.Command {
	return p.program.command(spec{
		use: "list", short: "List the sources, and what each needs", answer: &pb.ListSourcesResponse{},
		long: "Lists the sources of the server with their state, what a creator and a search usually take of what the site grants, and the\n" +
			"address of the page on each. `own` is a source that is asked with your own keys. Of a secret at most its last four characters\n" +
			"are shown.",
		example: "  scrollery source list\n  scrollery source list --jq '.sources[] | select(.state == \"ready\").source'",
		run: func(c *call, _ []string) error {
			got, err := askOnce[*pb.ListSourcesResponse](c, &pb.ListSourcesRequest{})
			if err != nil {
				return err
			}
			return c.show(got, func() error {
				return table(c, got.GetSources(), []show.Column[*pb.SourceState]{
					{Name: "source", Cell: func(s *pb.SourceState) any { return s.GetSource() }},
					{Name: "state", Cell: func(s *pb.SourceState) any { return s.GetState() }},
					{Name: "own", Cell: func(s *pb.SourceState) any { return s.GetOwn() }},
					{Name: "platforms", Cell: func(s *pb.SourceState) any { return strings.Join(s.GetPlatforms(), " ") }},
					{Name: "secrets", Cell: func(s *pb.SourceState) any { return secretWords(s) }, Cut: 40},
					{Name: "price", Cell: func(s *pb.SourceState) any { return priceWords(s) }, Cut: 60},
					{Name: "why", Cell: func(s *pb.SourceState) any { return s.GetReason() }, Cut: 70},
					{Name: "docs", Cell: func(s *pb.SourceState) any { return s.GetDocsUrl() }},
				})
			})
		},
	})
}

// priceWords are what a seed usually takes of each quota of a source.
func priceWords(s *pb.SourceState) string {
	var words []string
	for _, q := range s.GetQuotas() {
		amount := func(units float64) string {
			if q.GetMoney() {
				return "$" + strconv.FormatFloat(units/1e6, 'f', -1, 64)
			}
			return strconv.FormatFloat(units, 'f', -1, 64)
		}
		var each []string
		if q.GetPerHandle() > 0 {
			each = append(each, amount(q.GetPerHandle())+" a creator")
		}
		if q.GetPerTerm() > 0 {
			each = append(each, amount(q.GetPerTerm())+" a search")
		}
		if len(each) == 0 {
			each = []string{q.GetName()}
		}
		words = append(words, fmt.Sprintf("%s; %s of %s left", strings.Join(each, ", "), amount(q.GetLeft()), amount(q.GetLimit())))
	}
	return strings.Join(words, "; ")
}

// secretWords are the names of a source's secrets, each with what is known of it.
func secretWords(s *pb.SourceState) string {
	var words []string
	for _, one := range s.GetSecrets() {
		switch {
		case one.GetSet():
			words = append(words, one.GetName()+"=…"+one.GetHint())
		case one.GetRequired():
			words = append(words, one.GetName())
		default:
			words = append(words, one.GetName()+"?")
		}
	}
	return strings.Join(words, " ")
}

func (p sourceKeys) set() *cobra.Command {
	var piped string
	var settings []string
	command := p.program.command(spec{
		use: "set SOURCE", short: "Set your own secrets and settings of a source", answer: &pb.SourceState{}, args: oneArg("the id of a source"),
		long: "Asks for each secret of the source without showing it; an empty line keeps what is set. From then on the source is asked\n" +
			"with your keys alone. Settings replace all that were set. Other users can see arguments, so no secret is one.",
		example: "  scrollery source set youtube --setting derived_metrics_accepted=yes\n  echo \"api_key=$KEY\" | scrollery source set youtube --secrets -",
		run: func(c *call, args []string) error {
			if piped != "" && piped != "-" {
				return wrongUse("--secrets takes `-` alone, and reads lines NAME=VALUE from stdin: other users can see arguments")
			}
			request := &pb.SetSourceRequest{Source: &args[0]}
			chosen, err := pairs("--setting", settings)
			if err != nil {
				return err
			}
			if chosen != nil {
				request.Settings = chosen
			}
			if request.Secrets, err = readSecrets(c, args[0], piped != ""); err != nil {
				return err
			}
			if request.Secrets == nil && request.Settings == nil {
				return wrongUse("nothing to set")
			}
			got, err := askOnce[*pb.SetSourceResponse](c, request)
			if err != nil {
				return err
			}
			return c.show(got.GetSource(), func() error {
				return c.out.Pairs("source", args[0], "state", got.GetSource().GetState(), "why", got.GetSource().GetReason(), "secrets", secretWords(got.GetSource()))
			})
		},
	})
	command.Flags().StringVar(&piped, "secrets", "", "`-` reads lines NAME=VALUE from stdin instead of asking")
	command.Flags().StringArrayVar(&settings, "setting", nil, "a setting, as `NAME=VALUE`; again for each")
	return command
}

// pairs are texts NAME=VALUE as a value of the API; nil for none.
func pairs(what string, texts []string) (*structpb.Value, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	members := map[string]*structpb.Value{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || members[name] != nil {
			return nil, wrongUse("%s wants NAME=VALUE, and each name once", what) // a secret is not repeated here
		}
		members[name] = structpb.NewStringValue(value)
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: members}), nil
}

// readSecrets reads secrets from stdin, or asks for those of a source on a terminal; nil for none.
func readSecrets(c *call, source string, piped bool) (*structpb.Value, error) {
	if piped {
		text, err := c.input("-")
		if err != nil {
			return nil, err
		}
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
		return pairs("each line of --secrets", lines)
	}
	terminal, ok := c.cmd.InOrStdin().(*os.File)
	if !ok || !show.IsTerminal(terminal) {
		return nil, nil
	}
	known, err := askOnce[*pb.ListSourcesResponse](c, &pb.ListSourcesRequest{})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(known.GetSources(), func(s *pb.SourceState) bool { return s.GetSource() == source })
	if at < 0 {
		return nil, fmt.Errorf("the server has no source %q: `scrollery source list` shows those that it has", source)
	}
	secrets := known.GetSources()[at].GetSecrets()
	if len(secrets) == 0 { // the server says why it takes none
		return structpb.NewStructValue(&structpb.Struct{}), nil
	}
	var typed []string
	for _, one := range secrets {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "%s: ", one.GetName())
		text, err := Hidden(c.ctx, terminal)
		fmt.Fprintln(c.cmd.ErrOrStderr())
		if err != nil {
			return nil, fmt.Errorf("read the secret: %w", err)
		}
		if text = strings.TrimSpace(text); text != "" {
			typed = append(typed, one.GetName()+"="+text)
		}
	}
	return pairs("a secret", typed)
}

func (p sourceKeys) try() *cobra.Command {
	var platform string
	command := p.program.command(spec{
		use: "try SOURCE [@HANDLE|TERM]", short: "Check your keys of a source, or make one real request", answer: &pb.TrySourceResponse{},
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return wrongUse("%s takes the id of a source, and a handle or a term unless the source can check itself", cmd.CommandPath())
			}
			return nil
		},
		long: "Asks a source for five videos, as a scroll would, and says what came. Without a handle or a term, a source that can (`list\n" +
			"--json all` has `checks`) only checks keys and connection. Nothing is stored. It costs 10 units.",
		example: "  scrollery source try youtube\n  scrollery source try youtube-feed @mkbhd\n  scrollery source try tiktok \"hand grinder\" --json all",
		run: func(c *call, args []string) error {
			request := &pb.TrySourceRequest{Source: &args[0]}
			if len(args) == 2 {
				request.Seed = &args[1]
			}
			if platform != "" {
				request.Platform = &platform
			}
			got, err := askOnce[*pb.TrySourceResponse](c, request)
			if err != nil {
				return err
			}
			return c.show(got, func() error {
				return errors.Join(
					c.out.Pairs("source", args[0], "state", got.GetState(), "why", got.GetReason(), "own keys", got.GetOwn(), "hosts", strings.Join(got.GetHosts(), " "),
						"check", got.GetChecked(),
						"outcome", got.GetStatus(), "failure", got.GetFailure(), "detail", got.GetDetail(), "videos", float64(got.GetReturned())),
					table(c, got.GetFields(), []show.Column[*pb.SourceField]{
						{Name: "field", Cell: func(f *pb.SourceField) any { return f.GetName() }},
						{Name: "videos", Cell: func(f *pb.SourceField) any { return f.GetVideos() }},
					}),
				)
			})
		},
	})
	command.Flags().StringVar(&platform, "platform", "", "one of the source's `PLATFORM`s")
	return command
}

func (p sourceKeys) remove() *cobra.Command {
	return p.program.command(spec{
		use: "remove SOURCE", short: "Delete your own keys of a source", answer: &pb.RemoveSourceResponse{}, args: oneArg("the id of a source"),
		long: "Deletes your secrets and settings of a source. It is asked as the operator has set it up then.", example: "  scrollery source remove youtube",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.RemoveSourceResponse](c, &pb.RemoveSourceRequest{Source: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("nothing of your own is set for %s", args[0])
			}
			return c.show(got, func() error { return c.out.Pairs("source", args[0], "removed", true) })
		},
	})
}
