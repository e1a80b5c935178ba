package insight

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollery/scrollery/modules/library/score"
)

// TrendExplanation is an explanation with the state of the subject.
type TrendExplanation struct {
	score.TrendExplanation
	// Completed counts the subject's completed scrolls: trends are listed from 2 on.
	Completed int
}

// Outcome says why the key is listed or is not.
func (e *TrendExplanation) Outcome() string {
	switch {
	case e.Drop != score.Kept:
		return string(e.Drop)
	case e.Completed < 2:
		return "insufficient_history"
	}
	return "listed"
}

// ExplainTrend measures the current subject's window as scoring does and explains one of
// its keys; nil where no video of the window carries it.
func (s *Service) ExplainTrend(ctx context.Context, key string) (*TrendExplanation, error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, err
	}
	completed, err := s.Completed(ctx, subject)
	if err != nil {
		return nil, err
	}
	w, err := s.Window(ctx, subject)
	if err != nil || w == nil {
		return nil, err
	}
	e, found := w.Explain(key)
	if !found {
		return nil, nil
	}
	return &TrendExplanation{e, completed}, nil
}

// TrendPoint is what one scroll of the window read of a key.
type TrendPoint struct {
	Scroll, ObservedAt, Views int64
	Videos, Creators          int
}

// TrendSeries is a key by scroll.
type TrendSeries struct {
	Label  string
	Points []TrendPoint
}

// TrendSeries returns what each completed scroll of the current subject's window read of
// a key, oldest first, without archived videos; nil where no video carries the key.
func (s *Service) TrendSeries(ctx context.Context, key string) (*TrendSeries, error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, err
	}
	w, err := s.Window(ctx, subject)
	if err != nil || w == nil {
		return nil, err
	}
	members := w.Members(key)
	if len(members) == 0 {
		return nil, nil
	}
	ids, creators := []int64{}, map[int64]int64{}
	for i := range members {
		if m := &members[i]; !m.Archived {
			ids = append(ids, m.ID)
			creators[m.ID] = m.Creator
		}
	}
	observations, err := s.observationsOf(ctx, ids, w.T-2*w.Span, w.T)
	if err != nil {
		return nil, err
	}
	runs, err := s.Runs(ctx, subject)
	if err != nil {
		return nil, err
	}
	completed := make(map[int64]bool, len(runs))
	for _, scroll := range runs {
		completed[scroll] = true
	}
	return &TrendSeries{Label: w.Measure(key, false).Label, Points: pointsOf(observations, creators, completed)}, nil
}

// pointsOf adds up observations by scroll. Of a video that a scroll read twice the last
// usable reading counts.
func pointsOf(observations []score.Observation, creators map[int64]int64, completed map[int64]bool) []TrendPoint {
	type seen struct {
		TrendPoint
		views map[int64]score.Observation
		who   map[int64]bool
	}
	scrolls := map[int64]*seen{}
	for _, o := range observations {
		if !completed[o.Scroll] {
			continue
		}
		at := scrolls[o.Scroll]
		if at == nil {
			at = &seen{views: map[int64]score.Observation{}, who: map[int64]bool{}}
			scrolls[o.Scroll] = at
		}
		at.ObservedAt = max(at.ObservedAt, o.At)
		at.who[creators[o.Video]] = true
		last, known := at.views[o.Video]
		if usable := score.Usable(o.Views, o.Likes) == score.Used; !usable {
			o.Views = 0
		}
		if !known || o.Views > 0 && (last.Views == 0 || o.At > last.At) {
			at.views[o.Video] = o
		}
	}
	points := make([]TrendPoint, 0, len(scrolls))
	for scroll, at := range scrolls {
		p := TrendPoint{Scroll: scroll, ObservedAt: at.ObservedAt, Videos: len(at.views), Creators: len(at.who)}
		for _, o := range at.views {
			p.Views += o.Views
		}
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b TrendPoint) int {
		return cmp.Or(cmp.Compare(a.ObservedAt, b.ObservedAt), cmp.Compare(a.Scroll, b.Scroll))
	})
	return points[max(0, len(points)-mostPoints):]
}
