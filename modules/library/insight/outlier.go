package insight

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/score"
)

// OutlierExplanation is an explanation with what the library stores of the video.
type OutlierExplanation struct {
	score.Explanation
	Archived bool
	// Pending: lists do not show this score yet.
	Pending bool
	// Flags are the newest of the video.
	Flags []Point
	// Since is the time of the reading with which it first was an outlier, nil if it never was.
	Since *int64
	// Newest is the newest usable reading of completed scrolls; 0 without one.
	Newest int64
	// SevenDayViews are nil if the video was older, or has no usable views.
	SevenDayViews *int64
	ViewsPerHour  score.Decimal
	// Early is nothing if it cannot be said. Alike are what AlikeCreators creators of as many
	// followers had when the creator was last scored.
	Early         score.Early
	Alike         int64
	AlikeCreators int
}

// ExplainOutlier scores a video as scoring does, and returns everything that went into
// it; nil if the tenant has no such video. It reads what scoring reads for the video:
// those of its creator, and of its niche as far as 200 peers are found.
func (s *Service) ExplainOutlier(ctx context.Context, id string) (*OutlierExplanation, error) {
	number, ok := publicid.Parse(publicid.Video, id)
	if !ok {
		return nil, nil
	}
	video, creator, at, err := s.besideItsCreator(ctx, number)
	if err != nil || video == nil {
		return nil, err
	}
	e := &OutlierExplanation{Explanation: score.Explanation{Most: mostRefused}, Archived: video.archived}
	o, err := creator.Score(at, s.Niche(ctx, creator.At(at)), &e.Explanation)
	if err != nil {
		return nil, fmt.Errorf("explain video %d: %w", number, err)
	}
	e.Early, e.Alike, e.AlikeCreators = o.Early(video.alike), video.alike, video.alikeCreators
	e.Pending = !video.shows(&o) || e.Early.Views != video.early
	e.Since = video.since
	if r := video.reading; s.Growth.RisingKey(&r, false) != nil {
		views := s.Growth.SevenDayViews(&r)
		e.SevenDayViews, e.ViewsPerHour = &views, score.ViewsPerHour(&r)
	}
	if e.Newest, err = s.Newest(ctx); err != nil {
		return nil, err
	}
	e.Flags, err = s.flags(ctx, number)
	return e, err
}

// besideItsCreator reads a video and the videos of its creator, among which it is at an index; no
// video if there is none. These are two reads: a video that is not among them was deleted or got
// another creator in between, and is read again.
func (s *Service) besideItsCreator(ctx context.Context, number int64) (video *scoredVideo, creator *score.Creator, at int, err error) {
	const tries = 3
	for range tries {
		if video, err = s.scoredVideo(ctx, number); err != nil || video == nil {
			return nil, nil, 0, err
		}
		readings, err := s.creatorReadings(ctx, video)
		if err != nil {
			return nil, nil, 0, err
		}
		creator = s.Growth.Creator(readings)
		if at = creator.Index(number); at >= 0 {
			return video, creator, at, nil
		}
	}
	return nil, nil, 0, fmt.Errorf("video %d is none of its creator's", number)
}

// scoredVideo is what the row of a video says of its score.
type scoredVideo struct {
	id            int64
	creator       *int64
	archived      bool
	listed        bool
	awaitsNiche   bool
	twiceBaseline int64
	samples       int
	since         *int64
	early, alike  int64
	alikeCreators int
	reading       score.Reading
}

// shows reports whether lists show the outlier.
func (v *scoredVideo) shows(o *score.Outlier) bool {
	return !v.awaitsNiche && v.listed == o.Listed && v.twiceBaseline == o.TwiceBaseline && v.samples == o.SampleCount
}
