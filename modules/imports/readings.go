package imports

import (
	"context"
	"fmt"
	"io"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Readings are what queued runs take: the part of the module that scrolls need, which needs
// none of them.
type Readings struct{ db *store.DB }

// NewReadings returns the readings stored in db.
func NewReadings(db *store.DB) *Readings { return &Readings{db} }

// Of returns how many readings the run of a scroll has, and what reads them; no reader if the
// scroll is of no import.
func (s *Readings) Of(ctx context.Context, scroll int64) (total int, next func() ([]Reading, error), err error) {
	i, err := byScroll(ctx, s.db, scroll)
	if err != nil || i == nil {
		return 0, nil, err
	}
	at := i.Report.run(scroll)
	if at < 0 {
		return 0, nil, fmt.Errorf("import %s has no run of its scroll", publicid.Format(publicid.Import, i.ID))
	}
	run, number := i.Report.Runs[at], 0
	return run.Readings, func() ([]Reading, error) {
		packed, err := partOf(ctx, s.db, i.ID, run.Number, number)
		if err != nil {
			return nil, err
		}
		if packed == nil {
			return nil, io.EOF
		}
		number++
		data, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("unpack readings: %w", err)
		}
		return unpart(data)
	}, nil
}

// ScrollsOf returns the scrolls of an import; found is false if there is no such import, and
// ended while it is under way.
func (s *Readings) ScrollsOf(ctx context.Context, id int64) (scrolls []int64, found, ended bool, err error) {
	i, err := importOf(ctx, s.db, id)
	if err != nil || i == nil {
		return nil, false, false, err
	}
	for _, run := range i.Report.Runs {
		if run.ScrollID != 0 {
			scrolls = append(scrolls, run.ScrollID)
		}
	}
	return scrolls, true, i.Status == Completed || i.Status == Failed || i.Status == Undone, nil
}
