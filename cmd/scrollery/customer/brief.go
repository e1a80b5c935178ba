package customer

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) brief() *cobra.Command {
	return group("brief", "Show and change the brief: what you sell, and whom to watch", p.briefGet(), p.briefSet(), p.briefDraft())
}

func (p *program) briefGet() *cobra.Command {
	return p.command(spec{
		use: "get", short: "Show the brief", answer: &pb.GetWorkspaceResponse{},
		long: "Shows the brief of the workspace.", example: "  scrollery brief get\n  scrollery brief get --jq .workspace.competitors",
		run: func(c *call, _ []string) error {
			got, err := askOnce[*pb.GetWorkspaceResponse](c, &pb.GetWorkspaceRequest{})
			if err != nil {
				return err
			}
			if got.GetWorkspace() == nil {
				c.note("There is no brief: see `scrollery brief set --help`.")
			}
			return c.show(got, func() error { return c.briefWords(got.GetWorkspace()) })
		},
	})
}

func (c *call) briefWords(w *pb.Workspace) error {
	if w == nil {
		return nil
	}
	return c.out.Pairs("workspace", w.GetId(), "name", w.GetName(), "description", w.GetDescription(), "website", w.GetWebsite(),
		"app", w.GetAppStoreUrl(), "competitors", strings.Join(w.GetCompetitors(), ", "), "subject", w.GetCanonicalId(),
		"rules version", w.GetRulesVersion(), "created", show.Millis(w.GetCreatedAt()), "changed", show.Millis(w.GetUpdatedAt()))
}

func (p *program) briefDraft() *cobra.Command {
	var focus, collection string
	command := p.command(spec{
		use: "draft", short: "Draft a creative brief from the library, with citations", answer: &pb.DraftBriefResponse{},
		long: "Drafts a short creative brief from outliers, hooks and trends. Every sentence has the ids of the videos and trends\n" +
			"that it rests on. It costs 50 credits, unless the library has nothing to draft from.",
		example: "  scrollery brief draft\n  scrollery brief draft --focus \"the first three seconds\" --json sentences",
		run: func(c *call, _ []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			request := &pb.DraftBriefRequest{}
			if focus != "" {
				request.Focus = &focus
			}
			if collection != "" {
				request.CollectionId = &collection
			}
			got, err := ask[*pb.DraftBriefResponse](c.ctx, client, request)
			if err != nil {
				return err
			}
			if got.GetStatus() == "insufficient_history" {
				c.note("The library has no outliers, hooks or trends yet: nothing was drafted or charged.")
			}
			return c.show(got, func() error { return c.draftWords(got) })
		},
	})
	command.Flags().StringVar(&focus, "focus", "", "what the brief is to be about, in `WORDS`; a server without a model refuses it")
	command.Flags().StringVar(&collection, "collection", "", "the `ID` of a collection, whose first 50 videos it rests on alone")
	return command
}

func (c *call) draftWords(got *pb.DraftBriefResponse) error {
	return errors.Join(
		table(c, got.GetSentences(), []show.Column[*pb.BriefSentence]{
			{Name: "part", Cell: func(s *pb.BriefSentence) any { return s.GetPart() }},
			{Name: "sentence", Cell: func(s *pb.BriefSentence) any { return s.GetText() }},
			{Name: "rests on", Cell: func(s *pb.BriefSentence) any {
				return cmp.Or(strings.Join(append(s.GetVideoIds(), s.GetTrendKeys()...), " "), "-")
			}},
		}),
		c.each("note", got.GetNotes()),
	)
}

func (p *program) briefSet() *cobra.Command {
	var name, description, website, app string
	var competitors []string
	var none, archive bool
	var command *cobra.Command
	command = p.command(spec{
		use: "set [FLAGS]", short: "Create the brief, or change the parts that are given", answer: &pb.Workspace{},
		long: "Changes the parts that are given, and creates the brief where there is none. Competitors replace the whole list.",
		example: "  scrollery brief set --description \"A hand grinder for coffee\" --competitor @brewfox.example --competitor @cremalab.example\n" +
			"  scrollery brief set --description - < brief.txt",
		run: func(c *call, _ []string) error {
			if none && len(competitors) > 0 {
				return wrongUse("--no-competitors goes without --competitor")
			}
			if command.Flags().NFlag() == 0 {
				return wrongUse("nothing to set")
			}
			if description == "-" {
				text, err := c.input("-")
				if err != nil {
					return err
				}
				description = strings.TrimSpace(text)
			}
			given := func(flag string, value *string) *string {
				if command.Flags().Changed(flag) {
					return value
				}
				return nil
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			have, err := ask[*pb.GetWorkspaceResponse](c.ctx, client, &pb.GetWorkspaceRequest{})
			if err != nil {
				return err
			}
			var now *pb.Workspace
			if have.GetWorkspace() == nil {
				set, err := ask[*pb.SetWorkspaceResponse](c.ctx, client, &pb.SetWorkspaceRequest{
					Name: given("name", &name), Description: given("description", &description), Website: given("website", &website),
					AppStoreUrl: given("app-store-url", &app), Competitors: competitors, ClearCompetitors: &none,
				})
				if err != nil {
					return err
				}
				now = set.GetWorkspace()
			} else {
				set, err := ask[*pb.UpdateWorkspaceResponse](c.ctx, client, &pb.UpdateWorkspaceRequest{
					Name: given("name", &name), Description: given("description", &description), Website: given("website", &website),
					AppStoreUrl: given("app-store-url", &app), Competitors: competitors, ClearCompetitors: &none, ArchivePriorSubject: &archive,
				})
				if err != nil {
					return err
				}
				if now = set.GetWorkspace(); set.GetArchivedVideos() > 0 {
					c.note("%s videos of the prior subject are archived.", float64(set.GetArchivedVideos()))
				}
			}
			return c.show(now, func() error { return c.briefWords(now) })
		},
	})
	flags := command.Flags()
	flags.StringVar(&name, "name", "", "`NAME` of the workspace")
	flags.StringVar(&description, "description", "", "your product in plain words; - reads stdin")
	flags.StringVar(&website, "website", "", "public https `URL` of your site")
	flags.StringVar(&app, "app-store-url", "", "public https `URL` of your app")
	flags.StringArrayVar(&competitors, "competitor", nil, "`HANDLE`, address or name of a competitor; give it again for more")
	flags.BoolVar(&none, "no-competitors", false, "empty the list of competitors")
	flags.BoolVar(&archive, "archive-prior-subject", false, "archive the videos of the prior subject where it changes")
	return command
}
