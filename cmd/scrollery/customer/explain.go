package customer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) explain() *cobra.Command {
	var most int
	command := p.command(spec{
		use: "explain VIDEO|TREND", short: "Show all that went into the score of a video, or into a trend", answer: anyAnswer,
		args: oneArg("the id of a video or the key of a trend"),
		long: "Shows the score of a video with the videos that it was compared with, used or refused, and the reason of each.\n" +
			"A key of a trend, as hashtag:espresso, shows its videos. Both need not be in a list.",
		example: "  scrollery explain vid_…\n  scrollery explain hashtag:espresso\n  scrollery explain vid_… --jq '.peers.videos[] | select(.reason != \"used\")'",
		run: func(c *call, args []string) error {
			if most < 1 {
				return wrongUse("--limit %d is below 1", most)
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			if strings.Contains(args[0], ":") {
				got, err := ask[*pb.ExplainTrendResponse](c.ctx, client, &pb.ExplainTrendRequest{Key: &args[0]})
				if err != nil {
					return err
				}
				if !got.GetFound() {
					return fmt.Errorf("no video of the window has the key %s", args[0])
				}
				return c.show(got.GetExplanation(), func() error { return c.trendWords(got.GetExplanation(), most) })
			}
			got, err := ask[*pb.ExplainOutlierResponse](c.ctx, client, &pb.ExplainOutlierRequest{VideoId: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("the library has no video %s", args[0])
			}
			return c.show(got.GetExplanation(), func() error { return c.scoreWords(got.GetExplanation(), most) })
		},
	})
	command.Flags().IntVar(&most, "limit", 30, "most videos in a table; JSON has all")
	return command
}

func (c *call) scoreWords(e *pb.OutlierExplanation, most int) error {
	considered := e.GetPeers()
	if e.GetBasis() == "niche" {
		considered = e.GetNiche()
	}
	videos := considered.GetVideos()
	return errors.Join(
		c.out.Pairs("video", e.GetVideoId(), "outcome", e.GetOutcome(), "score", e.GetScore(), "views", number(e.GetTarget().Views),
			"baseline", number(e.BaselineViews), "basis", e.GetBasis(), "peers used", e.GetSampleCount(), "reading", e.GetTarget().GetReason(),
			"read at", show.Millis(e.GetTarget().GetObservedAt()), "posted", show.Millis(e.GetTarget().GetPostedAt()),
			"doubtful", e.GetDoubtful(), "archived", e.GetArchived(), "method", e.GetMethod()),
		table(c, considered.GetCounts(), []show.Column[*pb.ReasonCount]{
			{Name: "videos", Cell: func(r *pb.ReasonCount) any { return r.GetCount() }},
			{Name: "reason", Cell: func(r *pb.ReasonCount) any { return r.GetReason() }},
		}),
		table(c, videos[:min(most, len(videos))], []show.Column[*pb.ConsideredVideo]{
			{Name: "video", Cell: func(v *pb.ConsideredVideo) any { return v.GetVideoId() }},
			{Name: "reason", Cell: func(v *pb.ConsideredVideo) any { return v.GetReason() }},
			{Name: "views", Cell: func(v *pb.ConsideredVideo) any { return number(v.Views) }},
			{Name: "expected", Cell: func(v *pb.ConsideredVideo) any { return number(v.ExpectedViews) }},
			{Name: "read at", Cell: func(v *pb.ConsideredVideo) any { return show.Millis(v.GetObservedAt()) }},
		}),
	)
}

func (c *call) trendWords(e *pb.TrendExplanation, most int) error {
	videos := e.GetVideos()
	return errors.Join(
		c.out.Pairs("key", e.GetKey(), "label", e.GetLabel(), "outcome", e.GetOutcome(), "overlaps", e.GetOverlapsKey(),
			"creators now", e.GetCreatorsNow(), "creators before", e.GetCreatorsBefore(), "expected creators", e.GetExpectedCreators(),
			"strength", e.GetStrength(), "direction", e.GetDirection(), "new creators", e.GetNewCreators(), "new creators before", e.GetNewCreatorsBefore(),
			"creators a day", e.GetCreatorsPerDay(), "videos", e.GetVideoCount(), "growth", e.GetMedianGrowthMultiple(),
			"measured videos", e.GetGrownVideos(), "method", e.GetMethod()),
		table(c, videos[:min(most, len(videos))], []show.Column[*pb.TrendVideo]{
			{Name: "video", Cell: func(v *pb.TrendVideo) any { return v.GetVideoId() }},
			{Name: "when", Cell: func(v *pb.TrendVideo) any { return v.GetWhen() }},
			{Name: "growth", Cell: func(v *pb.TrendVideo) any { return v.GetGrowth() }},
			{Name: "first views", Cell: func(v *pb.TrendVideo) any { return v.GetFirst().GetViews() }},
			{Name: "last views", Cell: func(v *pb.TrendVideo) any { return v.GetLast().GetViews() }},
		}),
	)
}
