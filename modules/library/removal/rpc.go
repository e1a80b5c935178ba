package removal

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/videos"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// defaultPage is the length of a list if none is asked for.
	defaultPage = 25
)

// Operations mounts the deletions on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "DeleteFromLibrary", s.deleteFromLibrary)
	api.Unary(m, "UndoLibraryDeletion", s.undoLibraryDeletion)
	api.Unary(m, "ListLibraryDeletions", s.listLibraryDeletions, func(_ context.Context, req *pb.ListLibraryDeletionsRequest) error {
		_, err := paging.Start(req.GetPageToken())
		return err
	})
}

// orderOf reads a request, which names one thing to delete.
func orderOf(req *pb.DeleteFromLibraryRequest) (o Order, err error) {
	given, ofCreator := 0, req.Creator != nil || req.CreatorId != nil
	for _, isSet := range []bool{req.VideoId != nil, ofCreator, req.ImportId != nil, req.SourceId != nil} {
		if isSet {
			given++
		}
	}
	if given != 1 {
		return o, apierr.Invalid("videoId", "give exactly one of videoId, creator or creatorId, importId and sourceId")
	}
	issues := videos.CheckPlatform(req.GetPlatform())
	switch {
	case ofCreator && req.Platform == nil:
		issues = append(issues, apierr.Issue{Path: "platform", Message: "is required with a creator"})
	case !ofCreator && req.Platform != nil:
		issues = append(issues, apierr.Issue{Path: "platform", Message: "goes with creator or creatorId"})
	}
	if len(issues) > 0 {
		return o, apierr.InvalidIssues(issues...)
	}
	return Order{
		VideoID: req.GetVideoId(), ImportID: req.GetImportId(), SourceID: req.GetSourceId(),
		Platform: req.GetPlatform(), Handle: req.GetCreator(), CreatorID: req.GetCreatorId(),
	}, nil
}

func (s *Service) deleteFromLibrary(ctx context.Context, req *pb.DeleteFromLibraryRequest) (*pb.DeleteFromLibraryResponse, error) {
	order, err := orderOf(req)
	if err != nil {
		return nil, err
	}
	answer := &pb.DeleteFromLibraryResponse{Outcome: "not_found"}
	deletes := false
	if req.GetDryRun() {
		counted, found, err := s.Count(ctx, order)
		if err != nil {
			return nil, err
		}
		answer.Videos, answer.Readings, answer.AtLeast = int32(counted.Videos), int32(counted.Readings), counted.AtLeast
		if found {
			answer.Outcome = "counted"
		}
	} else if d, err := s.Delete(ctx, order); err != nil {
		return nil, err
	} else if d != nil {
		deletes = true
		answer.Outcome, answer.Deletion, answer.Videos, answer.Readings = "deleted", d.message(), int32(d.Videos), int32(d.Readings)
		if d.Status == running {
			answer.Outcome = "deleting"
		}
	}
	answer.ScoresPending, err = s.deletions.ScoresPending(ctx)
	if err != nil && deletes { // which is committed: the call has not failed
		answer.ScoresPending, err = true, nil
	}
	return answer, err
}

func (s *Service) undoLibraryDeletion(ctx context.Context, req *pb.UndoLibraryDeletionRequest) (*pb.UndoLibraryDeletionResponse, error) {
	d, err := s.Undo(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &pb.UndoLibraryDeletionResponse{Found: d != nil, Deletion: d.message()}, nil
}

func (s *Service) listLibraryDeletions(ctx context.Context, req *pb.ListLibraryDeletionsRequest) (*pb.ListLibraryDeletionsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	from, err := paging.Start(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	all, err := s.page(ctx, from, size+1)
	if err != nil {
		return nil, err
	}
	answer := &pb.ListLibraryDeletionsResponse{}
	all, next := paging.Cut(all, size, func(d *Deletion) int64 { return d.ID })
	if next != "" {
		answer.NextPageToken = &next
	}
	for _, d := range all {
		answer.Deletions = append(answer.Deletions, d.message())
	}
	answer.ScoresPending, err = s.deletions.ScoresPending(ctx)
	return answer, err
}

// message is the deletion as the API shows it; nil for nil.
func (d *Deletion) message() *pb.Deletion {
	if d == nil {
		return nil
	}
	m := &pb.Deletion{
		Id: publicid.Format(publicid.Deletion, d.ID), Status: d.Status, What: d.What, Videos: int32(d.Videos), Readings: int32(d.Readings),
		CreatedAt: float64(d.CreatedAt),
	}
	if d.UndoUntil > 0 {
		until := float64(d.UndoUntil)
		m.UndoUntil = &until
	}
	return m
}
