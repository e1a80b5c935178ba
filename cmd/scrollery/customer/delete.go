package customer

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// errNothing is the error of a deletion that names nothing that the library has.
var errNothing = errors.New("the library has nothing of that name")

func (p *program) libraryDelete() *cobra.Command {
	var video, creator, platform, brought, source string
	var dryRun bool
	command := p.command(spec{
		use: "delete --video ID | --creator HANDLE --platform NAME | --import ID | --source ID", short: "Delete from the library",
		answer: &pb.DeleteFromLibraryResponse{},
		long: "Deletes a video, a creator, what an import brought, or what a source has read. Scrolls and imports leave it out from then\n" +
			"on. `library undelete` brings it back within 24 hours. --dry-run counts and deletes nothing.",
		example: "  scrollery library delete --video vid_…\n  scrollery library delete --creator @brewfox.example --platform tiktok --dry-run\n" +
			"  scrollery library delete --source youtube",
		run: func(c *call, _ []string) error {
			request := &pb.DeleteFromLibraryRequest{DryRun: &dryRun}
			for text, field := range map[*string]**string{
				&video: &request.VideoId, &creator: &request.Creator, &platform: &request.Platform, &brought: &request.ImportId, &source: &request.SourceId,
			} {
				if *text != "" {
					*field = text
				}
			}
			got, err := askOnce[*pb.DeleteFromLibraryResponse](c, request)
			if err != nil {
				return err
			}
			if got.GetOutcome() == "not_found" {
				return errNothing
			}
			return c.show(got, func() error {
				return c.out.Pairs("outcome", got.GetOutcome(), "videos", atLeast(got, got.GetVideos()), "readings", atLeast(got, got.GetReadings()),
					"deletion", got.GetDeletion().GetId(), "undo until", show.Millis(got.GetDeletion().GetUndoUntil()), "scores to come", got.GetScoresPending())
			})
		},
	})
	flags := command.Flags()
	flags.StringVar(&video, "video", "", "the `ID` of a video")
	flags.StringVar(&creator, "creator", "", "the `HANDLE` of a creator, with --platform")
	flags.StringVar(&platform, "platform", "", "the `NAME` of the creator's platform, as tiktok")
	flags.StringVar(&brought, "import", "", "the `ID` of an import")
	flags.StringVar(&source, "source", "", "the `ID` of a source, as youtube")
	flags.BoolVar(&dryRun, "dry-run", false, "count what would be deleted, and delete nothing")
	return command
}

// atLeast is a number of a deletion, with the word that there may be more.
func atLeast(got *pb.DeleteFromLibraryResponse, n int32) any {
	if got.GetAtLeast() {
		return fmt.Sprintf("at least %d", n)
	}
	return n
}

func (p *program) libraryUndelete() *cobra.Command {
	return p.command(spec{
		use: "undelete ID", short: "Undo a deletion", answer: &pb.Deletion{}, args: oneArg("the id of a deletion"),
		long:    "Brings back what a deletion deleted, within 24 hours. Later, it only lets scrolls and imports bring it again.",
		example: "  scrollery library undelete del_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.UndoLibraryDeletionResponse](c, &pb.UndoLibraryDeletionRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no deletion %s", args[0])
			}
			return c.show(got.GetDeletion(), func() error {
				return c.out.Pairs("deletion", args[0], "status", got.GetDeletion().GetStatus(), "videos", got.GetDeletion().GetVideos())
			})
		},
	})
}

func (p *program) libraryDeletions() *cobra.Command {
	return list(p, listing[*pb.ListLibraryDeletionsRequest, *pb.ListLibraryDeletionsResponse, *pb.Deletion]{
		spec: spec{
			use: "deletions", short: "List deletions, newest first", long: "Lists what was deleted from the library. `library undelete` undoes one.",
			example: "  scrollery library deletions\n  scrollery library deletions --jq '.[0].id'",
		},
		page: 100, request: func() *pb.ListLibraryDeletionsRequest { return &pb.ListLibraryDeletionsRequest{} },
		items: (*pb.ListLibraryDeletionsResponse).GetDeletions,
		none:  func(*pb.ListLibraryDeletionsResponse) string { return "Nothing was deleted." },
		columns: []show.Column[*pb.Deletion]{
			{Name: "deletion", Cell: func(d *pb.Deletion) any { return d.GetId() }},
			{Name: "status", Cell: func(d *pb.Deletion) any { return d.GetStatus() }},
			{Name: "what", Cell: func(d *pb.Deletion) any { return d.GetWhat() }},
			{Name: "videos", Cell: func(d *pb.Deletion) any { return d.GetVideos() }},
			{Name: "created", Cell: func(d *pb.Deletion) any { return show.Millis(d.GetCreatedAt()) }},
			{Name: "undo until", Cell: func(d *pb.Deletion) any { return show.Millis(d.GetUndoUntil()) }},
		},
	})
}
