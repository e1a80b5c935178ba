package changes

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a page when the caller names none.
const defaultPage = 100

// Operations returns the module's operations.
func Operations(s *Service) api.Operations {
	r := &rpc{s}
	return func(m *api.Mux) {
		api.Unary(m, "ListChanges", r.list, func(_ context.Context, req *pb.ListChangesRequest) error {
			return check(req.GetPageToken(), req.GetTypes())
		})
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
func (r *rpc) begin(ctx context.Context, cursor, list string) (after int64, types Types, err error) {
	from, err := Parse("pageToken", cursor)
	if err != nil {
		return 0, nil, err
	}
	if types, err = ParseTypes("types", list); err != nil {
		return 0, nil, err
	}
	after, err = r.service.Start(ctx, from)
	return after, types, err
}

func (r *rpc) list(ctx context.Context, req *pb.ListChangesRequest) (*pb.ListChangesResponse, error) {
	after, types, err := r.begin(ctx, req.GetPageToken(), req.GetTypes())
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

func (r *rpc) watch(ctx context.Context, req *pb.WatchChangesRequest, send func(*pb.WatchChangesResponse) error) error {
	cursor := req.GetPageToken()
	if last := api.ResumeAfter(ctx); last != "" {
		cursor = last
	}
	after, types, err := r.begin(ctx, cursor, req.GetTypes())
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
