package customer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (p *program) change() *cobra.Command {
	return group("change", "Read the change feed", p.changeTail(), p.changeList())
}

// errEnough ends a feed from inside.
var errEnough = errors.New("enough changes")

// since are the flags of where a feed begins.
type since struct{ cursor, types string }

func (s *since) flags(command *cobra.Command, begin string) {
	command.Flags().StringVar(&s.cursor, "since", begin, "`CURSOR` to begin after; start for the oldest change that is kept, now for new ones")
	command.Flags().StringVar(&s.types, "types", "", "only these `KINDS` of changes, separated by commas, as scroll.completed")
}

func (s *since) request() *pb.ListChangesRequest {
	request := &pb.ListChangesRequest{}
	if s.cursor != "start" {
		request.PageToken = &s.cursor
	}
	if s.types != "" {
		request.Types = &s.types
	}
	return request
}

func (p *program) changeTail() *cobra.Command {
	var from since
	var most int
	command := p.command(spec{
		use: "tail [--since CURSOR]", short: "Print changes as they happen", answer: &pb.WatchChangesResponse{},
		long: "Prints each change on a line, until it is interrupted. A break of the connection loses none. With --json a line has\n" +
			"the change and nextCursor, where --since goes on later.",
		example: "  scrollery change tail --types scroll.completed,scroll.failed\n  scrollery change tail --since start --limit 100 --json all\n" +
			"  scrollery change tail --jq 'select(.change.type == \"outlier.entered\").change.videoId'",
		run: func(c *call, _ []string) error {
			if most < 0 {
				return wrongUse("--limit %d is below 0", most)
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			count := 0
			err = c.tail(client, from, func(got *pb.WatchChangesResponse) error {
				count++
				err := c.show(got, func() error { return c.changeLine(got.GetChange()) })
				if err == nil && most > 0 && count >= most {
					return errEnough
				}
				return err
			})
			if errors.Is(err, errEnough) || c.ctx.Err() != nil {
				return nil
			}
			return err
		},
	})
	from.flags(command, "now")
	command.Flags().IntVar(&most, "limit", 0, "end after this many changes; 0 for never")
	return command
}

func (c *call) changeLine(change *pb.Change) error {
	line := show.Millis(change.GetAt()).String() + "\t" + fmt.Sprintf("%-20s", change.GetType())
	for _, part := range append([]string{change.GetVideoId(), change.GetScrollId()}, abouts(change)...) {
		if part != "" {
			line += "\t" + part
		}
	}
	if change.Old != nil || change.New != nil {
		line += fmt.Sprintf("\t%g → %g", change.GetOld(), change.GetNew())
	}
	return c.text(line)
}

// abouts are what a change is about, beside a video and a scroll.
func abouts(change *pb.Change) []string {
	return []string{change.GetKeyId(), change.GetWorkspaceId(), change.GetKeyHash(), change.GetStage(), change.GetFailureCode(), change.GetStatus()}
}

func about(change *pb.Change) any { return strings.TrimSpace(strings.Join(abouts(change), " ")) }

// tail gives each change to seen, from a cursor on and without a gap, until the context
// ends or seen returns an error.
func (c *call) tail(client *client, from since, seen func(*pb.WatchChangesResponse) error) error {
	request := &pb.WatchChangesRequest{PageToken: from.request().PageToken, Types: from.request().Types}
	if from.cursor == "now" { // fixed here, so that a break loses nothing
		one := int32(1)
		first := from.request()
		first.PageSize = &one
		got, err := ask[*pb.ListChangesResponse](c.ctx, client, first)
		if err != nil {
			return err
		}
		cursor := got.GetNextPageToken()
		request.PageToken = &cursor
	}
	silent := time.Now()
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		var stopped error
		err := receive(c.ctx, client, request, func(got *pb.WatchChangesResponse) error {
			silent, wait = time.Now(), retryFirst
			if stopped = seen(got); stopped != nil {
				return stopped
			}
			cursor := got.GetNextPageToken()
			request.PageToken = &cursor
			return nil
		})
		switch {
		case stopped != nil:
			return stopped
		case c.ctx.Err() != nil:
			return context.Cause(c.ctx)
		case err != nil && !broken(err):
			limit, limited := limitedFor(err)
			if !limited || limit > maxPatience {
				return err
			}
			wait = limit
		case err == nil:
			silent = time.Now() // the server ended the stream in good order
		case time.Since(silent) > outage:
			return fmt.Errorf("the server has not answered for %v: %w", outage, err)
		}
		if err := pause(c.ctx, wait); err != nil {
			return err
		}
	}
}

func (p *program) changeList() *cobra.Command {
	filters := []filter{{flag: "types", field: "types", usage: "only these `KINDS` of changes, separated by commas, as scroll.completed", kind: textFilter}}
	filters = append(filters, filter{flag: "since", field: "page_token", usage: "`CURSOR` to begin after (default: the oldest change that is kept)", kind: textFilter})
	return list(p, listing[*pb.ListChangesRequest, *changePage, *pb.Change]{
		spec: spec{
			use: "list [--since CURSOR]", short: "List changes, oldest first", long: "Lists the changes that are kept, 30 days.",
			example: "  scrollery change list --types scroll.failed --all\n  scrollery change list --csv",
		},
		page: 500, request: func() *pb.ListChangesRequest { return &pb.ListChangesRequest{} },
		call: func(ctx context.Context, c *client, request *pb.ListChangesRequest) (*changePage, error) {
			got, err := ask[*pb.ListChangesResponse](ctx, c, request)
			return &changePage{got}, err
		},
		items: func(p *changePage) []*pb.Change { return p.GetChanges() }, filters: filters,
		none: func(*changePage) string { return "There are no such changes." },
		columns: []show.Column[*pb.Change]{
			{Name: "change", Cell: func(o *pb.Change) any { return o.GetId() }},
			{Name: "at", Cell: func(o *pb.Change) any { return show.Millis(o.GetAt()) }},
			{Name: "type", Cell: func(o *pb.Change) any { return o.GetType() }},
			{Name: "video", Cell: func(o *pb.Change) any { return o.GetVideoId() }},
			{Name: "scroll", Cell: func(o *pb.Change) any { return o.GetScrollId() }},
			{Name: "about", Cell: about, Cut: 34},
			{Name: "old", Cell: func(o *pb.Change) any { return number(o.Old) }},
			{Name: "new", Cell: func(o *pb.Change) any { return number(o.New) }},
		},
	})
}

// changePage ends if there are no later changes: the feed always has a next cursor.
type changePage struct{ *pb.ListChangesResponse }

func (p *changePage) GetNextPageToken() string {
	if !p.GetMore() {
		return ""
	}
	return p.ListChangesResponse.GetNextPageToken()
}
