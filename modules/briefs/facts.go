package briefs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxText is the most characters of a creator's text that a fact has.
	maxText = 300
	// maxTrends is how many trends a brief may rest on.
	maxTrends = 10
	// maxHooks is how many hooks it may rest on: as many as a page has.
	maxHooks = 25
)

// video is what a fact needs of a video, as REST shows it.
type video struct {
	ID, Platform string
	Source       *struct{ Handle string }
	Metadata     json.RawMessage
	Metrics      struct{ Views, ObservedAt *float64 }
}

// fact is a fact of the video.
func (v *video) fact(kind string) stage.Fact {
	f := stage.Fact{ID: v.ID, Kind: kind, Platform: v.Platform}
	if v.Source != nil {
		f.Handle = v.Source.Handle
	}
	// A source may give any JSON here: a member of another type is left out.
	var known map[string]json.RawMessage
	_ = json.Unmarshal(v.Metadata, &known)
	_ = json.Unmarshal(known["caption"], &f.Caption)
	_ = json.Unmarshal(known["durationSeconds"], &f.DurationSeconds)
	if !(f.DurationSeconds > 0 && f.DurationSeconds < 86_400) {
		f.DurationSeconds = 0
	}
	f.Caption = clip(f.Caption, maxText)
	return f
}

// outlier and hook are what facts need of them, as REST shows them.
type outlier struct {
	Video         video
	Score         float64
	BaselineViews *float64
	SampleCount   int
	ObservedAt    float64
}

type hook struct {
	Video                video
	Spoken, OnScreenText *string
	Visual               json.RawMessage
}

func (o *outlier) fact() stage.Fact {
	f := o.Video.fact(outlierFact)
	f.Score, f.Samples = o.Score, o.SampleCount
	if o.BaselineViews != nil {
		f.BaselineViews = *o.BaselineViews
	}
	// The video may have a newer reading that cannot be used, which the score is not of.
	if m := &o.Video.Metrics; m.Views != nil && m.ObservedAt != nil && *m.ObservedAt == o.ObservedAt {
		f.Views = *m.Views
	}
	return f
}

// known reports whether anything is known of how the video begins.
func (h *hook) known() bool {
	return h.Spoken != nil || h.OnScreenText != nil || len(h.Visual) > 0 && string(h.Visual) != "null"
}

func (h *hook) fact() stage.Fact {
	f := h.Video.fact(hookFact)
	f.Spoken, f.OnScreenText = text(h.Spoken), text(h.OnScreenText)
	var visual struct{ Summary string }
	_ = json.Unmarshal(h.Visual, &visual) // it may be a text, or have no summary
	f.Visual = clip(visual.Summary, maxText)
	return f
}

// maxCollected is how many videos of a collection a brief may rest on: the first ones.
const maxCollected = 50

// collected reads what a brief of a collection may rest on: the outliers and hooks of its first
// videos, in its order.
func (s *Service) collected(ctx context.Context, collection string) (all []stage.Fact, notes []string, err error) {
	ids, found, err := s.needs.Collections.First(ctx, collection, maxCollected+1)
	if err != nil {
		return nil, nil, err
	}
	if !found {
		return nil, nil, apierr.Invalid("collectionId", "is not a collection of the account")
	}
	if len(ids) > maxCollected {
		ids = ids[:maxCollected]
		notes = append(notes, fmt.Sprintf("It rests on the first %d videos of the collection.", maxCollected))
	}
	var hooks []stage.Fact
	for _, id := range ids {
		raw, err := s.needs.Videos.Video(ctx, id)
		if err != nil {
			return nil, nil, fmt.Errorf("read video %s: %w", id, err)
		}
		var one struct {
			Outlier *outlier
			Hook    *hook
		}
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, nil, fmt.Errorf("read video %s: %w", id, err)
		}
		if one.Outlier != nil {
			all = append(all, one.Outlier.fact())
		}
		if one.Hook != nil {
			hooks = append(hooks, one.Hook.fact())
		}
	}
	return append(all, hooks...), notes, nil
}

// facts reads what a brief may rest on: the first page of each list, of hooks those of the
// outliers first.
func (s *Service) facts(ctx context.Context) (all []stage.Fact, notes []string, err error) {
	var outliers struct{ Outliers []outlier }
	if err := s.view(ctx, "outliers", &outliers); err != nil {
		return nil, nil, err
	}
	for i := range outliers.Outliers {
		all = append(all, outliers.Outliers[i].fact())
	}
	hooks, err := s.hooks(ctx, outliers.Outliers)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, hooks...)
	var trends struct {
		Status           string
		CompletedScrolls int
		Trends           []struct {
			Key, Label string
			Metrics    struct {
				VideoCount           int
				MedianGrowthMultiple float64
			}
			Examples []struct{ ID string }
		}
	}
	if err := s.view(ctx, "trends", &trends); err != nil {
		return nil, nil, err
	}
	if trends.Status == "insufficient_history" {
		notes = append(notes, fmt.Sprintf("Trends take two completed scrolls; there are %d.", trends.CompletedScrolls))
	}
	for _, one := range trends.Trends[:min(len(trends.Trends), maxTrends)] {
		f := stage.Fact{ID: one.Key, Kind: trendFact, Label: clip(one.Label, maxText), Videos: one.Metrics.VideoCount, Growth: one.Metrics.MedianGrowthMultiple}
		for _, example := range one.Examples {
			f.Examples = append(f.Examples, example.ID)
		}
		all = append(all, f)
	}
	return all, notes, nil
}

// hooks are those of the outliers, in their order, then the newest of the library. Outliers are
// seldom among the newest videos, and a brief quotes how they begin.
func (s *Service) hooks(ctx context.Context, outliers []outlier) (all []stage.Fact, err error) {
	add := func(h *hook) {
		if len(all) < maxHooks && !slices.ContainsFunc(all, func(f stage.Fact) bool { return f.ID == h.Video.ID }) {
			all = append(all, h.fact())
		}
	}
	if len(outliers) > 0 {
		videos := make([]string, 0, len(outliers))
		for i := range outliers {
			videos = append(videos, outliers[i].Video.ID)
		}
		raw, err := s.needs.Videos.Videos(ctx, videos)
		if err != nil {
			return nil, fmt.Errorf("read the hooks of %d outliers: %w", len(videos), err)
		}
		var own struct{ Videos []hook }
		if err := json.Unmarshal(raw, &own); err != nil {
			return nil, fmt.Errorf("read the hooks of %d outliers: %w", len(videos), err)
		}
		for i := range own.Videos {
			if own.Videos[i].known() {
				add(&own.Videos[i])
			}
		}
	}
	var newest struct{ Hooks []hook }
	if err := s.view(ctx, "hooks", &newest); err != nil {
		return nil, err
	}
	for i := range newest.Hooks {
		add(&newest.Hooks[i])
	}
	return all, nil
}

func (s *Service) view(ctx context.Context, name string, into any) error {
	raw, err := s.needs.Library.View(ctx, name)
	if err != nil {
		return fmt.Errorf("read the %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read the %s: %w", name, err)
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return clip(*s, maxText)
}

// clip shortens a text to so many characters.
func clip(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}
