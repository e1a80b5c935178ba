package insight

import (
	"context"

	"github.com/scrollery/scrollery/modules/library/score"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func (s *Service) explainOutlier(ctx context.Context, req *pb.ExplainOutlierRequest) (*pb.ExplainOutlierResponse, error) {
	e, err := s.ExplainOutlier(ctx, req.GetVideoId())
	if err != nil || e == nil {
		return &pb.ExplainOutlierResponse{}, err
	}
	return &pb.ExplainOutlierResponse{Found: true, Explanation: e.Message()}, nil
}

// Message is the explanation as the API returns it: the score can be worked out again
// from it alone.
func (e *OutlierExplanation) Message() *pb.OutlierExplanation {
	o := &e.Outlier
	x := &pb.OutlierExplanation{
		VideoId: videoID(e.Target.ID), Method: e.Method, Outcome: string(e.Outcome()), Archived: e.Archived, Pending: e.Pending,
		Target: considered(&score.Decision{Reading: e.Target, Reason: e.TargetUse, Share: o.Share}),
		Basis:  o.Basis.String(), SampleCount: int32(o.SampleCount), CreatorPeers: int32(o.CreatorPeers), OwnViews: float64(o.OwnViews),
		TwiceNicheMedian: float64(e.TwiceNicheMedian), TwiceBaseline: float64(o.TwiceBaseline), Score: o.Score.Float64(),
		OrderValue: o.Order.Float64(), Doubtful: o.Doubtful, TwiceUsualLikeRate: float64(e.TwiceUsualRate),
		Peers: decisions(&e.Peers), Niche: decisions(&e.Niche), Likes: ratesOf(decisions(&e.Likes), &e.Likes),
	}
	if o.Basis != score.NoBasis {
		baseline := float64(o.TwiceBaseline) / 2
		x.BaselineViews, x.OrderBaseline = &baseline, float64(o.OrderBaseline())
	}
	x.OutlierSince, x.SevenDayViews, x.NewestReadingAt = count(e.Since), count(e.SevenDayViews), number(e.Newest, 0)
	if e.SevenDayViews != nil {
		perHour := e.ViewsPerHour.Float64()
		x.ViewsPerHour = &perHour
	}
	if e.Early.Views > 0 {
		x.Early = &pb.Early{
			Views: float64(e.Early.Views), Low: float64(e.Early.Low), High: float64(e.Early.High),
			OwnVideos: x.GetCreatorPeers(), AlikeViews: float64(e.Alike), AlikeCreators: int32(e.AlikeCreators),
		}
	}
	for i := range e.Flags {
		x.Flags = append(x.Flags, flagged(&e.Flags[i]))
	}
	return x
}

func flagged(p *Point) *pb.OutlierFlag {
	f := &pb.OutlierFlag{
		ScrollId: scrollID(p.Scroll), Change: "entered", ObservedAt: float64(p.Outlier.ObservedAt), Views: float64(p.Outlier.Views),
		Score: p.Outlier.Score.Float64(), SampleCount: int32(p.Outlier.SampleCount), CreatorPeers: int32(p.Outlier.CreatorPeers), Method: p.Method,
	}
	if p.Flag == Left {
		f.Change = "left"
	}
	if p.Outlier.Basis != score.NoBasis {
		baseline := float64(p.Outlier.TwiceBaseline) / 2
		f.BaselineViews = &baseline
	}
	return f
}

func decisions(d *score.Decisions) *pb.ConsideredVideos {
	list := &pb.ConsideredVideos{}
	for i := range d.All {
		list.Videos = append(list.Videos, considered(&d.All[i]))
	}
	for reason, n := range d.Counts {
		if n > 0 {
			list.Counts = append(list.Counts, &pb.ReasonCount{Reason: score.Reason(reason).String(), Count: int32(n)})
		}
	}
	return list
}

func considered(d *score.Decision) *pb.ConsideredVideo {
	c := &pb.ConsideredVideo{
		VideoId: videoID(d.ID), Reason: d.Reason.String(), Kind: string(d.Kind), PostedAt: number(d.PostedAt, score.Undated),
		ObservedAt: number(d.ObservedAt, 0), Views: number(d.Views, score.Unknown), Likes: number(d.Likes, score.Unknown),
		Age: number(d.Age(), score.UnknownAge), Share: int32(d.Share),
	}
	if c.ObservedAt == nil {
		c.Age = nil
	}
	if d.Reason == score.Used {
		c.ExpectedViews = number(d.Expected, 0)
	}
	return c
}

// ratesOf fills in the like rates, of which 0 is one.
func ratesOf(list *pb.ConsideredVideos, d *score.Decisions) *pb.ConsideredVideos {
	for i := range d.All {
		if list.Videos[i].ExpectedViews = nil; d.All[i].Reason == score.Used {
			rate := float64(d.All[i].Rate)
			list.Videos[i].LikeRate = &rate
		}
	}
	return list
}

func (s *Service) explainTrend(ctx context.Context, req *pb.ExplainTrendRequest) (*pb.ExplainTrendResponse, error) {
	e, err := s.ExplainTrend(ctx, req.GetKey())
	if err != nil || e == nil {
		return &pb.ExplainTrendResponse{}, err
	}
	return &pb.ExplainTrendResponse{Found: true, Explanation: e.Message()}, nil
}

// Message is the explanation as the API returns it.
func (e *TrendExplanation) Message() *pb.TrendExplanation {
	x := &pb.TrendExplanation{
		Key: e.Key, Label: e.Label, Method: score.TrendMethod, Outcome: e.Outcome(), OverlapsKey: e.By,
		Window: &pb.TrendWindow{
			NewestAt: float64(e.Totals.T), Span: float64(e.Totals.Span), After: float64(e.Totals.T - 2*e.Totals.Span), Videos: int32(e.Totals.Videos),
			CreatorsNow: int32(e.Totals.Recent), CreatorsBefore: int32(e.Totals.Earlier), CompletedScrolls: int32(e.Completed),
		},
		CreatorsNow: int32(e.Recent), CreatorsBefore: int32(e.Earlier), ExpectedCreators: e.Expected.Float64(), Strength: e.Strength.Float64(),
		VideoCount: int32(e.VideoCount), AllVideos: int32(len(e.Members)), GrownVideos: int32(e.Grown), GrownCreators: int32(e.GrownCreators),
		MedianGrowthMultiple: e.MedianGrowth.Float64(), Stored: e.IsStored,
		NewCreators: int32(e.New), NewCreatorsBefore: int32(e.NewBefore), CreatorsPerDay: e.PerDay.Float64(), Direction: e.Direction().String(),
	}
	for _, id := range e.Examples {
		x.Examples = append(x.Examples, videoID(id))
	}
	creators := map[int64]int32{0: 0}
	for i := range e.Members[:min(len(e.Members), mostMembers)] {
		m := &e.Members[i]
		if _, ok := creators[m.Creator]; !ok {
			creators[m.Creator] = int32(len(creators))
		}
		x.Videos = append(x.Videos, trendVideo(m, creators[m.Creator]))
	}
	for i := range e.Dropped[:min(len(e.Dropped), mostDropped)] {
		d := &e.Dropped[i]
		x.Dropped = append(x.Dropped, &pb.DroppedKey{Key: d.Key, Reason: string(d.Drop), OverlapsKey: d.By, CommonVideos: int32(d.Common)})
	}
	for _, drop := range []score.Drop{score.GenericKey, score.TooCommon, score.FewCreators, score.FewMultiples, score.Overlaps} {
		if n := e.DroppedCounts[drop]; n > 0 {
			x.DroppedCounts = append(x.DroppedCounts, &pb.ReasonCount{Reason: string(drop), Count: int32(n)})
		}
	}
	return x
}

func trendVideo(m *score.Member, creator int32) *pb.TrendVideo {
	v := &pb.TrendVideo{VideoId: videoID(m.ID), Creator: creator, When: m.When.String(), Archived: m.Archived, Growth: string(m.Growth())}
	if d := m.Detail; d != nil {
		v.PostedAt, v.Readings, v.UsableReadings = number(d.PostedAt, score.Undated), d.Readings, d.Usable
		if d.Usable > 0 {
			v.First, v.Last = trendReading(&d.First), trendReading(&d.Last)
		}
	}
	return v
}

func trendReading(o *score.Look) *pb.TrendReading {
	return &pb.TrendReading{ScrollId: scrollID(o.Scroll), ObservedAt: float64(o.At), Views: float64(o.Views)}
}

func (s *Service) getTrendSeries(ctx context.Context, req *pb.GetTrendSeriesRequest) (*pb.GetTrendSeriesResponse, error) {
	series, err := s.TrendSeries(ctx, req.GetKey())
	if err != nil || series == nil {
		return &pb.GetTrendSeriesResponse{Key: req.GetKey()}, err
	}
	answer := &pb.GetTrendSeriesResponse{Found: true, Key: req.GetKey(), Label: series.Label}
	for _, p := range series.Points {
		answer.ScrollId = append(answer.ScrollId, scrollID(p.Scroll))
		answer.ObservedAt = append(answer.ObservedAt, float64(p.ObservedAt))
		answer.Videos = append(answer.Videos, int32(p.Videos))
		answer.Creators = append(answer.Creators, int32(p.Creators))
		answer.Views = append(answer.Views, float64(p.Views))
	}
	return answer, nil
}
