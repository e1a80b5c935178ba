package lists

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/score"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (s *Service) listScores(ctx context.Context, req *pb.ListScoresRequest) (*pb.ListScoresResponse, error) {
	p := Page{
		List: Videos, Limit: MostPoints, WithArchived: req.GetIncludeArchived(), Kind: req.GetKind(), Platform: req.GetPlatform(),
		Filter: filterOf(Videos, req),
	}
	if req.Limit != nil {
		p.Limit = int(req.GetLimit())
	}
	plot, err := s.Plot(ctx, p)
	if err != nil {
		return nil, err
	}
	answer := &pb.ListScoresResponse{
		Videos: int32(plot.Videos), Scored: int32(plot.Scored), Outliers: int32(plot.Outliers), Partial: plot.Partial,
	}
	kinds := map[score.Kind]int32{}
	for i := range plot.Points {
		o := &plot.Points[i]
		kind, ok := kinds[o.Kind]
		if !ok {
			kind = int32(len(kinds))
			kinds[o.Kind], answer.Kinds = kind, append(answer.Kinds, string(o.Kind))
		}
		answer.VideoId = append(answer.VideoId, publicid.Format(publicid.Video, o.ID))
		answer.Kind = append(answer.Kind, kind)
		answer.Views = append(answer.Views, float64(o.Views))
		answer.BaselineViews = append(answer.BaselineViews, float64(o.TwiceBaseline)/2)
		answer.Score = append(answer.Score, o.Score.Float64())
		answer.SampleCount = append(answer.SampleCount, int32(o.SampleCount))
		answer.CreatorPeers = append(answer.CreatorPeers, int32(o.CreatorPeers))
		answer.ObservedAt = append(answer.ObservedAt, float64(o.ObservedAt))
		answer.Age = append(answer.Age, float64(max(o.Age, -1)))
		answer.Doubtful = append(answer.Doubtful, o.Doubtful)
		answer.Listed = append(answer.Listed, o.Listed)
	}
	return answer, nil
}
