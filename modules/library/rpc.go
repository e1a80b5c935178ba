package library

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the module on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Page(m, "GetHooks", s.getHooks, func(_ context.Context, req *pb.GetHooksRequest) error { return hooks.checkToken(req.GetPageToken()) })
	api.Page(m, "GetOutliers", s.getOutliers, func(_ context.Context, req *pb.GetOutliersRequest) error {
		return outliers.checkToken(req.GetPageToken())
	})
	api.Page(m, "GetTrends", s.getTrends, func(_ context.Context, req *pb.GetTrendsRequest) error { return trends.checkToken(req.GetPageToken()) })
	api.Page(m, "GetLibrary", s.getLibrary, func(_ context.Context, req *pb.GetLibraryRequest) error { return videos.checkToken(req.GetPageToken()) })
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
	return s.read(ctx, page{
		list: videos, limit: limit(req.Limit), withArchived: req.GetIncludeArchived(), kind: req.GetKind(), platform: req.GetPlatform(),
		token: req.GetPageToken(),
	})
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
