package customer

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) importUndo() *cobra.Command {
	return p.command(spec{
		use: "undo ID", short: "Undo an import", answer: &pb.Import{}, args: oneArg("the id of an import"),
		long: "Deletes the readings of an import, and the videos that nothing else has read, within seven days of its end; waits until\n" +
			"that is done. Undoing an import again changes nothing. `import list` has the ids. A file of the name undo is ./undo.",
		example: "  scrollery import undo imp_…",
		run: func(c *call, args []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			got, err := ask[*pb.UndoImportResponse](c.ctx, client, &pb.UndoImportRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no import %s: `scrollery import list` has their ids", args[0])
			}
			ended, err := c.followImport(client, got.GetImport())
			if err != nil {
				return err
			}
			return c.show(ended, func() error {
				return c.out.Pairs("import", ended.GetId(), "file", ended.GetName(), "status", ended.GetStatus())
			})
		},
	})
}

func (p *program) importList() *cobra.Command {
	return list(p, listing[*pb.ListImportsRequest, *pb.ListImportsResponse, *pb.Import]{
		spec: spec{
			use: "list", short: "List imports, newest first", long: "Lists imports. `import undo` undoes one.",
			example: "  scrollery import list\n  scrollery import list --limit 1 --jq '.[0].id'",
		},
		page: 100, request: func() *pb.ListImportsRequest { return &pb.ListImportsRequest{} },
		items: (*pb.ListImportsResponse).GetImports,
		none:  func(*pb.ListImportsResponse) string { return "Nothing was imported." },
		columns: []show.Column[*pb.Import]{
			{Name: "import", Cell: func(i *pb.Import) any { return i.GetId() }},
			{Name: "file", Cell: func(i *pb.Import) any { return i.GetName() }, Cut: 40},
			{Name: "status", Cell: func(i *pb.Import) any { return i.GetStatus() }},
			{Name: "new videos", Cell: func(i *pb.Import) any { return i.GetNewVideos() }},
			{Name: "created", Cell: func(i *pb.Import) any { return show.Millis(i.GetCreatedAt()) }},
			{Name: "undo until", Cell: func(i *pb.Import) any { return show.Millis(i.GetUndoUntil()) }},
		},
	})
}
