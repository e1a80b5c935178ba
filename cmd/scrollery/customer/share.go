package customer

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// shareCommands are those of public pages.
func shareCommands(p *program) *cobra.Command {
	return group("share", "Show a video or a collection on a public page", shareCreate(p), shareList(p), shareRevoke(p))
}

func shareCreate(p *program) *cobra.Command {
	var title string
	var days int
	command := p.command(spec{
		use: "create ID --title WORDS", short: "Make a frozen public page", answer: &pb.CreateShareResponse{}, args: oneArg("the id of a video or a collection"),
		long: "Freezes a video, or the first 100 of a collection without their notes, on a page that needs no key. Its address is shown once." +
			" The page loses what is deleted from the library.",
		example: "  scrollery share create vid_… --title \"Five times its usual views\"\n  scrollery share create col_… --title \"Openings to try\" --days 7",
		run: func(c *call, args []string) error {
			if title == "" {
				return wrongUse("--title is needed")
			}
			kind := "video"
			if strings.HasPrefix(args[0], "col_") {
				kind = "collection"
			}
			request := &pb.CreateShareRequest{Kind: &kind, Id: &args[0], Title: &title}
			if days > 0 {
				end := float64(time.Now().AddDate(0, 0, days).UnixMilli())
				request.ExpiresAt = &end
			}
			got, err := askOnce[*pb.CreateShareResponse](c, request)
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no %s %s, or it is empty", kind, args[0])
			}
			return c.show(got, func() error {
				return c.out.Pairs("share", got.GetShare().GetId(), "page", got.GetUrl(), "ends", show.Millis(got.GetShare().GetExpiresAt()))
			})
		},
	})
	command.Flags().StringVar(&title, "title", "", "the heading of the page, in `WORDS`")
	command.Flags().IntVar(&days, "days", 0, "how many `DAYS` the page lasts, at most 365 (default 30)")
	return command
}

func shareList(p *program) *cobra.Command {
	return list(p, listing[*pb.ListSharesRequest, *pb.ListSharesResponse, *pb.Share]{
		spec: spec{
			use: "list", short: "List public pages, newest first", long: "Lists the public pages that have not ended, with how often each was read.",
			example: "  scrollery share list",
		},
		page: 100, request: func() *pb.ListSharesRequest { return &pb.ListSharesRequest{} },
		items: (*pb.ListSharesResponse).GetShares,
		none:  func(*pb.ListSharesResponse) string { return "There are no public pages." },
		columns: []show.Column[*pb.Share]{
			{Name: "share", Cell: func(s *pb.Share) any { return s.GetId() }},
			{Name: "of", Cell: func(s *pb.Share) any { return s.GetKind() }},
			{Name: "title", Cell: func(s *pb.Share) any { return s.GetTitle() }, Cut: 50},
			{Name: "views", Cell: func(s *pb.Share) any { return s.GetViews() }},
			{Name: "ends", Cell: func(s *pb.Share) any { return show.Millis(s.GetExpiresAt()) }},
		},
	})
}

func shareRevoke(p *program) *cobra.Command {
	return p.command(spec{
		use: "revoke ID", short: "End a public page at once", answer: &pb.RevokeShareResponse{}, args: oneArg("the id of a share"),
		long: "Ends a public page at once and deletes what it showed.", example: "  scrollery share revoke shr_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.RevokeShareResponse](c, &pb.RevokeShareRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no share %s", args[0])
			}
			return c.show(got, func() error { return c.out.Pairs("share", args[0], "revoked", true) })
		},
	})
}
