package shares

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a list if none is asked for.
const defaultPage = 25

// Mount mounts the operations on every protocol.
func (s *Service) Mount(m *api.Mux) {
	api.Unary(m, "CreateShare", s.createShare, checkCreate)
	api.Unary(m, "ListShares", s.listShares, func(_ context.Context, req *pb.ListSharesRequest) error {
		_, err := paging.Start(req.GetPageToken())
		return err
	})
	api.Unary(m, "RevokeShare", s.revokeShare)
}

// checkCreate: a video and a collection have an id, a finding, a brief and a report have sentences.
func checkCreate(ctx context.Context, req *pb.CreateShareRequest) error {
	if api.Faulty(ctx, "kind", "id", "sentences", "videoIds") {
		return nil
	}
	var issues []apierr.Issue
	hasID := req.GetKind() == ofVideo || req.GetKind() == ofCollection
	switch {
	case hasID && req.Id == nil:
		issues = append(issues, apierr.Issue{Path: "id", Message: "is required for a video and a collection"})
	case !hasID && req.Id != nil:
		issues = append(issues, apierr.Issue{Path: "id", Message: "goes with a video or a collection"})
	}
	switch {
	case hasID && len(req.GetSentences())+len(req.GetVideoIds()) > 0:
		issues = append(issues, apierr.Issue{Path: "sentences", Message: "and videoIds go with a finding, a brief or a report"})
	case !hasID && len(req.GetSentences()) == 0:
		issues = append(issues, apierr.Issue{Path: "sentences", Message: "is required for a finding, a brief and a report"})
	}
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

// message is the share as the API shows it; nil for nil.
func (s *Share) message() *pb.Share {
	if s == nil {
		return nil
	}
	return &pb.Share{
		Id: publicid.Format(idPrefix, s.ID), Kind: s.Kind, Title: s.Title, Views: float64(s.Views),
		CreatedAt: float64(s.CreatedAt), ExpiresAt: float64(s.ExpiresAt),
	}
}

func (s *Service) createShare(ctx context.Context, req *pb.CreateShareRequest) (*pb.CreateShareResponse, error) {
	const scope = "library:read" // the page shows what this scope reads
	if caller := viewer.FromContext(ctx); !caller.Has(scope) {
		return nil, &apierr.Error{Kind: apierr.Forbidden, Message: "A page shows a part of the library.", RequiredScope: scope, GrantedScopes: caller.Scopes}
	}
	o := Order{Kind: req.GetKind(), ID: req.GetId(), Title: req.GetTitle(), Sentences: req.GetSentences(), Videos: req.GetVideoIds(), ExpiresAt: int64(req.GetExpiresAt())}
	share, address, err := s.Create(ctx, o)
	if err != nil || share == nil {
		return &pb.CreateShareResponse{}, err
	}
	return &pb.CreateShareResponse{Found: true, Share: share.message(), Url: &address}, nil
}

func (s *Service) listShares(ctx context.Context, req *pb.ListSharesRequest) (*pb.ListSharesResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(req.GetPageSize())
	}
	from, err := paging.Start(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	all, err := s.List(ctx, from, size+1)
	if err != nil {
		return nil, err
	}
	answer := &pb.ListSharesResponse{}
	all, next := paging.Cut(all, size, func(s *Share) int64 { return s.ID })
	if next != "" {
		answer.NextPageToken = &next
	}
	for _, share := range all {
		answer.Shares = append(answer.Shares, share.message())
	}
	return answer, nil
}

func (s *Service) revokeShare(ctx context.Context, req *pb.RevokeShareRequest) (*pb.RevokeShareResponse, error) {
	id, _ := publicid.Parse(idPrefix, req.GetId())
	found, err := s.Revoke(ctx, id)
	return &pb.RevokeShareResponse{Found: found}, err
}
