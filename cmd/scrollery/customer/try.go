package customer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// mostWatched is how many creators the first brief has.
	mostWatched = 10
	// watchedName is the name of the brief that `scroll try` makes. It replaces that one alone.
	watchedName = "Whom I watch"
	// firstOutliers is how many videos are shown.
	firstOutliers = 10
)

func (p *program) scrollTry() *cobra.Command {
	return p.command(spec{
		use: "try @HANDLE…", short: "Watch up to ten creators: a brief, a scroll and their first outliers", answer: &pb.ListOutliersResponse{},
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > mostWatched {
				return wrongUse("%s takes 1 to %d handles or links, such as @name or https://www.youtube.com/@name", cmd.CommandPath(), mostWatched)
			}
			return nil
		},
		long: "Makes a brief of the creators that you watch, starts a scroll, follows it to its end and lists the videos that are far\n" +
			"above what is usual for their creator. Handles of YouTube need no key of a platform. It never changes a brief that you\n" +
			"wrote: there, add the creators with `brief set --competitor`, then `scroll start`.",
		example: "  scrollery scroll try @mkbhd @veritasium\n  scrollery scroll try https://www.youtube.com/@mkbhd --jq '.outliers[].video.sourceUrl'",
		run: func(c *call, args []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			if err := c.watch(client, args); err != nil {
				return err
			}
			key := "cli-" + rand.Text()
			started, err := create(c.ctx, client, &pb.CreateScrollRequest{IdempotencyKey: &key})
			if err != nil {
				return err
			}
			scroll, err := c.follow(client, started.GetScroll())
			if err != nil {
				return err
			}
			return c.firstOutliers(client, scroll)
		},
	})
}

// watch makes the brief of creators, or replaces the one that an earlier try made.
func (c *call) watch(client *client, creators []string) error {
	got, err := ask[*pb.GetWorkspaceResponse](c.ctx, client, &pb.GetWorkspaceRequest{})
	if err != nil {
		return err
	}
	if there := got.GetWorkspace(); there != nil && there.GetName() != watchedName {
		return errors.New("the account has a brief, which is left as it is: add creators with `scrollery brief set --competitor`, then `scrollery scroll start --follow`")
	}
	name, description := watchedName, "The creators that I watch: "+strings.Join(creators, ", ")
	if got.GetWorkspace() != nil {
		_, err = ask[*pb.UpdateWorkspaceResponse](c.ctx, client, &pb.UpdateWorkspaceRequest{Description: &description, Competitors: creators})
		return err
	}
	_, err = ask[*pb.SetWorkspaceResponse](c.ctx, client, &pb.SetWorkspaceRequest{Name: &name, Description: &description, Competitors: creators})
	return err
}

// firstOutliers shows what a scroll brought. Without any video, it says why.
func (c *call) firstOutliers(client *client, scroll *pb.Scroll) error {
	brought := int32(0)
	for _, one := range scroll.GetProgress().GetCoverage() {
		brought += one.GetReturned()
		if one.GetReturned() == 0 && one.GetPlatform() == "youtube" && one.GetOutcome() != "unsupported" {
			c.note("%s: %s", one.GetSeed(), one.GetOutcome())
		}
	}
	if brought == 0 {
		c.note("No video came. If the outcome is blocked, the server may have no network: `scrollery serve --sample` has a library of\n" +
			"invented videos that needs none. `scrollery plugins try youtube-feed --seed @name` shows the reason.")
		return fmt.Errorf("%w %s is %s and brought no video", errScroll, scroll.GetId(), scroll.GetStatus())
	}
	limit := int32(firstOutliers)
	got, err := ask[*pb.ListOutliersResponse](c.ctx, client, &pb.ListOutliersRequest{Limit: &limit})
	if err != nil {
		return err
	}
	return c.show(got, func() error {
		if err := c.out.Say("%s videos, %s outliers of their creators", fmt.Sprint(brought), fmt.Sprint(len(got.GetOutliers()))); err != nil {
			return err
		}
		return table(c, got.GetOutliers(), outlierColumns())
	})
}
