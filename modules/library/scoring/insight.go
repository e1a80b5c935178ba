package scoring

import (
	"context"

	"github.com/scrollery/scrollery/modules/library/score"
)

// Runs returns the completed scrolls of a subject that may be in its trend window, the one
// with the newest reading first.
func (w *Windows) Runs(ctx context.Context, subject string) (scrolls []int64, err error) {
	runs, _, err := w.runs(ctx, w.videos.Outside(), subject, 0)
	for _, r := range runs {
		scrolls = append(scrolls, r.scroll)
	}
	return scrolls, err
}

// Window returns the trend window of a subject; nil if it has no usable reading.
func (w *Windows) Window(ctx context.Context, subject string) (*score.Window, error) {
	return w.window(ctx, w.videos.Outside(), subject)
}

// Carriers returns videos with their keys.
func (w *Windows) Carriers(ctx context.Context, ids []int64) ([]score.Carrier, error) {
	return w.carriersOf(ctx, w.videos.Outside(), ids)
}

// Niche reads the videos of the kind of a reading, from the newest on that can be its peer.
func (w *Windows) Niche(ctx context.Context, target score.Reading) *score.Niche {
	peers := &nicheReader{core: w.core, read: w.videos.Outside(), kind: target.Kind, latest: w.growth.LatestPeer(&target)}
	return w.growth.Niche(func(undated bool, last *score.Reading) ([]score.Reading, error) {
		return peers.load(ctx, undated, last)
	})
}
