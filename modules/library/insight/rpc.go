package insight

import (
	"context"
	"encoding/base64"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the operations on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Page(m, "GetVideo", func(ctx context.Context, req *pb.GetVideoRequest) (api.Rendered, error) {
		body, err := s.Video(ctx, req.GetId())
		return api.Rendered{Body: body}, err
	})
	api.Page(m, "GetVideos", func(ctx context.Context, req *pb.GetVideosRequest) (api.Rendered, error) {
		api.Units(ctx, (len(req.GetIds())+idsAUnit-1)/idsAUnit)
		body, err := s.Videos(ctx, req.GetIds())
		return api.Rendered{Body: body}, err
	})
	api.Unary(m, "GetFrames", s.getFrames)
	api.Unary(m, "ListObservations", s.listObservations, func(_ context.Context, req *pb.ListObservationsRequest) error {
		_, _, err := afterToken(req.GetPageToken())
		return err
	})
	api.Unary(m, "ExplainOutlier", lists.Kept(s.Lists, "ExplainOutlier", s.explainOutlier))
	api.Unary(m, "ExplainTrend", lists.Kept(s.Lists, "ExplainTrend", s.explainTrend))
	api.Unary(m, "GetTrendSeries", lists.Kept(s.Lists, "GetTrendSeries", s.getTrendSeries))
	api.Unary(m, "BacktestOutliers", lists.Kept(s.Lists, "BacktestOutliers", s.backtestOutliers))
	api.Unary(m, "BacktestTrends", lists.Kept(s.Lists, "BacktestTrends", s.backtestTrends))
	api.Unary(m, "GetCreator", s.getCreator, checkCreator)
}

// idsAUnit is how many videos cost one unit when they are read by their ids.
const idsAUnit = 10

// defaultLimit is the length of a page of readings.
const defaultLimit = 25

func (s *Service) getFrames(ctx context.Context, req *pb.GetFramesRequest) (*pb.GetFramesResponse, error) {
	frames, err := s.Frames(ctx, req.GetVideoId())
	if err != nil {
		return nil, err
	}
	answer := &pb.GetFramesResponse{}
	for _, f := range frames {
		answer.Frames = append(answer.Frames, &pb.Frame{At: float64(f.At), Webp: base64.StdEncoding.EncodeToString(f.Webp)})
	}
	return answer, nil
}

func (s *Service) listObservations(ctx context.Context, req *pb.ListObservationsRequest) (*pb.ListObservationsResponse, error) {
	limit := defaultLimit
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	found, next, err := s.Observations(ctx, req.GetVideoId(), limit, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	answer := &pb.ListObservationsResponse{NextPageToken: orNull(next)}
	for _, o := range found {
		one := &pb.Observation{
			ObservedAt: float64(o.ObservedAt), Source: o.Stage, Meaning: orNull(o.Semantics),
			Views: count(o.Views), Likes: count(o.Likes), Comments: count(o.Comments), Shares: count(o.Shares), Saves: count(o.Saves),
			Usable: o.Reason == score.Used,
		}
		if o.ScrollID != 0 {
			one.ScrollId = orNull(scrollID(o.ScrollID))
		}
		if !one.Usable {
			one.Reason = orNull(o.Reason.String())
		}
		answer.Observations = append(answer.Observations, one)
	}
	return answer, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func count(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return number(*n, score.Unknown)
}

// number is n, null if it has the value that stands for unknown.
func number(n, unknown int64) *float64 {
	if n == unknown {
		return nil
	}
	f := float64(n)
	return &f
}

func (s *Service) backtestOutliers(ctx context.Context, req *pb.BacktestOutliersRequest) (*pb.BacktestOutliersResponse, error) {
	of := int64(0)
	if req.ScrollId != nil {
		id, ok := publicid.Parse(publicid.Scroll, req.GetScrollId())
		if of = id; !ok {
			of = -1 // no scroll
		}
	}
	runs, rows, err := s.Backtest(ctx, of)
	if err != nil {
		return nil, err
	}
	answer := &pb.BacktestOutliersResponse{}
	for _, r := range runs {
		answer.Runs = append(answer.Runs, &pb.BacktestRun{
			ScrollId: scrollID(r.Scroll), ObservedAt: float64(r.ObservedAt), Scored: int32(r.Scored), Listed: int32(r.Listed),
			Entered: int32(r.Entered), Left: int32(r.Left),
		})
	}
	for _, r := range rows {
		answer.Rows = append(answer.Rows, &pb.BacktestRow{
			By: r.By, Value: r.Value, ScrollsLater: int32(r.Later), Scored: int32(r.Scored), Above: int32(r.Above),
			Flagged: int32(r.Flagged), Still: int32(r.Still),
			BaseRate: part(r.Above, r.Scored), Precision: part(r.Still, r.Flagged), Recall: part(r.Still, r.Above),
		})
	}
	return answer, nil
}

func part(num, den int) *float64 {
	if den == 0 {
		return nil
	}
	f := score.Part(num, den).Float64()
	return &f
}

// defaultDays is how many days after a scroll a key has to be taken up.
const defaultDays = 4

func (s *Service) backtestTrends(ctx context.Context, req *pb.BacktestTrendsRequest) (*pb.BacktestTrendsResponse, error) {
	days := defaultDays
	if req.Days != nil {
		days = int(req.GetDays())
	}
	runs, all, err := s.BacktestTrends(ctx, days)
	if err != nil {
		return nil, err
	}
	answer := &pb.BacktestTrendsResponse{Days: int32(days), NewCreators: score.NewCreators, All: trendCounts(all)}
	for _, r := range runs {
		answer.Runs = append(answer.Runs, &pb.TrendBacktestRun{
			ScrollId: scrollID(r.Scroll), ObservedAt: float64(r.ObservedAt), Keys: trendCounts(r.TrendCounts),
		})
	}
	return answer, nil
}

func trendCounts(c score.TrendCounts) *pb.TrendBacktestSum {
	sum := &pb.TrendBacktestSum{
		Listed: int32(c.Listed), First: int32(c.First), Taken: int32(c.Taken), Others: int32(c.Others), OthersTaken: int32(c.OthersTaken),
		Rate: part(c.Taken, c.First), BaseRate: part(c.OthersTaken, c.Others),
	}
	for _, to := range score.TestedDirections {
		d := c.Directions[to]
		sum.Directions = append(sum.Directions, &pb.DirectionBacktest{Direction: to.String(), Keys: int32(d.Keys), More: int32(d.More), Share: part(d.More, d.Keys)})
	}
	return sum
}
