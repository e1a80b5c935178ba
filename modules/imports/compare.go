package imports

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Difference is a reading that differs wildly from what the library knows of its video.
type Difference struct {
	Platform   string `json:"platform"`
	ExternalID string `json:"externalId"`
	// Field is `views` or `postedAt`.
	Field string `json:"field"`
	Known int64  `json:"known"`
	Read  int64  `json:"read"`
}

const (
	// maxCompared is how many readings of a file are compared with the library, and
	// maxDifferences how many differences a report lists.
	maxCompared    = 50_000
	maxDifferences = 10
	// manyViews is from where on a change of the views says something.
	manyViews = 1000
	// fall and growth of views are wild: half of what an earlier reading had, and a hundred
	// times as many.
	fall, growth = 2, 100
	// otherDay is by how many milliseconds two times of a post differ in more than their zone.
	otherDay = 2 * dayMillis
)

// comparison is one of the readings of a file with the library.
type comparison struct {
	library Library
	// left is how many more readings are compared.
	left   int
	differ int
	first  []Difference
}

// compare begins a comparison. An empty library is not asked.
func (s *Service) compare(limits Limits) *comparison {
	c := &comparison{library: s.needs.Library, left: maxCompared}
	if limits.Room >= limits.MaxVideos {
		c.left = 0
	}
	return c
}

// look compares some readings, which have their times.
func (c *comparison) look(ctx context.Context, records []stage.Record) error {
	records = records[:min(len(records), c.left)]
	if c.left -= len(records); len(records) == 0 {
		return nil
	}
	refs := make([]stage.Ref, len(records))
	for i := range records {
		refs[i] = records[i].Ref
	}
	known, err := c.library.LastRead(ctx, refs)
	if err != nil {
		return fmt.Errorf("compare with the library: %w", err)
	}
	for i := range records {
		if before, ok := known[records[i].Ref]; ok {
			c.reading(&before, &records[i])
		}
	}
	return nil
}

func (c *comparison) reading(known, read *stage.Record) {
	field, was, is := "", (*int64)(nil), (*int64)(nil)
	switch {
	case wild(&known.Metrics, &read.Metrics):
		field, was, is = "views", known.Metrics.Views, read.Metrics.Views
	case known.PostedAt != nil && read.PostedAt != nil && max(*known.PostedAt-*read.PostedAt, *read.PostedAt-*known.PostedAt) > otherDay:
		field, was, is = "postedAt", known.PostedAt, read.PostedAt
	default:
		return
	}
	if c.differ++; len(c.first) < maxDifferences {
		c.first = append(c.first, Difference{read.Platform, read.ExternalID, field, *was, *is})
	}
}

// wild reports views that fell or grew beyond belief from the earlier to the later reading.
func wild(a, b *stage.Metrics) bool {
	if a.Views == nil || b.Views == nil || a.ObservedAt == nil || b.ObservedAt == nil {
		return false
	}
	earlier, later := *a.Views, *b.Views
	if *a.ObservedAt > *b.ObservedAt {
		earlier, later = later, earlier
	}
	if *a.ObservedAt == *b.ObservedAt {
		earlier, later = max(earlier, later), min(earlier, later)
	}
	return earlier >= manyViews && (fall*later < earlier || later > growth*earlier)
}

// describe writes what was found into a report.
func (c *comparison) describe(report *Report) {
	report.Differing, report.Differences = c.differ, c.first
}
