package lists

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the lists on every protocol.
func (s *Service) Operations(m *api.Mux) {
	mount[pb.GetHooksRequest](m, "GetHooks", s, Hooks, false)
	mount[pb.GetOutliersRequest](m, "GetOutliers", s, Outliers, false)
	mount[pb.GetTrendsRequest](m, "GetTrends", s, Trends, false)
	mount[pb.GetLibraryRequest](m, "GetLibrary", s, Videos, false)
	mount[pb.ListHooksRequest](m, "ListHooks", s, Hooks, true)
	mount[pb.ListOutliersRequest](m, "ListOutliers", s, Outliers, true)
	mount[pb.ListTrendsRequest](m, "ListTrends", s, MovingTrends, true)
	api.Unary(m, "ListScores", Kept(s, "ListScores", s.listScores), func(_ context.Context, req *pb.ListScoresRequest) error {
		if issues := checkFilters(req); len(issues) > 0 {
			return apierr.InvalidIssues(issues...)
		}
		return nil
	})
}

// mount mounts the operation of a list, whose requests are pages of it.
func mount[Req any, Ptr interface {
	*Req
	request
}](m *api.Mux, method string, s *Service, l List, paged bool) {
	api.Page(m, method, func(ctx context.Context, req *Req) (api.Rendered, error) {
		return s.Read(ctx, pageOf(l, paged, Ptr(req)))
	}, func(_ context.Context, req *Req) error { return check(l, Ptr(req)) })
}

// check refuses a token that the list did not return, and filters that cannot be met.
func check(l List, req request) error {
	issues := checkFilters(req)
	l = pageOf(l, true, req).List
	if _, asked := fieldsOf(req)("since"); asked && l != NewOutliers {
		issues = append(issues, apierr.Issue{Path: "since", Message: "is for `order=new` alone"})
	}
	if _, ok := l.key(req.GetPageToken()); !ok {
		issues = append(issues, apierr.Issue{Path: "pageToken", Message: badToken})
	}
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}
