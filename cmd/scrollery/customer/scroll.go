package customer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) scroll() *cobra.Command {
	return group("scroll", "Start, show, list and cancel scrolls, the research runs", p.scrollStart(), p.scrollTry(), p.scrollShow(), p.scrollList(), p.scrollCancel())
}

const following = "With --follow the command ends with the scroll: with 0 where it has completed, and with 6 where it has failed or\n" +
	"was cancelled. A break of the connection, or a restart of the server, does not end it."

func (p *program) scrollStart() *cobra.Command {
	var prompt, template, key string
	var every int32
	var follow bool
	command := p.command(spec{
		use: "start [--prompt TEXT] [--follow]", short: "Start a scroll", answer: &pb.Scroll{},
		long: "Starts a scroll. " + following,
		example: "  scrollery scroll start --follow\n  scrollery scroll start --prompt \"Focus on espresso\" --every 7\n" +
			"  scrollery scroll start --jq .id",
		run: func(c *call, _ []string) error {
			request := &pb.CreateScrollRequest{}
			if prompt == "-" {
				text, err := c.input("-")
				if err != nil {
					return err
				}
				prompt = text
			}
			if prompt != "" {
				request.Prompt = &prompt
			}
			if template != "" {
				request.Template = &template
			}
			if every != 0 {
				request.Schedule = &every
			}
			if key == "" {
				key = "cli-" + rand.Text()
			}
			request.IdempotencyKey = &key
			client, err := c.client()
			if err != nil {
				return err
			}
			started, err := create(c.ctx, client, request)
			if err != nil {
				return err
			}
			if started.GetOutcome() == "existing" {
				c.note("This key has started a scroll before.")
			}
			return c.scrollResult(client, started.GetScroll(), follow)
		},
	})
	flags := command.Flags()
	flags.StringVar(&prompt, "prompt", "", "`TEXT` that steers this scroll, in addition to the rules; - reads stdin")
	flags.Int32Var(&every, "every", 0, "repeat after this many `DAYS`, 1 to 7")
	flags.StringVar(&template, "template", "", "`NAME` of a choice of stages")
	flags.StringVar(&key, "idempotency-key", "", "the same `KEY` returns the same scroll (default: a new one)")
	flags.BoolVar(&follow, "follow", false, "show the progress until the scroll has ended")
	return command
}

// create starts a scroll. The request has an idempotency key, so that it can be sent
// again where no answer came.
func create(ctx context.Context, client *client, request *pb.CreateScrollRequest) (*pb.CreateScrollResponse, error) {
	for tries := 0; ; tries++ {
		started, err := ask[*pb.CreateScrollResponse](ctx, client, request)
		if err == nil || !broken(err) || tries == 3 || ctx.Err() != nil {
			return started, err
		}
		if err := pause(ctx, retryFirst<<tries); err != nil {
			return nil, err
		}
	}
}

// scrollResult prints a scroll, followed to its end where that is wanted.
func (c *call) scrollResult(client *client, scroll *pb.Scroll, follow bool) error {
	if !follow {
		return c.showScroll(scroll)
	}
	ended, err := c.follow(client, scroll)
	if err != nil {
		return err
	}
	if err := c.showScroll(ended); err != nil {
		return err
	}
	if ended.GetStatus() == "completed" {
		return nil
	}
	cause := ""
	if failure := ended.GetProgress().GetFailure(); failure.GetCause() != "" {
		cause = ": " + failure.GetCause()
	} else if ended.GetFailureCode() != "" {
		cause = ": " + ended.GetFailureCode()
	}
	return fmt.Errorf("%w %s is %s%s", errScroll, ended.GetId(), ended.GetStatus(), cause)
}

func (c *call) showScroll(scroll *pb.Scroll) error {
	return c.show(scroll, func() error {
		progress := scroll.GetProgress()
		err := c.out.Pairs("scroll", scroll.GetId(), "status", scroll.GetStatus(), "stage", scroll.GetStage(), "percent", progress.GetPercent(),
			"collected", progress.GetCollected(), "new videos", scroll.GetResultCounts().GetVideos(), "seen again", progress.GetReobserved(),
			"dropped", progress.GetDropped(), "failure", scroll.GetFailureCode(), "cause", progress.GetFailure().GetCause(),
			"created", show.Millis(scroll.GetCreatedAt()), "started", show.Millis(scroll.GetStartedAt()), "ended", show.Millis(scroll.GetCompletedAt()))
		if err != nil {
			return err
		}
		return errors.Join(
			table(c, progress.GetCoverage(), []show.Column[*pb.Coverage]{
				{Name: "seed", Cell: func(o *pb.Coverage) any { return o.GetSeed() }, Cut: 40},
				{Name: "platform", Cell: func(o *pb.Coverage) any { return o.GetPlatform() }},
				{Name: "outcome", Cell: func(o *pb.Coverage) any { return o.GetOutcome() }},
				{Name: "returned", Cell: func(o *pb.Coverage) any { return o.GetReturned() }},
				{Name: "new", Cell: func(o *pb.Coverage) any { return o.GetNew() }},
				{Name: "seen again", Cell: func(o *pb.Coverage) any { return o.GetReobserved() }},
				{Name: "dropped", Cell: func(o *pb.Coverage) any { return o.GetDropped() }},
				{Name: "retry at", Cell: func(o *pb.Coverage) any { return show.Millis(o.GetRetryAt()) }},
			}),
			dropsTable(c, progress.GetDroppedByRule()),
			c.each("unclear rule", progress.GetUnclearRules()),
		)
	})
}

func dropsTable(c *call, drops []*pb.RuleDrops) error {
	return table(c, drops, []show.Column[*pb.RuleDrops]{
		{Name: "dropped", Cell: func(d *pb.RuleDrops) any { return d.GetVideos() }},
		{Name: "by rule", Cell: func(d *pb.RuleDrops) any { return d.GetRule() }, Cut: 80},
	})
}

func (p *program) scrollShow() *cobra.Command {
	var follow bool
	command := p.command(spec{
		use: "show ID [--follow]", short: "Show a scroll: progress, coverage, drops", answer: &pb.Scroll{},
		args: oneArg("the id of a scroll"), long: "Shows a scroll. " + following,
		example: "  scrollery scroll show scr_… --follow\n  scrollery scroll show scr_… --json status,progress.coverage",
		run: func(c *call, args []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			got, err := ask[*pb.GetScrollResponse](c.ctx, client, &pb.GetScrollRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no scroll %s", args[0])
			}
			return c.scrollResult(client, got.GetScroll(), follow)
		},
	})
	command.Flags().BoolVar(&follow, "follow", false, "show the progress until the scroll has ended")
	return command
}

func (p *program) scrollCancel() *cobra.Command {
	return p.command(spec{
		use: "cancel ID", short: "Cancel a scroll that has not ended", answer: &pb.Scroll{}, args: oneArg("the id of a scroll"),
		long:    "Cancels a scroll. What it has archived stays in the library.",
		example: "  scrollery scroll cancel scr_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.CancelScrollResponse](c, &pb.CancelScrollRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no scroll %s", args[0])
			}
			return c.show(got.GetScroll(), func() error { return c.out.Say("%s %s", got.GetScroll().GetId(), got.GetScroll().GetStatus()) })
		},
	})
}

func (p *program) scrollList() *cobra.Command {
	return list(p, listing[*pb.ListScrollsRequest, *pb.ListScrollsResponse, *pb.Scroll]{
		spec: spec{
			use: "list", short: "List scrolls, newest first", long: "Lists the scrolls of the account.",
			example: "  scrollery scroll list --limit 5\n  scrollery scroll list --jq '.[0].id'",
		},
		page: 100, request: func() *pb.ListScrollsRequest { return &pb.ListScrollsRequest{} },
		items: (*pb.ListScrollsResponse).GetScrolls,
		none:  func(*pb.ListScrollsResponse) string { return "There are no scrolls." },
		columns: []show.Column[*pb.Scroll]{
			{Name: "scroll", Cell: func(s *pb.Scroll) any { return s.GetId() }},
			{Name: "status", Cell: func(s *pb.Scroll) any { return s.GetStatus() }},
			{Name: "stage", Cell: func(s *pb.Scroll) any { return s.GetStage() }},
			{Name: "percent", Cell: func(s *pb.Scroll) any { return s.GetProgress().GetPercent() }},
			{Name: "new", Cell: func(s *pb.Scroll) any { return s.GetResultCounts().GetVideos() }},
			{Name: "failure", Cell: func(s *pb.Scroll) any { return s.GetFailureCode() }},
			{Name: "created", Cell: func(s *pb.Scroll) any { return show.Millis(s.GetCreatedAt()) }},
		},
	})
}
