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
	// IsStored: the window is too large to be measured for an answer, and the numbers are
	// those that are stored. NotStored: so it is, and there are none of the key.
	IsStored, NotStored bool
}

// Outcome says why the key is listed or is not.
func (e *TrendExplanation) Outcome() string {
	switch {
	case e.NotStored:
		return "not_stored"
	case e.Drop != score.Kept:
		return string(e.Drop)
	case e.Completed < 2:
		return "insufficient_history"
	}
	return "listed"
}

// ExplainTrend measures the current subject's window as scoring does and explains one of
// its keys; nil if no video of the window carries it. A window of more than 10,000
// videos is not measured: what is stored of the key is explained.
func (s *Service) ExplainTrend(ctx context.Context, key string) (*TrendExplanation, error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, err
	}
	completed, err := s.Completed(ctx, subject)
	if err != nil {
		return nil, err
	}
	stored, err := s.Stored(ctx, subject, key, cmp.Or(s.MostMeasured, mostMeasured))
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return s.explainStored(ctx, subject, key, completed, stored)
	}
	w, err := s.Window(ctx, subject)
	if err != nil || w == nil {
		return nil, err
	}
	e, found := w.Explain(key)
	if !found {
		return nil, nil
	}
	return &TrendExplanation{TrendExplanation: e, Completed: completed}, nil
}

// explainStored explains a key of a large window. Of the videos that an answer shows, keys
// and readings are read.
func (s *Service) explainStored(ctx context.Context, subject, key string, completed int, stored *Stored) (*TrendExplanation, error) {
	if stored.Key.Key == "" {
		e := score.TrendExplanation{Totals: stored.Totals}
		e.Key = key
		return &TrendExplanation{TrendExplanation: e, Completed: completed, IsStored: true, NotStored: true}, nil
	}
	shown := stored.Members[:min(len(stored.Members), mostMembers)]
	ids := make([]int64, len(shown))
	for i := range shown {
		ids[i] = shown[i].ID
	}
	observations, err := s.completedObservations(ctx, subject, ids, stored.Totals)
	if err != nil {
		return nil, err
	}
	carriers, err := s.Carriers(ctx, ids)
	if err != nil {
		return nil, err
	}
	full := score.NewWindow(stored.Totals.T, stored.Totals.Span, observations, carriers, nil).Members(key)
	for i := range full {
		if at, ok := slices.BinarySearchFunc(shown, full[i].ID, func(m score.Member, id int64) int { return cmp.Compare(m.ID, id) }); ok {
			stored.Members[at] = full[i]
		}
	}
	e := score.ExplainStored(stored.Key, stored.Totals, stored.Members, stored.Fit)
	switch {
	case s.IsGeneric(key):
		e.Drop = score.GenericKey
	case e.Drop == score.Kept && stored.Overlaps:
		e.Drop = score.Overlaps // with a key that Fit has no place for
	}
	return &TrendExplanation{TrendExplanation: e, Completed: completed, IsStored: true}, nil
}

// completedObservations are those of videos in a window, by the subject's completed scrolls.
func (s *Service) completedObservations(ctx context.Context, subject string, ids []int64, of score.Totals) ([]score.Observation, error) {
	observations, err := s.observationsOf(ctx, ids, of.T-2*of.Span, of.T)
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
	return slices.DeleteFunc(observations, func(o score.Observation) bool { return !completed[o.Scroll] }), nil
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
// a key, oldest first, without archived videos; nil if no video carries the key.
func (s *Service) TrendSeries(ctx context.Context, key string) (*TrendSeries, error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, err
	}
	of, label, members, err := s.members(ctx, subject, key)
	if err != nil || len(members) == 0 {
		return nil, err
	}
	ids, creators := []int64{}, map[int64]int64{}
	for i := range members {
		if m := &members[i]; !m.Archived {
			ids = append(ids, m.ID)
			creators[m.ID] = m.Creator
		}
	}
	observations, err := s.completedObservations(ctx, subject, ids, of)
	if err != nil {
		return nil, err
	}
	return &TrendSeries{Label: label, Points: pointsOf(observations, creators)}, nil
}

// members are the videos of the window with a key, its label and the window's totals; of a
// large window those that are stored, the newest mostSeries by id.
func (s *Service) members(ctx context.Context, subject, key string) (of score.Totals, label string, members []score.Member, err error) {
	stored, err := s.Stored(ctx, subject, key, cmp.Or(s.MostMeasured, mostMeasured))
	if err != nil {
		return of, "", nil, err
	}
	if stored != nil {
		return stored.Totals, stored.Key.Label, stored.Members[max(0, len(stored.Members)-mostSeries):], nil
	}
	w, err := s.Window(ctx, subject)
	if err != nil || w == nil {
		return of, "", nil, err
	}
	return w.Totals(), w.Measure(key, false).Label, w.Members(key), nil
}

// pointsOf adds up observations by scroll. Of a video that a scroll read twice the last
// usable reading counts.
func pointsOf(observations []score.Observation, creators map[int64]int64) []TrendPoint {
	type seen struct {
		TrendPoint
		views map[int64]score.Observation
		who   map[int64]bool
	}
	scrolls := map[int64]*seen{}
	for _, o := range observations {
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
