package customer

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// collections makes the commands of collections.
type collections struct{ program *program }

func (p collections) all() *cobra.Command {
	return group("collection", "Keep named, ordered collections of videos",
		p.list(), p.show(), p.create(), p.set(), p.add(), p.remove(), p.move(), p.delete())
}

// noCollection is the error of an id that names none.
func noCollection(id string) error { return fmt.Errorf("there is no collection %s", id) }

func (p collections) list() *cobra.Command {
	return list(p.program, listing[*pb.ListCollectionsRequest, *pb.ListCollectionsResponse, *pb.Collection]{
		spec: spec{
			use: "list", short: "List collections, newest first", long: "Lists the collections of the account; it may have 200.",
			example: "  scrollery collection list\n  scrollery collection list --jq '.[0].id'",
		},
		page: 100, request: func() *pb.ListCollectionsRequest { return &pb.ListCollectionsRequest{} },
		items: (*pb.ListCollectionsResponse).GetCollections,
		none:  func(*pb.ListCollectionsResponse) string { return "There are no collections." },
		columns: []show.Column[*pb.Collection]{
			{Name: "collection", Cell: func(c *pb.Collection) any { return c.GetId() }},
			{Name: "name", Cell: func(c *pb.Collection) any { return c.GetName() }, Cut: 40},
			{Name: "videos", Cell: func(c *pb.Collection) any { return c.GetVideos() }},
			{Name: "note", Cell: func(c *pb.Collection) any { return c.GetNote() }, Cut: 50},
			{Name: "changed", Cell: func(c *pb.Collection) any { return show.Millis(c.GetUpdatedAt()) }},
		},
	})
}

func (p collections) show() *cobra.Command {
	return list(p.program, listing[*pb.GetCollectionRequest, *pb.GetCollectionResponse, *pb.CollectedVideo]{
		spec: spec{
			use: "show ID", short: "List the videos of a collection, in their order", args: oneArg("the id of a collection"),
			long:    "Lists the videos of a collection with their notes, in their order." + formats,
			example: "  scrollery collection show col_…\n  scrollery collection show col_… --all --csv > collection.csv",
		},
		page: 100, request: func() *pb.GetCollectionRequest { return &pb.GetCollectionRequest{} },
		prepare: func(args []string, request *pb.GetCollectionRequest) error {
			request.Id = &args[0]
			return nil
		},
		items: (*pb.GetCollectionResponse).GetVideos,
		none: func(got *pb.GetCollectionResponse) string {
			if !got.GetFound() {
				return "There is no such collection."
			}
			return "The collection is empty."
		},
		columns: []show.Column[*pb.CollectedVideo]{
			{Name: "video", Cell: func(v *pb.CollectedVideo) any { return v.GetItem().GetVideo().GetId() }},
			{Name: "note", Cell: func(v *pb.CollectedVideo) any { return v.GetNote() }, Cut: 40},
			{Name: "score", Cell: func(v *pb.CollectedVideo) any { return number(v.GetItem().Score) }},
			{Name: "views", Cell: func(v *pb.CollectedVideo) any { return number(v.GetItem().GetVideo().GetMetrics().Views) }},
			{Name: "platform", Cell: func(v *pb.CollectedVideo) any { return v.GetItem().GetVideo().GetPlatform() }, Cut: 12},
			{Name: "creator", Cell: func(v *pb.CollectedVideo) any { return handle(v.GetItem().GetVideo()) }, Cut: 24},
			{Name: "caption", Cell: func(v *pb.CollectedVideo) any { return caption(v.GetItem().GetVideo()) }, Cut: 50},
		},
	})
}

// collectionWords prints a collection after a change.
func (c *call) collectionWords(got *pb.Collection, more ...any) error {
	return c.show(got, func() error {
		return c.out.Pairs(append([]any{"collection", got.GetId(), "name", got.GetName(), "note", got.GetNote(), "videos", got.GetVideos()}, more...)...)
	})
}

func (p collections) create() *cobra.Command {
	var note string
	command := p.program.command(spec{
		use: "create NAME", short: "Create an empty collection", answer: &pb.Collection{}, args: oneArg("a name"),
		long:    "Creates an empty collection. A name that is taken returns that collection as it is.",
		example: "  scrollery collection create \"Openings to try\" --note \"for spring\"",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.CreateCollectionResponse](c, &pb.CreateCollectionRequest{Name: &args[0], Note: &note})
			if err != nil {
				return err
			}
			return c.collectionWords(got.GetCollection(), "outcome", got.GetOutcome())
		},
	})
	command.Flags().StringVar(&note, "note", "", "what it is for, in `WORDS`")
	return command
}

func (p collections) set() *cobra.Command {
	var name, note string
	var command *cobra.Command
	command = p.program.command(spec{
		use: "set ID", short: "Change the name or the note of a collection", answer: &pb.Collection{}, args: oneArg("the id of a collection"),
		long:    "Changes what is given.",
		example: "  scrollery collection set col_… --name \"Openings of the spring\"\n  scrollery collection set col_… --note \"\"",
		run: func(c *call, args []string) error {
			request := &pb.UpdateCollectionRequest{Id: &args[0]}
			if command.Flags().Changed("name") {
				request.Name = &name
			}
			if command.Flags().Changed("note") {
				request.Note = &note
			}
			if request.Name == nil && request.Note == nil {
				return wrongUse("nothing to set")
			}
			got, err := askOnce[*pb.UpdateCollectionResponse](c, request)
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return noCollection(args[0])
			}
			return c.collectionWords(got.GetCollection())
		},
	})
	command.Flags().StringVar(&name, "name", "", "the new `NAME`")
	command.Flags().StringVar(&note, "note", "", "the new note, in `WORDS`; empty for none")
	return command
}

// idAndVideos are the arguments of a command on videos of a collection.
func idAndVideos(cmd *cobra.Command, args []string) error {
	if len(args) < 2 || len(args) > 101 {
		return wrongUse("%s takes the id of a collection and 1 to 100 ids of videos", cmd.CommandPath())
	}
	return nil
}

func (p collections) add() *cobra.Command {
	var note string
	var command *cobra.Command
	command = p.program.command(spec{
		use: "add ID VIDEO...", short: "Add videos to the end of a collection", answer: &pb.AddToCollectionResponse{}, args: idAndVideos,
		long:    "Adds up to 100 videos behind the last one; a collection may have 500. One that is in it keeps its place.",
		example: "  scrollery collection add col_… vid_… vid_…\n  scrollery collection add col_… vid_… --note \"the cut at 2 s\"",
		run: func(c *call, args []string) error {
			request := &pb.AddToCollectionRequest{Id: &args[0], VideoIds: args[1:]}
			if command.Flags().Changed("note") {
				request.Note = &note
			}
			got, err := askOnce[*pb.AddToCollectionResponse](c, request)
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return noCollection(args[0])
			}
			for _, id := range got.GetMissing() {
				c.note("The library has no video %s.", id)
			}
			return c.show(got, func() error {
				return c.out.Pairs("collection", args[0], "added", got.GetAdded(), "videos", got.GetCollection().GetVideos())
			})
		},
	})
	command.Flags().StringVar(&note, "note", "", "why they are there, in `WORDS`; empty clears the note")
	return command
}

func (p collections) remove() *cobra.Command {
	return p.program.command(spec{
		use: "remove ID VIDEO...", short: "Take videos out of a collection", answer: &pb.RemoveFromCollectionResponse{}, args: idAndVideos,
		long:    "Takes up to 100 videos out of a collection. They stay in the library.",
		example: "  scrollery collection remove col_… vid_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.RemoveFromCollectionResponse](c, &pb.RemoveFromCollectionRequest{Id: &args[0], VideoIds: args[1:]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return noCollection(args[0])
			}
			return c.show(got, func() error {
				return c.out.Pairs("collection", args[0], "removed", got.GetRemoved(), "videos", got.GetCollection().GetVideos())
			})
		},
	})
}

func (p collections) move() *cobra.Command {
	var before, after string
	command := p.program.command(spec{
		use: "move ID VIDEO --before VIDEO | --after VIDEO", short: "Move a video within a collection", answer: &pb.MoveInCollectionResponse{},
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return wrongUse("%s takes the id of a collection and that of a video", cmd.CommandPath())
			}
			return nil
		},
		long: "Moves a video to the place before or after another one.", example: "  scrollery collection move col_… vid_… --after vid_…",
		run: func(c *call, args []string) error {
			request := &pb.MoveInCollectionRequest{Id: &args[0], VideoId: &args[1]}
			switch {
			case (before == "") == (after == ""):
				return wrongUse("either --before or --after is needed, and not both")
			case before != "":
				request.Before = &before
			default:
				request.After = &after
			}
			got, err := askOnce[*pb.MoveInCollectionResponse](c, request)
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return fmt.Errorf("there is no collection %s with both videos", args[0])
			}
			return c.show(got, func() error { return c.out.Pairs("collection", args[0], "moved", args[1]) })
		},
	})
	command.Flags().StringVar(&before, "before", "", "the `ID` of the video that follows it then")
	command.Flags().StringVar(&after, "after", "", "the `ID` of the video that it follows then")
	return command
}

func (p collections) delete() *cobra.Command {
	return p.program.command(spec{
		use: "delete ID", short: "Delete a collection", answer: &pb.DeleteCollectionResponse{}, args: oneArg("the id of a collection"),
		long: "Deletes a collection. Its videos stay in the library.", example: "  scrollery collection delete col_…",
		run: func(c *call, args []string) error {
			got, err := askOnce[*pb.DeleteCollectionResponse](c, &pb.DeleteCollectionRequest{Id: &args[0]})
			if err != nil {
				return err
			}
			if !got.GetFound() {
				return noCollection(args[0])
			}
			return c.show(got, func() error { return c.out.Pairs("collection", args[0], "deleted", true) })
		},
	})
}
