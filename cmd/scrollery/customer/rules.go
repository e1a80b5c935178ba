package customer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// rulesets makes the commands of rules.
type rulesets struct{ program *program }

func (p rulesets) all() *cobra.Command {
	return group("rules", "Show, try and replace the rules in plain words", p.get(), p.put(), p.preview(), p.diff(), p.history())
}

func (p rulesets) get() *cobra.Command {
	return p.program.command(spec{
		use: "get", short: "Print the rules in force", answer: &pb.GetRulesResponse{},
		long: "Prints the text of the rules in force, as `rules put` takes it.", example: "  scrollery rules get > rules.txt",
		run: func(c *call, _ []string) error {
			got, err := askOnce[*pb.GetRulesResponse](c, &pb.GetRulesRequest{})
			if err != nil {
				return err
			}
			if got.GetRules() == nil {
				c.note("There are no rules: see `scrollery rules put --help`.")
			}
			return c.show(got, func() error { return c.text(got.GetRules().GetText()) })
		},
	})
}

// text prints a text of several lines, as it is unless a terminal shows it.
func (c *call) text(text string) error {
	if c.out.Terminal {
		text = c.out.Lines(text)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(c.out.Out, text)
	return err
}

func (p rulesets) put() *cobra.Command {
	return p.program.command(spec{
		use: "put FILE", short: "Replace the rules with the text of a file", answer: &pb.PutRulesResponse{}, args: oneArg("a file, or - for stdin"),
		long:    "Replaces the whole ruleset, one rule a line. The same text changes nothing; another one becomes a new version.",
		example: "  scrollery rules put rules.txt\n  echo \"- At least 1000 views\" | scrollery rules put -",
		run: func(c *call, args []string) error {
			text, err := c.input(args[0])
			if err != nil {
				return err
			}
			put, err := askOnce[*pb.PutRulesResponse](c, &pb.PutRulesRequest{Text: &text})
			if err != nil {
				return err
			}
			return c.show(put, func() error {
				return c.out.Say("version %s %s", float64(put.GetRules().GetVersion()), put.GetOutcome())
			})
		},
	})
}

func (p rulesets) preview() *cobra.Command {
	var sample int32
	command := p.program.command(spec{
		use: "preview FILE", short: "Judge stored videos by rules that are not in force", answer: &pb.PreviewRulesResponse{}, args: oneArg("a file, or - for stdin"),
		long:    "Judges stored videos by the text of a file, as the next scroll would, and compares with the rules in force. Nothing\nis stored. It costs 10 units.",
		example: "  scrollery rules preview rules.txt --sample 2000\n  scrollery rules preview rules.txt --json newlyDropped,newlyKept",
		run: func(c *call, args []string) error {
			text, err := c.input(args[0])
			if err != nil {
				return err
			}
			got, err := askOnce[*pb.PreviewRulesResponse](c, &pb.PreviewRulesRequest{Text: &text, Sample: &sample})
			if err != nil {
				return err
			}
			return c.show(got, func() error { return c.previewWords(got) })
		},
	})
	command.Flags().Int32Var(&sample, "sample", 500, "`NUMBER` of videos to judge, up to 2000")
	return command
}

func (c *call) previewWords(got *pb.PreviewRulesResponse) error {
	return errors.Join(
		c.out.Pairs("judged", got.GetJudged(), "kept", got.GetKept(), "dropped", got.GetDropped(), "compared with version", got.GetCurrentVersion(),
			"newly dropped", got.GetNewlyDropped(), "newly kept", got.GetNewlyKept()),
		dropsTable(c, got.GetDroppedByRule()),
		table(c, got.GetUnclearRules(), []show.Column[*pb.UnclearRule]{
			{Name: "unclear rule", Cell: func(u *pb.UnclearRule) any { return u.GetRule() }, Cut: 60},
			{Name: "why", Cell: func(u *pb.UnclearRule) any { return u.GetWhy() }, Cut: 80},
		}),
		table(c, got.GetExamples(), []show.Column[*pb.PreviewExample]{
			{Name: "video", Cell: func(e *pb.PreviewExample) any { return e.GetVideoId() }},
			{Name: "change", Cell: func(e *pb.PreviewExample) any { return e.GetChange() }},
			{Name: "rule", Cell: func(e *pb.PreviewExample) any { return e.GetRule() }, Cut: 40},
			{Name: "reason", Cell: func(e *pb.PreviewExample) any { return e.GetReason() }, Cut: 60},
		}),
		c.each("note", got.GetNotes()),
	)
}

func (p rulesets) history() *cobra.Command {
	return list(p.program, listing[*pb.ListRuleVersionsRequest, *pb.ListRuleVersionsResponse, *pb.Rules]{
		spec: spec{
			use: "history", short: "List the versions of the rules, newest first", long: "Lists the versions of the rules. `rules diff` compares them.",
			example: "  scrollery rules history\n  scrollery rules history --jq '.[] | select(.version == 3).text'",
		},
		page: 25, request: func() *pb.ListRuleVersionsRequest { return &pb.ListRuleVersionsRequest{} },
		items: (*pb.ListRuleVersionsResponse).GetVersions,
		none:  func(*pb.ListRuleVersionsResponse) string { return "There are no rules." },
		columns: []show.Column[*pb.Rules]{
			{Name: "version", Cell: func(r *pb.Rules) any { return r.GetVersion() }},
			{Name: "created", Cell: func(r *pb.Rules) any { return show.Millis(r.GetCreatedAt()) }},
			{Name: "text", Cell: func(r *pb.Rules) any { return r.GetText() }, Cut: 80},
		},
	})
}

// version finds one version of the rules; 0 is the one in force.
func (c *call) version(client *client, wanted int32) (string, error) {
	if wanted == 0 {
		got, err := ask[*pb.GetRulesResponse](c.ctx, client, &pb.GetRulesRequest{})
		return got.GetRules().GetText(), err
	}
	token := ""
	for {
		request := &pb.ListRuleVersionsRequest{}
		if token != "" {
			request.PageToken = &token
		}
		page, err := ask[*pb.ListRuleVersionsResponse](c.ctx, client, request)
		if err != nil {
			return "", err
		}
		for _, rules := range page.GetVersions() {
			if rules.GetVersion() == wanted {
				return rules.GetText(), nil
			}
		}
		if token = page.GetNextPageToken(); token == "" {
			return "", fmt.Errorf("there is no version %d of the rules", wanted)
		}
	}
}
