package changes

import (
	"context"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a page when the caller names none.
const defaultPage = 100

// Operations returns the module's operations.
func Operations(s *Service) api.Operations {
	r := &rpc{s}
	return func(m *api.Mux) {
		api.Unary(m, "ListChanges", r.list, func(_ context.Context, req *pb.ListChangesRequest) error {
			if req.Since != nil && req.GetPageToken() != "" {
				return apierr.Invalid("since", "stands in place of a cursor: send one of both")
			}
			return check(req.GetPageToken(), req.GetTypes())
		})
		api.Unary(m, "SummarizeChanges", r.summarize)
		api.Stream(m, "WatchChanges", r.watch, func(_ context.Context, req *pb.WatchChangesRequest) error {
			return check(req.GetPageToken(), req.GetTypes())
		})
	}
}

type rpc struct{ service *Service }

// check reports the faults of a request's cursor and kinds together.
func check(cursor, types string) error {
	var issues []apierr.Issue
	_, fault := Parse("pageToken", cursor)
	_, other := ParseTypes("types", types)
	for _, err := range []error{fault, other} {
		if found := apierr.As(err); found != nil {
			issues = append(issues, found.Issues...)
		}
	}
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

// begin returns what a checked request asks for.
func (r *rpc) begin(ctx context.Context, cursor string, since int64, list string) (after int64, types Types, err error) {
	from, err := Parse("pageToken", cursor)
	if err != nil {
		return 0, nil, err
	}
	from.Since = since
	if types, err = ParseTypes("types", list); err != nil {
		return 0, nil, err
	}
	after, err = r.service.Start(ctx, from)
	return after, types, err
}

func (r *rpc) list(ctx context.Context, req *pb.ListChangesRequest) (*pb.ListChangesResponse, error) {
	after, types, err := r.begin(ctx, req.GetPageToken(), int64(req.GetSince()), req.GetTypes())
	if err != nil {
		return nil, err
	}
	most := defaultPage
	if req.PageSize != nil {
		most = int(*req.PageSize)
	}
	page, err := r.service.Read(ctx, after, types, most)
	if err == nil && len(page.Changes) == 0 && req.GetWait() > 0 {
		err = api.Waiting(ctx, func(ctx context.Context) (err error) {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(req.GetWait())*time.Second)
			defer cancel()
			page, err = r.service.Await(ctx, page.Next, types, most)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	resp := &pb.ListChangesResponse{NextPageToken: Cursor(page.Next), More: page.More}
	for i := range page.Changes {
		resp.Changes = append(resp.Changes, message(&page.Changes[i]))
	}
	return resp, nil
}

// summarize sums up the last day, or the time since the caller's.
func (r *rpc) summarize(ctx context.Context, req *pb.SummarizeChangesRequest) (*pb.SummarizeChangesResponse, error) {
	since := r.service.now().Add(-sumsFor).UnixMilli()
	if req.Since != nil {
		since = int64(req.GetSince())
	}
	sum, err := r.service.Summarize(ctx, since)
	if err != nil {
		return nil, err
	}
	resp := &pb.SummarizeChangesResponse{
		Since: float64(sum.Since), OutliersEntered: named(sum.Entered), OutliersLeft: named(sum.Left), Gained: named(sum.Gained),
		TrendsLeft: int32(sum.TrendsLeft), FeedCursor: Cursor(sum.Next),
	}
	for _, kind := range feed.Kinds() {
		if n := sum.Counts[kind]; n > 0 {
			resp.Counts = append(resp.Counts, &pb.ChangeCount{Type: string(kind), Count: int32(n)})
		}
	}
	for _, trend := range sum.Trends {
		resp.TrendsEntered = append(resp.TrendsEntered, &pb.ChangedTrend{Key: trend.Key, Label: trend.Label})
	}
	return resp, nil
}

// maxCaption is the most characters of a caption in a summary.
const maxCaption = 120

// named are videos as a summary has them.
func named(all []Moved) (shown []*pb.ChangedVideo) {
	for _, m := range all {
		caption := []rune(strings.Join(strings.Fields(m.Words), " "))
		shown = append(shown, &pb.ChangedVideo{
			VideoId: publicid.Format(publicid.Video, m.Video), Platform: m.Platform, Handle: text(m.Handle),
			Caption: text(string(caption[:min(len(caption), maxCaption)])), Old: float(m.Old), New: float(m.New),
		})
	}
	return shown
}

func (r *rpc) watch(ctx context.Context, req *pb.WatchChangesRequest, send func(*pb.WatchChangesResponse) error) error {
	cursor := req.GetPageToken()
	if last := api.ResumeAfter(ctx); last != "" {
		cursor = last
	}
	after, types, err := r.begin(ctx, cursor, 0, req.GetTypes())
	if err != nil {
		return err
	}
	return r.service.Watch(ctx, after, types, func(c Change) error {
		next := Cursor(c.Seq)
		api.Cursor(ctx, next)
		return send(&pb.WatchChangesResponse{Change: message(&c), NextPageToken: next})
	})
}

// message is a change as the API has it.
func message(c *Change) *pb.Change {
	v := c.Show()
	return &pb.Change{
		Id: v.ID, Type: v.Type, At: float64(v.At), VideoId: text(v.VideoID), ScrollId: text(v.ScrollID), KeyId: text(v.KeyID), WorkspaceId: text(v.WorkspaceID),
		KeyHash: text(v.KeyHash), Stage: text(v.Stage), FailureCode: text(v.FailureCode), Status: text(v.Status), Old: v.Old, New: v.New,
	}
}

// text is nil for an empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
