package library

import (
	"context"
	"encoding/json"
	"math"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/search"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the module on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Page(m, "GetHooks", s.getHooks, func(_ context.Context, req *pb.GetHooksRequest) error { return hooks.checkToken(req.GetPageToken()) })
	api.Page(m, "GetOutliers", s.getOutliers, func(_ context.Context, req *pb.GetOutliersRequest) error {
		return outliers.checkToken(req.GetPageToken())
	})
	api.Page(m, "GetTrends", s.getTrends, func(_ context.Context, req *pb.GetTrendsRequest) error { return trends.checkToken(req.GetPageToken()) })
	api.Page(m, "GetLibrary", s.getLibrary, func(_ context.Context, req *pb.GetLibraryRequest) error { return checkFilters(videos, req, req.Q) })
	api.Page(m, "ListOutliers", s.listOutliers, func(_ context.Context, req *pb.ListOutliersRequest) error { return checkFilters(outliers, req, req.Q) })
	api.Page(m, "ListHooks", s.listHooks, func(_ context.Context, req *pb.ListHooksRequest) error { return checkFilters(hooks, req, req.Q) })
	api.Page(m, "ListTrends", s.listTrends, func(_ context.Context, req *pb.ListTrendsRequest) error { return trends.checkToken(req.GetPageToken()) })
	api.Unary(m, "ArchiveLibraryVideo", s.archiveLibraryVideo)
	api.Page(m, "AnnotateLibraryVideo", s.annotateLibraryVideo)
	s.insight.Operations(m)
}

func (s *Service) getHooks(ctx context.Context, req *pb.GetHooksRequest) (api.Rendered, error) {
	return s.read(ctx, page{list: hooks, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), token: req.GetPageToken()})
}

func (s *Service) getOutliers(ctx context.Context, req *pb.GetOutliersRequest) (api.Rendered, error) {
	return s.read(ctx, page{
		list: outliers, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), kind: req.GetKind(), token: req.GetPageToken(),
	})
}

func (s *Service) getTrends(ctx context.Context, req *pb.GetTrendsRequest) (api.Rendered, error) {
	return s.readTrends(ctx, page{list: trends, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), token: req.GetPageToken()})
}

func (s *Service) getLibrary(ctx context.Context, req *pb.GetLibraryRequest) (api.Rendered, error) {
	f := filterOf(req, req.Annotated)
	f.MinScore, f.Platform = req.GetMinScore(), "" // the index has the platform
	if !f.IsZero() {
		f.Platform = req.GetPlatform() // the statement takes it from the filter
	}
	return s.read(ctx, page{
		list: videos, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), kind: req.GetKind(), platform: req.GetPlatform(),
		filter: f, token: req.GetPageToken(),
	})
}

func (s *Service) listOutliers(ctx context.Context, req *pb.ListOutliersRequest) (api.Rendered, error) {
	f := filterOf(req, req.Annotated)
	f.MinScore = req.GetMinScore()
	return s.read(ctx, page{
		list: outliers, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), kind: req.GetKind(), filter: f,
		token: req.GetPageToken(), paged: true,
	})
}

func (s *Service) listHooks(ctx context.Context, req *pb.ListHooksRequest) (api.Rendered, error) {
	f := filterOf(req, req.Annotated)
	f.Kind = req.GetKind()
	return s.read(ctx, page{
		list: hooks, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), filter: f, token: req.GetPageToken(), paged: true,
	})
}

func (s *Service) listTrends(ctx context.Context, req *pb.ListTrendsRequest) (api.Rendered, error) {
	return s.readTrends(ctx, page{
		list: trends, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), kind: req.GetKind(),
		filter: search.Filter{MinVideos: int(req.GetMinVideos()), MinGrowth: req.GetMinGrowth()},
		token:  req.GetPageToken(), paged: true,
	})
}

// filters are the filters that the lists have in common, but for the kind: where an index
// has it, it is no filter.
type filters interface {
	GetPageToken() string
	GetQ() string
	GetHashtag() string
	GetLanguage() string
	GetPlatform() string
	GetCreator() string
	GetMinViews() float64
	GetMinFollowers() float64
	GetMaxFollowers() float64
	GetPostedAfter() float64
	GetPostedBefore() float64
}

// checkFilters refuses a token that the list did not return, a text without words, a
// platform that cannot be one, and bounds that no video can lie between.
func checkFilters(l list, req filters, q *string) error {
	var issues []apierr.Issue
	if _, ok := l.key(req.GetPageToken()); !ok {
		issues = append(issues, apierr.Issue{Path: "pageToken", Message: badToken})
	}
	if q != nil {
		if err := search.CheckQuery(*q); err != nil {
			issues = append(issues, apierr.Issue{Path: "q", Message: err.Error()})
		}
	}
	if creator := req.GetCreator(); creator != "" && search.Creator(score.Handle(creator)) == "" {
		issues = append(issues, apierr.Issue{Path: "creator", Message: search.ErrNoWord.Error()})
	}
	if req.GetHashtag() != "" && search.Hashtag(req.GetHashtag()) == "" {
		issues = append(issues, apierr.Issue{Path: "hashtag", Message: search.ErrNoWord.Error()})
	}
	if req.GetLanguage() != "" && search.Language(req.GetLanguage()) == "" {
		issues = append(issues, apierr.Issue{Path: "language", Message: search.ErrNoWord.Error()})
	}
	issues = append(issues, search.CheckPlatform(req.GetPlatform())...)
	issues = append(issues, filterOf(req, nil).Impossible()...)
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

// filterOf reads them. Bounds are whole numbers: a fraction counts as the next one.
func filterOf(req filters, annotated *bool) search.Filter {
	f := search.Filter{
		Platform: req.GetPlatform(), Creator: score.Handle(req.GetCreator()), MinViews: int64(math.Ceil(req.GetMinViews())),
		MinFollowers: int64(math.Ceil(req.GetMinFollowers())), MaxFollowers: int64(math.Floor(req.GetMaxFollowers())),
		PostedAfter: int64(math.Ceil(req.GetPostedAfter())), PostedBefore: int64(math.Ceil(req.GetPostedBefore())),
	}
	switch {
	case annotated != nil && *annotated:
		f = f.With(search.Annotated)
	case annotated != nil:
		f.Without = search.Annotated
	}
	return f.With(search.Words(req.GetQ())...).With(search.Creator(f.Creator), search.Hashtag(req.GetHashtag()), search.Language(req.GetLanguage()))
}

// limit is the page's length; absent means the default. The API checks its bounds.
func limit(asked *int32) int {
	if asked == nil {
		return defaultLimit
	}
	return int(*asked)
}

func (s *Service) archiveLibraryVideo(ctx context.Context, req *pb.ArchiveLibraryVideoRequest) (*pb.ArchiveLibraryVideoResponse, error) {
	outcome, err := s.ArchiveVideo(ctx, req.GetVideoId(), req.GetScope() == "hook", req.GetArchived())
	if err != nil {
		return nil, err
	}
	return &pb.ArchiveLibraryVideoResponse{Outcome: outcome, Archived: req.GetArchived()}, nil
}

// annotateLibraryVideo returns rendered text, since the annotations are
// shown as they were sent.
func (s *Service) annotateLibraryVideo(ctx context.Context, req *pb.AnnotateLibraryVideoRequest) (api.Rendered, error) {
	metadata := api.RawField(ctx, "agentMetadata")
	if metadata == nil {
		text, err := protojson.Marshal(req.GetAgentMetadata())
		if err != nil {
			return api.Rendered{}, err
		}
		metadata = json.RawMessage(text)
	}
	outcome, video, err := s.Annotate(ctx, req.GetVideoId(), metadata)
	if err != nil {
		return api.Rendered{}, err
	}
	body := appendString([]byte(`{"outcome":`), outcome)
	if video == nil {
		video = []byte("null")
	}
	body = append(append(body, `,"video":`...), video...)
	return api.Rendered{Body: append(body, '}')}, nil
}
